"""A printed table beside what follows: every cell of its transcription with the checks that compare it."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from html import escape

import pandas as pd

from radeval_lib.papers.exhibits import exhibit
from radeval_lib.papers.printed_numbers import (
    NOT_LEGIBLE,
    cells_of,
    layout_of,
    origin_of,
    printed,
    transcribed,
    unit_of,
    wide,
)
from radeval_lib.study import verdicts
from radeval_lib.study.checks import Check
from radeval_lib.study.results import Result
from radeval_lib.tables import table_html
from radeval_lib.text_format import joined

MOST_OPEN = 100
"""The most cells of a table that stands open on its page; a larger one is folded."""
COMPARED = "compared"
"""What a cell is that a check compares with others, so that no number of its own follows."""
_VALUE = ["printed", "value", "half_width"]
_WORST = (verdicts.FAILS, verdicts.INCONCLUSIVE, verdicts.HOLDS)
_ENDS = {"ci_low": "low end", "ci_high": "high end"}
"""What the ends of printed intervals are called, by their key in the transcriptions."""


def place_of(result: Result) -> str:
    """Return the anchor of a result's display on its page."""
    return f"result-{result.name}".replace(".", "-").replace("_", "-")


def is_shown_by_cells(result: Result) -> bool:
    """Return whether a page shows a result cell by cell: checks of a table or figure that was transcribed."""
    is_table = exhibit(result.exhibit).kind in ("table", "figure")
    return bool(result.checks) and is_table and transcribed(result.exhibit)


def compared_cells(result: Result) -> pd.DataFrame:
    """Return each cell of the exhibit's printed table with what follows for it.

    Returns
    -------
    DataFrame
        The table's key columns and ``printed`` (str); ``follows`` (str, what a check of this cell alone
        found), ``low`` and ``high`` (float64, its range; NaN where nothing follows), ``outcome`` (str, one of
        :data:`~radeval_lib.study.verdicts.CHECK_OUTCOMES`, :data:`COMPARED`, or empty where no check compares
        the cell), and ``discrepancy`` (str, by its name in ``paper.yml``). Of several checks of a cell,
        the first of those with the worst outcome is taken.
    """
    frame = printed(result.exhibit)
    keys = frame.drop(columns=_VALUE)
    legible = frame["value"].notna()
    rows = []
    for cell, is_legible in zip(keys.itertuples(index=False, name=None), legible, strict=True):
        met = [check for check in result.checks if is_legible and check.compares(cell)]
        own = sorted(filter(_is_of_one_cell, met), key=lambda check: _WORST.index(check.outcome))
        rows.append(_row(own[0]) if own else ("", None, None, COMPARED if met else "", ""))
    found = pd.DataFrame(
        rows, columns=["follows", "low", "high", "outcome", "discrepancy"], index=frame.index
    )
    return keys.join(frame["printed"]).join(found.astype({"low": "float64", "high": "float64"}))


def shown_numbers(result: Result) -> pd.DataFrame:
    """Return what a page shows of a result, to download: the cells of its printed table with what follows
    (:func:`compared_cells`), else the rebuilt table, else the checks (``check``, ``printed``, ``follows``,
    ``outcome``; all str)."""
    if is_shown_by_cells(result):
        return compared_cells(result)
    if result.table:
        return pd.DataFrame(result.table)
    rows = [(check.name, check.printed, check.computed, check.outcome) for check in result.checks]
    return pd.DataFrame(rows, columns=["check", "printed", "follows", "outcome"], dtype=str)


def discrepancies_in_cells(result: Result) -> set[str]:
    """Return the names of the discrepancies in single cells; what fails of several cells together marks
    none."""
    cells = compared_cells(result)
    return set(cells.loc[cells["outcome"] == verdicts.FAILS, "discrepancy"])


def _is_of_one_cell(check: Check) -> bool:
    return check.value is not None and len(check.cells) == 1


def _row(check: Check) -> tuple[str, float | None, float | None, str, str]:
    return check.computed, check.low, check.high, check.outcome, check.discrepancy


