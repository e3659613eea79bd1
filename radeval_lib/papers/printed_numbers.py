"""The papers' printed numbers: tables as tidy frames, numbers quoted from the prose, and wording; and the
numbers that their released code prints.

Source: ``data_manifests/papers/<paper>/``; transcribed to the printed digits. A printed number represents
every value that rounds to it, so each cell carries its half-unit of rounding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib import provenance
from radeval_lib.errors import PrintedError, meant
from radeval_lib.papers.exhibits import check_keys, description, exhibit, file_of
from radeval_lib.paths import MANIFESTS, display_path
from radeval_lib.paths import PAPERS as _FOLDER

NOT_LEGIBLE = "not legible"
NOT_PRINTED = "-"
AS_PRINTED = "as printed"
"""Where the numbers of most exhibits stand (:func:`origin_of`)."""
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?")


@dataclass(frozen=True)
class Printed:
    """A number as a paper prints it.

    Attributes
    ----------
    text : the printed digits, e.g. ``.238``, ``58,091`` or ``36%``.
    value : the number; NaN if the paper prints a dash or our text of it is not legible.
    half_width : half a unit of the last printed digit; 0 for whole numbers without ``%``, which are counts.
    at : of a table's cell, its values in the table's key columns, and in others that a page has added.
    """

    text: str
    value: float
    half_width: float
    at: tuple[str, ...] = field(default=(), compare=False)

    @property
    def low(self) -> float:
        """The smallest number that rounds to it."""
        return self.value - self.half_width

    @property
    def high(self) -> float:
        """The largest number that rounds to it."""
        return self.value + self.half_width

    @property
    def decimals(self) -> int:
        """How many decimals are printed."""
        return len(self.text.rstrip("%").partition(".")[2])


def parse(text: str) -> Printed:
    """Return the number that ``text`` prints.

    Raises
    ------
    PrintedError
        Where ``text`` is neither a number nor one of the marks ``-`` and ``not legible``.
    """
    stripped = text.strip()
    if stripped in (NOT_LEGIBLE, NOT_PRINTED):
        return Printed(stripped, float("nan"), float("nan"))
    digits = stripped.removesuffix("%")
    if not _NUMBER.fullmatch(digits) or not any(map(str.isdigit, digits)):
        raise PrintedError(f"{text!r} is not a printed number", remedy="Write digits, '-' or 'not legible'.")
    decimals = len(digits.partition(".")[2])
    # A whole number is a count, not rounded; a percentage, or a number with decimals, represents an interval.
    rounded = decimals > 0 or stripped.endswith("%")
    return Printed(stripped, float(digits.replace(",", "")), 0.5 * 10**-decimals if rounded else 0.0)


def paper(key: str) -> dict[str, Any]:
    """Return the description of a paper's printed numbers (``paper.yml``): tables, prose and known
    discrepancies."""
    return description(key)


_TABLE_KEYS = ("file", "keys", "unit", "not_legible", "notes")
_OPTIONAL_TABLE_KEYS = ("columns", "digits_between", "garbled", "source", "readings")


def _table(exhibit_id: str) -> dict[str, Any]:
    """Return the entry of ``paper.yml`` on the transcription of a printed table.

    Raises
    ------
    PrintedError
        If it names no transcription of the exhibit, or one of the transcription's keys is wrong.
    """
    key = exhibit_id.partition(".")[0]
    tables: dict[str, dict[str, Any]] = paper(key).get("tables") or {}
    if exhibit_id not in tables:
        exhibit(exhibit_id)  # an id that the ledger lacks gets the ledger's own error
        raise PrintedError(
            f"no printed table for {exhibit_id!r}",
            display_path(file_of(key)),
            f"Tables: {', '.join(tables)}.",
        )
    where = f"{display_path(file_of(key))}, tables, {exhibit_id}"
    check_keys(tables[exhibit_id], _TABLE_KEYS, _OPTIONAL_TABLE_KEYS, where, PrintedError)
    return tables[exhibit_id]


def table_path(exhibit_id: str) -> Path:
    """Return the CSV that holds a printed table; a PrintedError if the exhibit was not transcribed, or there
    is no such file."""
    key = exhibit_id.partition(".")[0]
    path = _FOLDER / key / str(_table(exhibit_id)["file"])
    if not path.is_file():
        where = f"{display_path(file_of(key))}, tables, {exhibit_id}"
        files = sorted(file.name for file in path.parent.glob("*.csv"))
        raise PrintedError(f"no file {path.name!r}", where, f"{meant(path.name, files)}Correct `file`.")
    return path


def printed(exhibit_id: str) -> pd.DataFrame:
    """Return a printed table, one printed value per row.

    Returns
    -------
    DataFrame
        The table's key columns (str), ``printed`` (str, the digits), ``value`` (float64, NaN if nothing
        legible is printed) and ``half_width`` (float64, half a unit of the last printed digit; 0 for counts).

    Raises
    ------
    PrintedError
        If the exhibit was not transcribed, or its file has other columns than ``keys`` in ``paper.yml`` and
        ``printed``, or a cell that is not a number.
    """
    path = table_path(exhibit_id)
    provenance.note_printed(exhibit_id.partition(".")[0], path)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    if frame.columns[-1] != "printed":
        raise PrintedError(
            "the last column must be 'printed'", display_path(path), "Put the columns of keys before it."
        )
    described = [*map(str, _table(exhibit_id)["keys"]), "printed"]
    if lacking := [name for name in described if name not in frame]:
        near = meant(lacking[0], set(frame) - set(described))
        remedy = f"{near}Name the columns as `keys` in paper.yml: {', '.join(described)}."
        raise PrintedError(f"no column {lacking[0]!r}", display_path(path), remedy)
    if unknown := [name for name in frame if name not in described]:
        raise PrintedError(f"unknown column {unknown[0]!r}", display_path(path), "Name it under `keys`.")
    cells = []
    for row, text in enumerate(frame["printed"], start=2):
        try:
            cells.append(parse(text))
        except PrintedError as error:
            raise PrintedError(error.what, f"{display_path(path)}, line {row}", error.remedy) from None
    numbers = [(cell.value, cell.half_width) for cell in cells]
    return frame.join(pd.DataFrame(numbers, columns=["value", "half_width"], dtype=np.float64))


def require_columns(frame: pd.DataFrame, names: Iterable[str]) -> None:
    """Refuse, as :class:`PrintedError`, columns that a printed table does not have."""
    if unknown := [name for name in names if name not in frame]:
        remedy = f"{meant(unknown[0], frame)}Columns: {', '.join(map(str, frame))}."
        raise PrintedError(f"no column {unknown[0]!r}", remedy=remedy)


def cell(frame: pd.DataFrame, **keys: str) -> Printed:
    """Return the one cell of a printed table that ``keys`` (column = value) single out.

    Raises
    ------
    PrintedError
        If the table has no such column, or no cell or more than one has those keys.
    """
    require_columns(frame, keys)
    chosen = frame
    for column, wanted in keys.items():
        chosen = chosen[chosen[column] == wanted]
    if len(chosen) != 1:
        raise PrintedError(
            f"{len(chosen)} printed cells have {keys}", remedy="Name every key column of the table."
        )
    return printed_in(chosen.iloc[0])


def printed_in(row: pd.Series) -> Printed:
    """Return the number of a row of a printed table."""
    keys = row.drop([name for name in ("printed", "value", "half_width") if name in row])
    return Printed(row["printed"], float(row["value"]), float(row["half_width"]), tuple(map(str, keys)))


def all_in(frame: pd.DataFrame) -> list[Printed]:
    """Return the numbers of every row of a printed table."""
    return [printed_in(row) for _, row in frame.iterrows()]


def transcribed(exhibit_id: str) -> bool:
    """Return whether ``paper.yml`` names a transcription of the exhibit, which :func:`printed` reads."""
    return exhibit_id in (paper(exhibit(exhibit_id).paper).get("tables") or {})


def layout_of(exhibit_id: str) -> list[str]:
    """Return the key columns of a printed table whose values head its columns where the paper prints it:
    ``columns`` in ``paper.yml``, by default the last key. Empty where each row has one number."""
    described = _table(exhibit_id)
    return [str(key) for key in described.get("columns", list(described["keys"])[-1:])]


def unit_of(exhibit_id: str) -> str:
    """Return the unit of a printed table's numbers, in words."""
    return str(_table(exhibit_id)["unit"])


