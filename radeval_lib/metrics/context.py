"""Context of a patient in a table of pairs: its columns ``age`` and ``indication``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from radeval_lib.errors import plain
from radeval_lib.metrics.base import MetricError
from radeval_lib.metrics.pair_files import CONTEXT
from radeval_lib.rules.lexicon.significance import Context

if TYPE_CHECKING:
    import pandas as pd

AGE, INDICATION = CONTEXT
# What stands for nothing: an empty cell, "___" and "XXXX" of de-identified texts, "NaT", "n/a".
_NONE = re.compile(r"(?i)|_+|-+|x{3,}|nan|nat|<na>|n/a|none|null|unknown")
# 45, 045Y, ">89", "90+", "6 months", "2.5 y".
_AGE = re.compile(r"(?i)>?\s*(\d{1,3}(?:\.\d+)?)\s*(y|yo|years?|m|months?|w|weeks?|d|days?)?\+?")
_PER_YEAR = {"y": 1.0, "m": 12.0, "w": 365.25 / 7, "d": 365.25}


def context_of(row: Mapping[str, Any], where: str) -> Context | None:
    """Return the context that a row gives; None where both are empty or marked as unknown.

    An age is a number of years, or a number with a unit (``045Y`` as DICOM has it, ``6 months``), or
    the least of a range without an end (``90+``, ``>89``).

    Raises
    ------
    MetricError
        If the age is something else, or not from 0 to 130 years; ``where`` names the row.
    """
    age, indication = (_text(row.get(name)) for name in (AGE, INDICATION))
    if not age and not indication:
        return None
    return Context(_years(age, where) if age else None, indication)


def contexts_of(table: pd.DataFrame, where: str, start: int = 1) -> list[Context | None] | None:
    """Return the context of each row of a table, whose first row is number ``start``; None where it has
    neither column."""
    columns = [name for name in CONTEXT if name in table]
    if not columns:
        return None
    rows = enumerate(table[columns].to_dict("records"), start)
    return [context_of(row, f"{where}, row {number}") for number, row in rows]


def _text(value: Any) -> str:
    text = "" if value is None else str(value).strip()
    return "" if _NONE.fullmatch(text) else text


def _years(age: str, where: str) -> float:
    found = _AGE.fullmatch(age)
    years = float(found[1]) / _PER_YEAR[(found[2] or "y")[0].lower()] if found else -1.0
    if not 0 <= years <= 130:
        remedy = "Give years, from 0 to 130, or leave it empty."
        raise MetricError(f"{plain(age, 20)!r} is not an age", f"{where}, column {AGE!r}", remedy)
    return years
