"""Checks: comparisons of a paper's printed number or statement with the computed result."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from radeval_lib.papers.printed_numbers import Printed, cell_in, parse, released, rounding_range
from radeval_lib.stats.base import Estimate
from radeval_lib.stats.printed import EDGE
from radeval_lib.study.verdicts import FAILS, HOLDS, INCONCLUSIVE, Outcome
from radeval_lib.text_format import out_of

if TYPE_CHECKING:
    from radeval_lib.stats.base import FloatArray

# An interval that covers at least this share of a quantity's possible values supports no printed number.
WIDEST = 0.25


@dataclass(frozen=True)
class Key:
    """The name of a check within its exhibit: ``what`` it compares and, if several checks compare
    it, the ``row`` and ``column`` that distinguish them."""

    what: str
    row: str = ""
    column: str = ""

    @classmethod
    def of(cls, name: Key | str) -> Key:
        """Return ``name`` if it is a key, or else a key with ``name`` as ``what`` and no row or column."""
        return name if isinstance(name, Key) else cls(name)

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.what, self.row, self.column)))


@dataclass(frozen=True)
class Check:
    """The comparison of one printed number or statement with the computed result.

    Attributes
    ----------
    key : the check's name; no two checks of an exhibit have the same key and reading.
    printed : the paper's words or digits.
    computed : the computed result as a string, with its interval if it has one.
    outcome : one of :data:`~radeval_lib.study.verdicts.CHECK_OUTCOMES`.
    stated : the printed number; None for a statement in words.
    value, low, high : the computed number with its interval, in the printed unit; None for a statement.
    aspect : for a claim of superiority, ``order`` or ``lead``; otherwise empty.
    needed : whether the exhibit's verdict needs the check to be conclusive. False for a lead that the paper
        does not claim, for a test that can only contradict, such as a one-sided bound, and for a number whose
        interval is too wide to support the printed one.
    cells : the printed cells that are compared, each as a tuple of its values in the table's key columns.
    discrepancy : the name, under ``discrepancies`` in ``paper.yml``, of the explanation of the failure; empty
        if the check does not fail or no explanation is known.
    reading : the meaning of an ambiguous statement that is checked here; empty if there is only one. Checks
        with the same key are the readings of one statement, which has the outcome that they share.
    criterion : our criterion, if the statement sets no number.
    """

    key: Key
    printed: str
    computed: str
    outcome: Outcome
    stated: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    aspect: str = ""
    needed: bool = True
    cells: tuple[tuple[str, ...], ...] = ()
    discrepancy: str = ""
    reading: str = ""
    criterion: str = ""

    @property
    def name(self) -> str:
        """The key as a string, with the reading in brackets if the check has one."""
        return f"{self.key} ({self.reading})" if self.reading else str(self.key)

    def compares(self, cell: tuple[str, ...]) -> bool:
        """Return whether the check compares a printed cell.

        ``cell`` has the values in the table's key columns. It matches an entry of ``cells`` that contains
        these values in this order, with or without others between them, as from columns that a page added.
        """
        # ``in`` advances an iterator, so the values must occur in order.
        iterators = map(iter, self.cells)
        return any(all(part in iterator for part in cell) for iterator in iterators)

    @property
    def decides_cells(self) -> bool:
        """Whether the outcome applies to each of ``cells``: to all cells of a statement, and to the one cell
        of a printed number, but not to several cells from which a number is computed."""
        return self.stated is None or len(self.cells) == 1

    @property
    def agrees(self) -> bool:
        """Whether the check holds: the printed and computed results agree, and could have disagreed."""
        return self.outcome == HOLDS

    @property
    def holds(self) -> bool | None:
        """True if the check holds, False if it fails, None if it is inconclusive."""
        return {HOLDS: True, FAILS: False}.get(self.outcome)


def _cell_keys(cells: Iterable[Printed]) -> tuple[tuple[str, ...], ...]:
    """Return the key of each printed cell: its values in the key columns of its table.

    Numbers from the prose, which have no key, are left out.
    """
    return tuple(cell.keys for cell in cells if cell.keys)


def check_value(
    name: Key | str,
    printed: Printed | str,
    computed: Estimate | float,
    decimals: int | None = None,
    *,
    possible: tuple[float, float] | None = None,
    cells: Iterable[Printed] = (),
) -> Check:
    """Return the check of a printed number against a computed one.

    The check fails if the computed interval (a point, if ``computed`` is a float) does not overlap the
    interval of numbers that round to the printed one. If they overlap, the check holds, unless the computed
    interval covers a quarter (:data:`WIDEST`) or more of the quantity's possible values: then the check is
    inconclusive and not needed.

    Parameters
    ----------
    name : the check's key, or what it compares.
    printed : the printed number, or its digits.
    computed : the computed number, in the printed unit.
    decimals : the number of decimals shown of the computed number. By default, it is that of the printed
        number, or one more if the printed number has decimals and the computed one has more decimals or an
        interval.
    possible : the smallest and the largest possible value, in the printed unit; by default, 0 and twice the
        printed value. For a printed 0 without ``possible``, no interval is too wide.
    cells : the printed cells that are compared; by default, ``printed``.

    Raises
    ------
    ValueError
        If the printed cell is a dash or not legible, or the computed number or a bound is NaN.
    PrintedError
        If ``printed`` is a string that is not a printed number.
    """
    cell = parse(printed) if isinstance(printed, str) else printed
    if math.isnan(cell.value):
        raise ValueError(f"check {name!r}: the printed cell is {cell.text!r}; check a legible number")
    if not isinstance(computed, Estimate):
        computed = Estimate(float(computed), float(computed), float(computed))
    value, low, high = float(computed.value), float(computed.low), float(computed.high)
    if possible is not None:  # the rounding of inputs can extend the interval beyond the possible values
        low, high = max(low, min(value, possible[0])), min(high, max(value, possible[1]))
    if any(map(math.isnan, (value, low, high))):
        raise ValueError(f"check {name!r}: NaN in {value} [{low}, {high}]; correct it, or remove this check")
    # By default one decimal more than printed, unless the computed number itself has no more decimals.
    has_no_more = low == high and abs(value - round(value, cell.decimals)) < EDGE
    shown_decimals = cell.decimals + (cell.decimals > 0 and not has_no_more) if decimals is None else decimals
    unit = "%" if cell.text.endswith("%") else ""
    result, *bounds = (f"{number:,.{shown_decimals}f}{unit}" for number in (value, low, high))
    if bounds[0] != bounds[1]:
        result += f" [{', '.join(bounds)}]"
    outcome = FAILS
    if low <= cell.high + EDGE and high >= cell.low - EDGE:
        bottom, top = possible or sorted((0.0, 2 * cell.value))
        width = min(high, top) - max(low, bottom)
        outcome = INCONCLUSIVE if width > 0 and width >= WIDEST * (top - bottom) else HOLDS
    key, keys = Key.of(name), _cell_keys(cells or [cell])
    needed = outcome != INCONCLUSIVE
    return Check(key, cell.text, result, outcome, cell.value, value, low, high, needed=needed, cells=keys)


def check_statement(
    name: Key | str,
    claim: str,
    computed: str,
    holds: bool | None,
    *,
    cells: Iterable[Printed] = (),
    criterion: str = "",
) -> Check:
    """Return the check of a statement in words.

    Parameters
    ----------
    name : the check's key, or what it compares.
    claim : the paper's words.
    computed : the computed result as a string, with its numbers.
    holds : whether the result supports the statement; None if it is inconclusive. Compute it from the data:
        a constant checks nothing.
    cells : the printed cells that are compared.
    criterion : our criterion, if the statement sets no number.
    """
    outcome = INCONCLUSIVE if holds is None else HOLDS if holds else FAILS
    return Check(Key.of(name), claim, computed, outcome, cells=_cell_keys(cells), criterion=criterion)


def by_reading(checks: Mapping[str, Check]) -> list[Check]:
    """Return the checks of an ambiguous statement, one per reading, each with the name of its reading.

    ``checks`` is a mapping from reading to check; all checks have the same key. The statement has the outcome
    that they share, or else is inconclusive (:func:`radeval_lib.study.results.statement_outcome`). If the
    paper does not give the rule by which it computed a number, the rules that were tried are readings,
    because one of many may fit by chance.
    """
    return [replace(check, reading=reading) for reading, check in checks.items()]


def check_one_sided(name: Key | str, claim: str, computed: str, fails: bool, **settings: Any) -> Check:
    """Return the check of a statement by a test that can contradict but not support it.

    It fails if ``fails`` is True, and is otherwise inconclusive and not needed; ``settings`` and the other
    parameters are those of :func:`check_statement`.
    """
    check = check_statement(name, claim, computed, False if fails else None, **settings)
    return replace(check, needed=bool(fails))


def check_setting(paper: str, setting: str) -> Check:
    """Return the check of a setting in a paper against the same setting in its released code.

    Both are in ``data_manifests/released/settings.csv``. The check holds if they are equal as numbers
    (``2e-5`` and ``0.00002``) or, if one is not a number, as strings; otherwise it fails.

    Parameters
    ----------
    paper : the paper's key, such as ``green``.
    setting : the name of the setting, from the column ``setting``.

    Raises
    ------
    ValueError
        If the file has no such setting of the paper.
    """
    rows = released("settings").query("paper == @paper").set_index("setting")
    if setting not in rows.index:
        raise ValueError(f"settings.csv has no setting {setting!r} of {paper}; correct the name, or add it")
    stated_value, released_value = rows.loc[setting, ["paper_says", "code_has"]]
    try:
        same = float(stated_value.replace(",", "")) == float(released_value.replace(",", ""))
    except ValueError:
        same = stated_value == released_value
    return check_statement(setting, stated_value, released_value, same)


def above(low: float, high: float, threshold: float = 0.0) -> bool | None:
    """Return True if an interval is above a threshold, False if it is below, and None otherwise.

    None means that the interval contains the threshold, or that a bound is NaN.
    """
    if math.isnan(low) or math.isnan(high):
        return None
    return True if low > threshold else False if high < threshold else None


def below(low: float, high: float, threshold: float) -> bool | None:
    """Return True if an interval is below a threshold, False if it is above, and None otherwise.

    None means that the interval contains the threshold, or that a bound is NaN.
    """
    return above(-high, -low, -threshold)


def check_bounds(name: Key | str, claim: str, cells: Sequence[tuple[Printed, float, float]]) -> Check:
    """Return the check of printed numbers against mathematical bounds, which can contradict but not support
    them (:func:`check_one_sided`).

    ``cells`` are triples of a printed number, its lowest and its highest possible value. Illegible numbers
    are left out; without a legible number, the check is inconclusive.
    """
    legible = [triple for triple in cells if not math.isnan(triple[0].value)]
    fits = [cell.high >= low - EDGE and cell.low <= high + EDGE for cell, low, high in legible]
    computed = f"{out_of(sum(fits), len(legible), str)} within bounds"
    if len(legible) == 1:
        computed += f", {legible[0][1]:,g} to {legible[0][2]:,g}"
    return check_one_sided(name, claim, computed, not all(fits), cells=[cell for cell, *_ in legible])


def check_groups(
    frame: pd.DataFrame,
    *,
    by: str | list[str],
    target: dict[str, str],
    inputs: dict[str, Sequence[str]],
    function: Callable[[FloatArray], float],
    what: str,
    decimals: int | None = None,
    possible: tuple[float, float] | None = None,
) -> list[Check]:
    """Return one check per group of a printed table, of a cell against a function of other cells.

    A group gets no check if it does not have exactly one checked cell, or if this cell or an input is absent
    or not legible.

    Parameters
    ----------
    frame : a printed table.
    by : one or two key columns that define the groups, whose order is the table's.
    target : the column and value that select the cell to check, such as ``{"task": "average"}``.
    inputs : the column and the values that select the inputs, in the function's order.
    function : a function from the inputs, a one-dimensional float64 array, to the number to compare.
        The rounding of the inputs gives this number an interval.
    what : what the checks compare; their keys differ by the groups' values of ``by``.
    decimals, possible : arguments of :func:`check_value`.

    Raises
    ------
    ValueError
        If two cells of a group have the same value in the column of the inputs, the function is NaN at the
        inputs or within their rounding, or :func:`check_value` raises it.
    """
    keys = [by] if isinstance(by, str) else list(by)
    ((target_column, target_value),) = target.items()
    ((input_column, input_values),) = inputs.items()
    checks = []
    for key, group in frame.groupby(keys, sort=False):
        target_rows = group[group[target_column] == target_value]
        rows = group.set_index(input_column).reindex(list(input_values))
        if len(target_rows) != 1 or target_rows["value"].isna().any() or rows["value"].isna().any():
            continue
        name, cell = Key(what, *map(str, key)), cell_in(target_rows.iloc[0])
        checks.append(check_value(name, cell, rounding_range(function, rows), decimals, possible=possible))
    return checks