def origin_of(exhibit_id: str) -> str:
    """Return where an exhibit's numbers stand, for a caption: in print, or, of a figure without printed
    numbers, in the paper's repository."""
    table = (paper(exhibit_id.partition(".")[0]).get("tables") or {}).get(exhibit_id, {})
    return "by the paper's repository" if "source" in table else AS_PRINTED


def cells_of(exhibit_id: str) -> list[tuple[str, ...]]:
    """Return the legible numbers of a printed table, each by its values in the key columns; empty if the
    exhibit is not a table that was transcribed."""
    if not transcribed(exhibit_id):
        return []
    frame = printed(exhibit_id)
    legible = frame[frame["value"].notna()].drop(columns=["printed", "value", "half_width"])
    return list(legible.itertuples(index=False, name=None))


def by_name(frame: pd.DataFrame, name: str) -> dict[str, Printed]:
    """Return printed cells by the values of a key column, one per value, in the table's order.

    Raises
    ------
    PrintedError
        If there is no such column, or two cells have the same value of it.
    """
    require_columns(frame, [name])
    if frame[name].duplicated().any():
        twice = frame.loc[frame[name].duplicated(), name].iloc[0]
        raise PrintedError(f"two printed cells have {name} {twice!r}", remedy="Choose one column first.")
    return {str(row[name]): printed_in(row) for _, row in frame.iterrows()}


