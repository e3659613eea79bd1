"""Counted errors against the lengths of reports."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from radeval_lib.data.ratings import rating_table
from radeval_lib.papers.printed_numbers import Printed
from radeval_lib.stats.correlations import LEAST_GROUPS
from radeval_lib.stats.resampling import share_interval
from radeval_lib.stats.tokens import whitespace
from radeval_lib.study.runs import Run
from radeval_lib.wording import with_interval

LENGTHS = ["words, reference", "words, candidate"]


def words(text: str) -> int:
    """Words of a text, by whitespace."""
    return len(whitespace(text))


def measured(run: Run, role: str) -> pd.DataFrame:
    """The rated pairs of a role with the words of both texts."""
    table = rating_table(run.load(role))
    return table.assign(**{length: table[length.removeprefix("words, ")].map(words) for length in LENGTHS})


def length_group(length: int, rule: Mapping[str, Printed]) -> str:
    """``short``, ``long`` or ``between``, by the rule of A.7."""
    if length < rule["short_words"].value:
        return "short"
    return "long" if length > rule["long_words"].value else "between"


def case_against_rule(length: int, errors: Printed, rule: Mapping[str, Printed]) -> tuple[str, str, str]:
    """The group of one report, what the rule of A.7 expects of it, and whether its errors are so."""
    group = length_group(length, rule)
    if group == "long":
        expected, as_ruled = f"more than {rule['long_errors'].text}", errors.low > rule["long_errors"].value
    else:
        expected, as_ruled = "zero errors" if group == "short" else "nothing said", errors.value == 0
    return group if group != "between" else "neither", expected, "yes" if as_ruled else "no"


def by_length_group(run: Run, counted: pd.DataFrame, rule: Mapping[str, Printed]) -> pd.DataFrame:
    """Errors of short reports, long ones and those between, by the words of either text.

    Returns
    -------
    DataFrame
        ``words`` (``reference`` or ``candidate``), ``group``, ``pairs``, ``cases``; ``mean errors`` and ``no
        error`` (a mean below one half) as value and interval, without ends where the cases are too few.
    """
    rows = []
    for length in LENGTHS:
        side, groups = length.removeprefix("words, "), counted[length].map(lambda n: length_group(n, rule))
        for group in ("short", "between", "long"):
            chosen = counted[groups == group]
            columns = {"errors": chosen["errors"], "none": chosen["errors"] < 0.5}
            found = [
                _mean(run, values, chosen["case"], f"{name} {side} {group}")
                for name, values in columns.items()
            ]
            rows.append((side, group, len(chosen), chosen["case"].nunique(), *found))
    return pd.DataFrame(rows, columns=["words", "group", "pairs", "cases", "mean errors", "no error"])


def _mean(run: Run, values: pd.Series, cases: pd.Series, stream: str) -> tuple[float, float, float]:
    if cases.nunique() < LEAST_GROUPS:
        return (values.mean(), np.nan, np.nan)
    return share_interval(values, cases.tolist(), resamples=run.profile.resamples, rng=run.rng(stream))


def told_groups(groups: pd.DataFrame) -> pd.DataFrame:
    """What :func:`by_length_group` gives, as text."""
    shown = groups.copy()
    for column, form in (("mean errors", ".2f"), ("no error", ".0%")):
        shown[column] = [
            "–"
            if not n
            else f"{found[0]:{form}}"
            if n < LEAST_GROUPS
            else with_interval(found[0], found[1], found[2], form)
            for n, found in zip(groups["cases"], groups[column], strict=True)
        ]
    return shown
