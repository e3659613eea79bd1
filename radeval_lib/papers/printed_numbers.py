"""Read the papers' printed numbers and quotations, and the numbers that released code prints.

What a paper prints is in ``data_manifests/papers/<paper>/``, transcribed digit by digit. A printed number
represents all values that round to it, so each comes with half a unit of its last digit.
:func:`rounding_range` computes the range that rounding of the inputs allows for a result."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from radeval_lib import provenance
from radeval_lib.errors import PrintedError, did_you_mean, list_names
from radeval_lib.papers.exhibits import Quote, Table, exhibit, find_file, load_paper
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
    text : the printed digits, such as ``.238``, ``58,091`` or ``36%``.
    value : the number; for a percentage, in percent. NaN if the paper prints a dash or the text is not
        legible.
    half_width : half a unit of the last printed digit; 0 for integers without ``%``, which are counts; NaN if
        ``value`` is NaN.
    keys : for a cell of a table, its values in the key columns and in columns that a page has added.
    """

    text: str
    value: float
    half_width: float
    keys: tuple[str, ...] = field(default=(), compare=False)

    @property
    def low(self) -> float:
        """The smallest value that rounds to the printed number."""
        return self.value - self.half_width

    @property
    def high(self) -> float:
        """The largest value that rounds to the printed number."""
        return self.value + self.half_width

    @property
    def decimals(self) -> int:
        """The number of printed decimals."""
        return len(self.text.rstrip("%").partition(".")[2])


def parse(text: str) -> Printed:
    """Return the printed number that ``text`` represents.

    Raises
    ------
    PrintedError
        If ``text`` is neither a number (with ``%`` or commas between thousands if printed) nor one of the
        markers ``-`` and ``not legible``.
    """
    stripped = text.strip()
    if stripped in (NOT_LEGIBLE, NOT_PRINTED):
        return Printed(stripped, float("nan"), float("nan"))
    digits = stripped.removesuffix("%")
    if not _NUMBER.fullmatch(digits) or not any(map(str.isdigit, digits)):
        raise PrintedError(f"{text!r} is not a printed number", remedy="Write digits, '-' or 'not legible'.")
    decimals = len(digits.partition(".")[2])
    # An integer is an exact count; a percentage or a number with decimals is rounded.
    is_rounded = decimals > 0 or stripped.endswith("%")
    return Printed(stripped, float(digits.replace(",", "")), 0.5 * 10**-decimals if is_rounded else 0.0)


def _find_table_entry(exhibit_id: str) -> Table:
    """Return an exhibit's entry under ``tables`` in ``paper.yml``; raise a PrintedError if there is none."""
    paper = exhibit(exhibit_id).paper
    tables = load_paper(paper)["tables"]
    if exhibit_id not in tables:
        remedy = f"{did_you_mean(exhibit_id, tables)}Use one of {', '.join(tables)}."
        raise PrintedError(f"no transcription of {exhibit_id!r}", display_path(find_file(paper)), remedy)
    return tables[exhibit_id]


def find_table(exhibit_id: str) -> Path:
    """Return the path of the CSV with an exhibit's printed table.

    Raises
    ------
    PrintedError
        If the exhibit is not transcribed.
    LedgerError
        If the ledger has no such exhibit.
    """
    return find_file(exhibit(exhibit_id).paper).parent / _find_table_entry(exhibit_id)["file"]


def _read_csv(paper: str, path: Path, columns: Iterable[str]) -> pd.DataFrame:
    """Return a transcription with all cells as strings, and note for provenance that it was read.

    Raises
    ------
    PrintedError
        If there is no such file, or its columns are not ``columns``.
    """
    if not path.is_file():
        raise PrintedError("no such file", display_path(path), "Correct `file` in paper.yml.")
    provenance.note_printed(paper, path)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    if list(frame) != list(columns):
        problem = f"the columns are {list_names(frame)}"
        raise PrintedError(problem, display_path(path), f"Make them {list_names(columns)}, in this order.")
    return frame


def printed(exhibit_id: str) -> pd.DataFrame:
    """Return a printed table in long form: one printed number per row.

    Returns
    -------
    DataFrame
        The table's key columns (str), ``printed`` (str, the digits), ``value`` (float64; NaN if nothing
        legible is printed) and ``half_width`` (float64; half a unit of the last printed digit, 0 for counts).

    Raises
    ------
    PrintedError
        If the exhibit is not transcribed, its file does not exist, the columns of the file are not ``keys``
        in ``paper.yml`` and ``printed``, or a cell is not a number.
    LedgerError
        If the ledger has no such exhibit.
    """
    path = find_table(exhibit_id)
    frame = _read_csv(exhibit(exhibit_id).paper, path, [*_find_table_entry(exhibit_id)["keys"], "printed"])
    cells = []
    for line, text in enumerate(frame["printed"], start=2):
        try:
            cells.append(parse(text))
        except PrintedError as error:
            raise PrintedError(error.what, f"{display_path(path)}, line {line}", error.remedy) from None
    numbers = [(cell.value, cell.half_width) for cell in cells]
    return frame.join(pd.DataFrame(numbers, columns=["value", "half_width"], dtype=np.float64))