def wide(
    frame: pd.DataFrame, rows: str | list[str], columns: str | list[str], values: str = "value"
) -> pd.DataFrame:
    """Return a tidy printed table laid out as the paper prints it, rows and columns in the paper's order.

    Columns with the names of the rows, such as raters among each other, follow the rows.

    Parameters
    ----------
    rows, columns : key columns whose values head the rows and the columns.
    values : the column of the cells' values; a cell that the table lacks is NaN.

    Raises
    ------
    PrintedError
        If the table has no such column, or two numbers for one cell.
    """
    keys = [
        *([rows] if isinstance(rows, str) else rows),
        *([columns] if isinstance(columns, str) else columns),
    ]
    require_columns(frame, [*keys, values])
    if frame.duplicated(keys).any():
        raise PrintedError(
            f"two printed cells have the same {', '.join(keys)}", remedy="Choose some rows first."
        )
    pivoted = frame.pivot(index=rows, columns=columns, values=values)
    row_order = frame[rows].drop_duplicates()
    column_order = frame[columns].drop_duplicates()
    index = row_order.tolist() if isinstance(rows, str) else pd.MultiIndex.from_frame(row_order)
    if isinstance(rows, str) and isinstance(columns, str) and set(row_order) == set(column_order):
        column_order = row_order
    heads = column_order.tolist() if isinstance(columns, str) else pd.MultiIndex.from_frame(column_order)
    return pivoted.reindex(index=index, columns=heads)


def _prose(exhibit_id: str) -> list[dict[str, Any]]:
    key = exhibit(exhibit_id).paper
    provenance.note_printed(key, file_of(key))
    quotes: list[dict[str, Any]] = (paper(key).get("prose") or {}).get(exhibit_id, [])
    if not quotes:
        raise PrintedError(
            f"nothing is quoted for {exhibit_id!r}", display_path(file_of(key)), "Quote it under `prose`."
        )
    return quotes


