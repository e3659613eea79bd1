"""The papers' printed numbers: tables as tidy frames, numbers and words quoted from the prose, numbers that
released code prints, and the range that the rounding of inputs allows for a result.

Source: ``data_manifests/papers/<paper>/``, transcribed to the printed digits. A printed number represents
every value that rounds to it, so each cell has its half-unit of rounding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from radeval_lib import provenance
from radeval_lib.errors import PrintedError, did_you_mean, listed
from radeval_lib.papers.exhibits import Quote, Table, description, exhibit, file_of
from radeval_lib.paths import MANIFESTS, display_path
from radeval_lib.stats.base import Estimate, FloatArray

NOT_LEGIBLE = "not legible"
NOT_PRINTED = "-"
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?")


@dataclass(frozen=True)
class Printed:
    """A number printed in a paper.

    Attributes
    ----------
    text : the printed digits, e.g. ``.238``, ``58,091`` or ``36%``.
    value : the number; NaN if the paper prints a dash or our text of it is not legible.
    half_width : half a unit of the last printed digit; 0 for whole numbers without ``%``, which are counts;
        NaN if ``value`` is.
    at : for a table's cell, its values in the key columns, and in others that a page has added.
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
    """Return the number printed as ``text``.

    Raises
    ------
    PrintedError
        If ``text`` is neither a number nor one of the marks ``-`` and ``not legible``.
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


def _table_entry(exhibit_id: str) -> Table:
    """Return the entry of ``paper.yml`` on the transcription of a printed table; a PrintedError if it has
    none."""
    paper = exhibit(exhibit_id).paper
    tables = description(paper)["tables"]
    if exhibit_id not in tables:
        remedy = f"{did_you_mean(exhibit_id, tables)}Name one of {', '.join(tables)}."
        raise PrintedError(f"no printed table for {exhibit_id!r}", display_path(file_of(paper)), remedy)
    return tables[exhibit_id]


def table_path(exhibit_id: str) -> Path:
    """Return the path of a printed table's CSV; raise a PrintedError if the exhibit was not transcribed."""
    return file_of(exhibit(exhibit_id).paper).parent / _table_entry(exhibit_id)["file"]


def _read_csv(paper: str, path: Path, columns: Iterable[str]) -> pd.DataFrame:
    """Return a transcription as texts, and note that it was read; a PrintedError if its columns are not those
    that ``paper.yml`` names."""
    if not path.is_file():
        raise PrintedError("there is no such file", display_path(path), "Correct `file` in paper.yml.")
    provenance.note_printed(paper, path)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    if list(frame) != list(columns):
        given, wanted = listed(frame), listed(columns)
        raise PrintedError(f"the columns are {given}", display_path(path), f"Name them {wanted}.")
    return frame


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
    frame = _read_csv(exhibit(exhibit_id).paper, path, [*_table_entry(exhibit_id)["keys"], "printed"])
    cells = []
    for row, text in enumerate(frame["printed"], start=2):
        try:
            cells.append(parse(text))
        except PrintedError as error:
            raise PrintedError(error.what, f"{display_path(path)}, line {row}", error.remedy) from None
    numbers = [(cell.value, cell.half_width) for cell in cells]
    return frame.join(pd.DataFrame(numbers, columns=["value", "half_width"], dtype=np.float64))


def cell(frame: pd.DataFrame, **keys: str) -> Printed:
    """Return the one cell of a printed table that ``keys`` (column = value) select.

    Raises
    ------
    PrintedError
        If the table has no such column, or no cell or more than one has those keys.
    """
    chosen = frame
    for column, wanted in keys.items():
        if column not in frame:
            remedy = f"{did_you_mean(column, frame)}Use one of {', '.join(map(str, frame))}."
            raise PrintedError(f"no column {column!r}", remedy=remedy)
        chosen = chosen[chosen[column] == wanted]
    if len(chosen) != 1:
        problem = f"{len(chosen)} printed cells have {keys}"
        raise PrintedError(problem, remedy="Name every key column of the table.")
    return cell_in(chosen.iloc[0])


def cell_in(row: pd.Series) -> Printed:
    """Return the number in a row of a printed table."""
    keys = row.drop([name for name in ("printed", "value", "half_width") if name in row])
    return Printed(row["printed"], float(row["value"]), float(row["half_width"]), tuple(map(str, keys)))


def cells_in(frame: pd.DataFrame) -> list[Printed]:
    """Return the numbers in every row of a printed table."""
    return [cell_in(row) for _, row in frame.iterrows()]


def transcribed(exhibit_id: str) -> bool:
    """Return whether ``paper.yml`` names a transcription of the exhibit, which :func:`printed` reads."""
    return exhibit_id in description(exhibit(exhibit_id).paper)["tables"]


def layout_of(exhibit_id: str) -> list[str]:
    """Return the key columns whose values head the columns of the table in print: ``columns`` in
    ``paper.yml``, by default the last key. Empty if each printed row has one number."""
    entry = _table_entry(exhibit_id)
    return entry.get("columns", list(entry["keys"])[-1:])


def unit_of(exhibit_id: str) -> str:
    """Return the unit of a printed table's numbers, in words."""
    return _table_entry(exhibit_id)["unit"]


def origin_of(exhibit_id: str) -> str:
    """Return the origin of an exhibit's numbers for a caption: print, or the paper's repository if a figure
    prints none."""
    of_figure = transcribed(exhibit_id) and "source" in _table_entry(exhibit_id)
    return "by the paper's repository" if of_figure else "as printed"