def cell(frame: pd.DataFrame, **keys: str) -> Printed:
    """Return the only cell of a printed table that has the given values in its key columns.

    ``frame`` is a table from :func:`printed` or a selection of its rows; ``keys`` maps key columns to values.

    Raises
    ------
    PrintedError
        If the table has no such column, or the keys select no cell or more than one.
    """
    selected = frame
    for column, value in keys.items():
        if column not in frame:
            remedy = f"{did_you_mean(column, frame)}Use one of {', '.join(map(str, frame))}."
            raise PrintedError(f"the table has no column {column!r}", remedy=remedy)
        selected = selected[selected[column] == value]
    if len(selected) != 1:
        problem = f"{len(selected)} printed cells have {keys}"
        raise PrintedError(problem, remedy="Pass column=value pairs that select exactly one cell.")
    return cell_in(selected.iloc[0])


def cell_in(row: pd.Series) -> Printed:
    """Return the printed number in one row of a table from :func:`printed`."""
    keys = row.drop([name for name in ("printed", "value", "half_width") if name in row])
    return Printed(row["printed"], float(row["value"]), float(row["half_width"]), tuple(map(str, keys)))


def cells_in(frame: pd.DataFrame) -> list[Printed]:
    """Return the printed number in each row of a table from :func:`printed`, in order."""
    return [cell_in(row) for _, row in frame.iterrows()]


def has_table(exhibit_id: str) -> bool:
    """Return whether ``paper.yml`` names a transcription of the exhibit that :func:`printed` can read.

    Raises LedgerError if the ledger has no such exhibit.
    """
    return exhibit_id in load_paper(exhibit(exhibit_id).paper)["tables"]


def find_column_keys(exhibit_id: str) -> list[str]:
    """Return the key columns whose values are the column headings of the printed table.

    The list is ``columns`` in ``paper.yml``, by default the last key column; it is empty if each printed row
    has only one number. Raises PrintedError if the exhibit is not transcribed.
    """
    entry = _find_table_entry(exhibit_id)
    return entry.get("columns", list(entry["keys"])[-1:])


def find_unit(exhibit_id: str) -> str:
    """Return the unit of the numbers in a printed table in words, such as ``share of facts, 0 to 1``.

    Raises PrintedError if the exhibit is not transcribed.
    """
    return _find_table_entry(exhibit_id)["unit"]


def find_origin(exhibit_id: str) -> str:
    """Return the phrase that states the origin of an exhibit's numbers in a caption.

    The phrase is ``as printed``, or ``by the paper's repository`` for a figure without printed numbers.
    """
    from_repository = has_table(exhibit_id) and "source" in _find_table_entry(exhibit_id)
    return "by the paper's repository" if from_repository else "as printed"


def list_legible_cells(exhibit_id: str) -> list[tuple[str, ...]]:
    """Return the key of each legible cell of a printed table; empty if the table is not transcribed.

    Raises LedgerError if the ledger has no such exhibit, and the errors of :func:`printed` on its file.
    """
    if not has_table(exhibit_id):
        return []
    frame = printed(exhibit_id)
    legible = frame[frame["value"].notna()].drop(columns=["printed", "value", "half_width"])
    return list(legible.itertuples(index=False, name=None))


def index_cells(frame: pd.DataFrame, column: str) -> dict[str, Printed]:
    """Return a mapping from each value in a key column to the printed cell, in the table's order.

    Raises
    ------
    PrintedError
        If two cells have the same value in this column.
    """
    if (repeated := frame[column].duplicated()).any():
        value = frame.loc[repeated, column].iloc[0]
        raise PrintedError(f"two printed cells have {column} {value!r}", remedy="Select fewer rows first.")
    return {str(row[column]): cell_in(row) for _, row in frame.iterrows()}