def cell_by_cell(result: Result, letters: Mapping[str, str], *, opened: bool = False) -> str:
    """Return the exhibit's table as the paper lays it out, printed and recomputed in one display, as HTML.

    Rows of which no cell is legible are named below the table instead.

    Parameters
    ----------
    letters : by a discrepancy's name, the letter that its explanation has on the page; of cells that fail
        for no known discrepancy that of the empty name.
    opened : whether the table stands open however long it is, as within a fold.
    """
    cells = compared_cells(result)
    explanations = {name: discrepancy.explanation for name, discrepancy in result.discrepancies.items()}
    keys = list(cells.columns[: cells.columns.get_loc("printed")])
    columns = layout_of(result.exhibit)
    shown = cells[keys].assign(
        cell=[_cell(row, letters, explanations.get(str(row.discrepancy), "")) for row in cells.itertuples()]
    )
    rows = [key for key in keys if key not in columns]
    if not columns:
        shown, columns = shown.assign(printed="printed"), ["printed"]
    laid_out = wide(shown, _one_or_all(rows), _one_or_all(columns), "cell").fillna("")
    lost = _rows_without(cells["printed"] != NOT_LEGIBLE, laid_out, cells)
    laid_out = laid_out.drop(lost)
    laid_out = laid_out.rename_axis(index=[name.replace("_", " ") for name in rows])
    laid_out = laid_out.rename(index=_ENDS, columns=_ENDS)
    entry = exhibit(result.exhibit)
    caption = f"{entry.label} {origin_of(result.exhibit)}: {unit_of(result.exhibit)}"
    # Below a line with its caption, where it is long, or nothing in it is compared.
    folded = not opened and (len(cells) > MOST_OPEN or not cells["outcome"].any())
    table = table_html(laid_out, "" if folded else caption, raw=tuple(laid_out.columns), label=caption)
    table = table.replace('class="dataframe radeval"', 'class="dataframe radeval cell-by-cell"', 1)
    body = f'{table}<p class="muted">{_legend(cells)}{_not_legible(lost)}</p>'
    if not folded:
        return body
    whole = len(cells_of(result.exhibit))  # as the verdict counts them: without dashes
    summary = f"<summary><strong>{escape(caption)}</strong> ({whole} cells)</summary>"
    return f"<details>{summary}{body}</details>"


def _rows_without(wanted: pd.Series, laid_out: pd.DataFrame, cells: pd.DataFrame) -> list[Hashable]:
    """Return the rows of a table without a single wanted cell; none where that would leave no row."""
    names = list(laid_out.index.names)
    if not set(names) <= set(cells.columns):
        return []
    found = wanted.groupby([cells[name] for name in names], sort=False).any()
    without = [row for row in laid_out.index if not found[row]]
    return without if len(without) < len(laid_out) else []


def _not_legible(lost: Sequence[Hashable]) -> str:
    """Return which rows a table lacks, as a sentence after its legend."""
    names = [", ".join(map(str, row)) if isinstance(row, tuple) else str(row) for row in lost]
    return f" Not legible: {escape(joined(names))}." if names else ""


def _one_or_all(names: list[str]) -> str | list[str]:
    return names[0] if len(names) == 1 else names


def _cell(row: object, letters: Mapping[str, str], explanation: str) -> str:
    """Return one cell: what is printed, and below it what follows, with its outcome as a mark and in
    words."""
    text, follows, outcome, discrepancy = (
        getattr(row, key) for key in ("printed", "follows", "outcome", "discrepancy")
    )
    printed_html = escape(text)
    if not outcome:
        return f'<span class="unchecked">{printed_html}</span>'
    if outcome == COMPARED:
        return printed_html
    mark = "" if outcome == verdicts.HOLDS else f"{verdicts.MARKS[outcome]}\N{NO-BREAK SPACE}"
    note = (
        f"<sup>{letters[discrepancy]}</sup>" if outcome == verdicts.FAILS and discrepancy in letters else ""
    )
    title = explanation or {verdicts.FAILS: "does not follow", verdicts.HOLDS: "agrees"}.get(outcome, outcome)
    whole = re.sub(r"\[[^]]*\]", lambda interval: interval.group().replace(" ", "\u00a0"), follows)
    body = f'{mark}{printed_html}{note}<br><span class="follows">{escape(whole)}</span>'
    return f'<span class="compared {outcome.replace(" ", "-")}" title="{escape(title)}">{body}</span>'


def _legend(cells: pd.DataFrame) -> str:
    """Return what the marks of a table mean, of those that it has."""
    outcomes = set(cells["outcome"])
    ranged = (cells["low"] < cells["high"]).any()
    said = []
    follows = (cells["follows"] != "").any()
    if follows:
        said.append(f"Below: what follows{', [its range]' if ranged else ''}.")
    marks = {verdicts.FAILS: "differs", verdicts.INCONCLUSIVE: "inconclusive"}
    if meanings := [f"{verdicts.MARKS[key]} {word}" for key, word in marks.items() if key in outcomes]:
        said.append(f"{joined(meanings)}.")
    if COMPARED in outcomes:
        said.append(f"{'Nothing below' if follows else 'Unmarked'}: compared with others.")
    if "" in outcomes:
        said.append("Grey: not checked." if outcomes - {""} else "No check compares a single cell.")
    return " ".join(said)