def _quoted_digits(exhibit_id: str) -> dict[str, tuple[str, str]]:
    """Return where the prose about an exhibit prints each number, and its digits, by its name in
    ``paper.yml``.

    Raises
    ------
    PrintedError
        If nothing is quoted, a name is repeated, or digits are not a text: YAML reads 0.50 as 0.5.
    """
    numbers: dict[str, tuple[str, str]] = {}
    where = f"{display_path(file_of(exhibit_id.partition('.')[0]))}, prose of {exhibit_id}"
    for quote in _prose(exhibit_id):
        for name, digits in (quote.get("values") or {}).items():
            if name in numbers:
                raise PrintedError(f"two numbers are called {name!r}", where, "Give each a name of its own.")
            if not isinstance(digits, str):
                raise PrintedError(f"{name} is not a text: {digits!r}", where, "Put the digits in quotes.")
            numbers[name] = quote["where"], digits
    return numbers


def quoted(exhibit_id: str) -> dict[str, Printed]:
    """Return the numbers that a paper prints in its prose about an exhibit, by their name in ``paper.yml``.

    Raises
    ------
    PrintedError
        If nothing is quoted, a name is repeated, or what it names is not a number.
    """
    return {name: parse(digits) for name, (_, digits) in _quoted_digits(exhibit_id).items()}


def has_numbers(exhibit_id: str) -> bool:
    """Return whether :func:`numbers_of` has any for the exhibit."""
    prose = (paper(exhibit(exhibit_id).paper).get("prose") or {}).get(exhibit_id, [])
    return transcribed(exhibit_id) or any(quote.get("values") for quote in prose)


def numbers_of(exhibit_id: str) -> pd.DataFrame:
    """Return every number that a paper prints of an exhibit, as digits: the cells of its table (the key
    columns and ``printed``, str), or else those quoted from the prose (``name``, ``where`` and ``printed``,
    str)."""
    if transcribed(exhibit_id):
        return printed(exhibit_id).drop(columns=["value", "half_width"])
    rows = [(name, *printed_at) for name, printed_at in _quoted_digits(exhibit_id).items()]
    return pd.DataFrame(rows, columns=["name", "where", "printed"], dtype=str)


def quotations(exhibit_id: str) -> list[tuple[str, str]]:
    """Return the paper's own words about an exhibit, as (where, quote)."""
    return [(quote["where"], " ".join(quote["quote"].split())) for quote in _prose(exhibit_id)]


def texts(name: str) -> pd.DataFrame:
    """Return wording that a paper prints and the study uses as data, as a frame, one piece of text per row.

    Parameters
    ----------
    name : ``<paper>.<suffix>`` as under ``texts`` in ``paper.yml``, e.g. ``ratescore.reports``.

    Returns
    -------
    DataFrame
        The columns that ``paper.yml`` names, all str.

    Raises
    ------
    PrintedError
        If there is no such text, or its columns are not those of ``paper.yml``.
    """
    key = name.partition(".")[0]
    described = paper(key).get("texts") or {}
    if name not in described:
        remedy = f"Texts: {', '.join(described) or 'none'}."
        raise PrintedError(f"no text {name!r}", display_path(file_of(key)), remedy)
    path = _FOLDER / key / str(described[name]["file"])
    provenance.note_printed(key, path)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    if list(frame.columns) != list(described[name]["columns"]):
        raise PrintedError(
            f"columns {', '.join(frame.columns)}", display_path(path), "Name them as paper.yml does."
        )
    return frame


def released(name: str) -> pd.DataFrame:
    """Return a table of what the papers' released code prints, e.g. ``mimic_rrs_counts``, as far as it
    settles what their own numbers mean; the README of ``data_manifests/released/`` names repository, commit
    and file.

    Raises
    ------
    PrintedError
        If there is no such table.
    """
    folder = MANIFESTS / "released"
    path = folder / f"{name}.csv"
    if not path.is_file():
        tables = ", ".join(sorted(entry.stem for entry in folder.glob("*.csv")))
        raise PrintedError(f"no released numbers {name!r}", display_path(folder), f"Tables: {tables}.")
    provenance.note_printed(provenance.RELEASED, path)
    return pd.read_csv(path, encoding="utf-8")