def wide(
    frame: pd.DataFrame, rows: str | list[str], columns: str | list[str], values: str = "value"
) -> pd.DataFrame:
    """Return a table from :func:`printed` in the paper's layout, with rows and columns in the paper's order.

    If rows and columns have the same headings, as in a table of raters by raters, the columns follow the
    order of the rows.

    Parameters
    ----------
    frame : the table, or a selection of its rows.
    rows, columns : key columns whose values become the headings of rows and columns.
    values : column with the content of the cells; cells that the printed table lacks are NaN.

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
    header = column_order.tolist() if isinstance(columns, str) else pd.MultiIndex.from_frame(column_order)
    return pivoted.reindex(index=index, columns=header)


def _load_quotations(exhibit_id: str) -> list[Quote]:
    """Return the quotations on an exhibit in ``paper.yml``, and note for provenance that they were read.

    Raises
    ------
    PrintedError
        If the exhibit has no quotations.
    """
    paper = exhibit(exhibit_id).paper
    provenance.note_printed(paper, find_file(paper))
    if not (quotes := load_paper(paper)["prose"].get(exhibit_id)):
        where = display_path(find_file(paper))
        raise PrintedError(f"no quotation on {exhibit_id!r}", where, "Add one under `prose`.")
    return quotes


def quoted(exhibit_id: str) -> dict[str, Printed]:
    """Return the numbers in quotations on an exhibit, keyed by their names in ``paper.yml``.

    Raises
    ------
    PrintedError
        If the exhibit has no quotations, or a quoted value is not a number.
    LedgerError
        If the ledger has no such exhibit.
    """
    quotes = _load_quotations(exhibit_id)
    return {name: parse(text) for quote in quotes for name, text in quote.get("values", {}).items()}


def quotations(exhibit_id: str) -> list[tuple[str, str]]:
    """Return the quotations on an exhibit as (place in the paper, quotation).

    Raises
    ------
    PrintedError
        If the exhibit has no quotations.
    LedgerError
        If the ledger has no such exhibit.
    """
    return [(quote["where"], " ".join(quote["quote"].split())) for quote in _load_quotations(exhibit_id)]


def texts(name: str) -> pd.DataFrame:
    """Return the texts that a paper prints and the study uses as data, one per row.

    Parameters
    ----------
    name : ``<paper>.<suffix>`` as under ``texts`` in ``paper.yml``, such as ``ratescore.reports``.

    Returns
    -------
    DataFrame
        The columns that ``paper.yml`` names, all str.

    Raises
    ------
    PrintedError
        If ``paper.yml`` has no such entry, the entry's file does not exist, or the columns of the file differ
        from those in the entry.
    LedgerError
        If there is no such paper.
    """
    paper = name.partition(".")[0]
    entry = load_paper(paper).get("texts", {}).get(name)
    if entry is None:
        raise PrintedError(f"no texts {name!r}", display_path(find_file(paper)), "Add them under `texts`.")
    return _read_csv(paper, find_file(paper).parent / entry["file"], entry["columns"])


def released(name: str) -> pd.DataFrame:
    """Return a table of numbers that a paper's released code prints, such as ``mimic_rrs_counts``.

    The table is ``<name>.csv`` in ``data_manifests/released/``, where the README names the columns and the
    source.

    Raises
    ------
    PrintedError
        If there is no such file.
    """
    path = MANIFESTS / "released" / f"{name}.csv"
    if not path.is_file():
        raise PrintedError(
            f"no released numbers {name!r}", display_path(path.parent), "Name a CSV file in this folder."
        )
    provenance.note_printed(provenance.RELEASED, path)
    return pd.read_csv(path, encoding="utf-8")


def rounding_range(
    function: Callable[[FloatArray], float], inputs: pd.DataFrame | Sequence[Printed]
) -> Estimate:
    """Return ``function`` at the printed inputs, and its range over all inputs that round to them.

    Parameters
    ----------
    function : a function from a float64 array of shape (n,) to a number.
    inputs : the n printed numbers, at least one: a DataFrame with the columns ``value`` and ``half_width``,
        or a list.

    Returns
    -------
    Estimate
        The value, and the lower and upper bounds of the range.

    Raises
    ------
    ValueError
        If an input is not legible, or the function is NaN at the inputs or at a bound of the range.

    Notes
    -----
    For the upper bound, each input moves to the end of its rounding interval towards which the function rises
    at the printed values; for the lower bound, to the other end. The range is exact if the function is
    monotone in each input within the intervals, as sums, means, differences and F1 are. Otherwise it is a
    first-order approximation: at a = b, where the slope of |a - b| changes its sign, part of the range is
    missed.
    """
    cells = pd.DataFrame(inputs)
    values, half_widths = (cells[column].to_numpy(dtype=np.float64) for column in ("value", "half_width"))
    centre = float(function(values))
    shift = np.zeros_like(values)  # of each input, towards the upper bound
    for position in np.flatnonzero(half_widths):
        nudged = values.copy()
        nudged[position] += half_widths[position] * 1e-3
        shift[position] = half_widths[position] * np.sign(float(function(nudged)) - centre)
    bounds = [float(function(values - shift)), float(function(values + shift)), centre]
    if np.isnan(bounds).any():
        raise ValueError("the function is NaN at the printed inputs; leave out illegible or undefined cells")
    return Estimate(centre, min(bounds), max(bounds))