def cells_of(exhibit_id: str) -> list[tuple[str, ...]]:
    """Return the values in the key columns of each legible cell of a printed table; empty if no table was
    transcribed."""
    if not transcribed(exhibit_id):
        return []
    frame = printed(exhibit_id)
    legible = frame[frame["value"].notna()].drop(columns=["printed", "value", "half_width"])
    return list(legible.itertuples(index=False, name=None))


def cells_by(frame: pd.DataFrame, column: str) -> dict[str, Printed]:
    """Return the cells of a printed table by a key column's values, one cell each, in the table's order.

    Raises
    ------
    PrintedError
        If two cells have the same value in it.
    """
    if (repeated := frame[column].duplicated()).any():
        value = frame.loc[repeated, column].iloc[0]
        raise PrintedError(f"two printed cells have {column} {value!r}", remedy="Choose one column first.")
    return {str(row[column]): cell_in(row) for _, row in frame.iterrows()}


def wide(
    frame: pd.DataFrame, rows: str | list[str], columns: str | list[str], values: str = "value"
) -> pd.DataFrame:
    """Return a tidy printed table in the paper's layout, with rows and columns in the paper's order.

    Columns with the names of the rows, such as raters among each other, follow the rows.

    Parameters
    ----------
    rows, columns : key columns whose values head the rows and the columns.
    values : the column of the cells' values; a cell that the table lacks is NaN.

    Raises
    ------
    ValueError
        If the table has two numbers for one cell.
    """
    pivoted = frame.pivot(index=rows, columns=columns, values=values)
    row_order = frame[rows].drop_duplicates()
    column_order = frame[columns].drop_duplicates()
    index = row_order.tolist() if isinstance(rows, str) else pd.MultiIndex.from_frame(row_order)
    if isinstance(rows, str) and isinstance(columns, str) and set(row_order) == set(column_order):
        column_order = row_order
    heads = column_order.tolist() if isinstance(columns, str) else pd.MultiIndex.from_frame(column_order)
    return pivoted.reindex(index=index, columns=heads)


def _prose(exhibit_id: str) -> list[Quote]:
    """Return the quotations about an exhibit in ``paper.yml``; a PrintedError if there are none."""
    paper = exhibit(exhibit_id).paper
    provenance.note_printed(paper, file_of(paper))
    if not (quotes := description(paper)["prose"].get(exhibit_id)):
        where = display_path(file_of(paper))
        raise PrintedError(f"nothing is quoted for {exhibit_id!r}", where, "Quote it under `prose`.")
    return quotes


def quoted(exhibit_id: str) -> dict[str, Printed]:
    """Return the numbers in a paper's prose about an exhibit, by their name in ``paper.yml``.

    Raises
    ------
    PrintedError
        If nothing is quoted, or a quoted value is not a number.
    """
    quotes = _prose(exhibit_id)
    return {name: parse(text) for quote in quotes for name, text in quote.get("values", {}).items()}


def quotations(exhibit_id: str) -> list[tuple[str, str]]:
    """Return the paper's own words about an exhibit, as (where, quote). A PrintedError if there are none."""
    return [(quote["where"], " ".join(quote["quote"].split())) for quote in _prose(exhibit_id)]


def texts(name: str) -> pd.DataFrame:
    """Return texts that a paper prints and the study uses as data, as a frame with one text per row.

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
        If ``paper.yml`` has no such texts, or their columns are not those that it names.
    """
    paper = name.partition(".")[0]
    described = description(paper).get("texts", {}).get(name)
    if described is None:
        raise PrintedError(f"no texts {name!r}", display_path(file_of(paper)), "Add them under `texts`.")
    return _read_csv(paper, file_of(paper).parent / described["file"], described["columns"])


def released(name: str) -> pd.DataFrame:
    """Return a table of numbers that a paper's released code prints, e.g. ``mimic_rrs_counts``.

    The README of ``data_manifests/released/`` names the repository, commit and file of each.
    """
    path = MANIFESTS / "released" / f"{name}.csv"
    if not path.is_file():
        raise PrintedError(f"no released numbers {name!r}", display_path(path.parent), "Name a CSV in it.")
    provenance.note_printed(provenance.RELEASED, path)
    return pd.read_csv(path, encoding="utf-8")


def rounding_range(
    function: Callable[[FloatArray], float], inputs: pd.DataFrame | Sequence[Printed]
) -> Estimate:
    """Return ``function`` at the printed inputs, and its range over all inputs that round to them.

    Parameters
    ----------
    function : maps a float64 array of shape (n,) to a number.
    inputs : n printed cells, one at least, in a frame (columns ``value`` and ``half_width``) or a list.

    Raises
    ------
    ValueError
        If an input is not legible, or the function has no value at the inputs.

    Notes
    -----
    Each input moves to the end of its rounding interval that raises (or lowers) the function, by the sign of
    its slope at the printed values. This is exact if the function is monotone in every input within the
    interval, as sums, means, differences and F1 are, and first order otherwise: if the slope changes its
    sign at the printed values, as that of |a - b| does at a = b, part of the range is missed.
    """
    cells = pd.DataFrame(inputs)
    values, steps = (cells[column].to_numpy(dtype=np.float64) for column in ("value", "half_width"))
    centre = float(function(values))
    signs = np.zeros_like(values)
    for position in np.flatnonzero(steps):
        nudged = values.copy()
        nudged[position] += steps[position] * 1e-3
        signs[position] = np.sign(float(function(nudged)) - centre)
    bounds = [float(function(values - signs * steps)), float(function(values + signs * steps)), centre]
    if np.isnan(bounds).any():
        raise ValueError("no value at the printed inputs; leave out illegible and undefined cells")
    return Estimate(centre, min(bounds), max(bounds))
