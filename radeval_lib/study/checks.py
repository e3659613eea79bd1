"""Checks: a printed number or claim compared with the computed one."""

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

# A comparison that accepts this share of the values that a quantity can take, or more, supports nothing.
WIDEST = 0.25


@dataclass(frozen=True)
class Key:
    """What one check of an exhibit compares: ``what`` and, among several alike, the distinguishing ``row``
    and ``column``."""

    what: str
    row: str = ""
    column: str = ""

    @classmethod
    def of(cls, name: Key | str) -> Key:
        """Return a key, or the key of a comparison that needs no row or column."""
        return name if isinstance(name, Key) else cls(name)

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.what, self.row, self.column)))


@dataclass(frozen=True)
class Check:
    """One comparison.

    Attributes
    ----------
    key : what is compared; no two checks of an exhibit have the same.
    printed : the paper's words, or its digits.
    computed : what follows, in words.
    stated : the printed number; None of a claim in words.
    value, low, high : what follows, with its interval; None of a claim in words.
    aspect : of a claim of superiority ``order`` or ``lead``.
    needed : whether the exhibit needs it. It needs neither a lead that the paper does not claim nor a test
        that can only contradict: a one-sided bound, or an interval too wide to support anything.
    cells : the printed cells that it compares, each by its values in the key columns of its table.
    discrepancy : why it fails, by its name under ``discrepancies`` in ``paper.yml``; empty if nothing is
        known.
    reading : if the paper leaves open what is meant, the reading that this row takes; rows of one key are
        the readings of one statement, and count as what all of them say.
    asked : what we ask for, if the words alone set no number.
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
    asked: str = ""

    @property
    def name(self) -> str:
        """Its key in words, with its reading if several are open."""
        return f"{self.key} ({self.reading})" if self.reading else str(self.key)

    def compares(self, cell: tuple[str, ...]) -> bool:
        """Return whether it compares a printed cell, named by its values in the table's key columns. A page's
        name for the cell has these in order, perhaps with others between."""
        remaining = map(iter, self.cells)
        return any(all(part in parts for part in cell) for parts in remaining)

    @property
    def decides_cells(self) -> bool:
        """Whether each of its cells has its own counterpart; inputs of a sum or mean have none."""
        return self.stated is None or len(self.cells) == 1

    @property
    def agrees(self) -> bool:
        """Whether print and computation are compatible and could have been incompatible."""
        return self.outcome == HOLDS

    @property
    def holds(self) -> bool | None:
        """Whether it holds or fails; None if it is inconclusive."""
        return {HOLDS: True, FAILS: False}.get(self.outcome)


def _places(cells: Iterable[Printed]) -> tuple[tuple[str, ...], ...]:
    return tuple(cell.at for cell in cells if cell.at)


def check_value(
    name: Key | str,
    printed: Printed | str,
    computed: Estimate | float,
    decimals: int | None = None,
    *,
    possible: tuple[float, float] | None = None,
    cells: Iterable[Printed] = (),
) -> Check:
    """Compare a printed number with a computed one.

    It holds if the computed interval (a point, if ``computed`` is a float) meets the interval of numbers
    that round to the printed one. If the interval covers a quarter (:data:`WIDEST`) or more of the values
    that the quantity can take, meeting it says nothing: the check can then only contradict.

    Parameters
    ----------
    name : its key, or what it compares.
    printed : the printed cell, or its digits.
    computed : what follows from other numbers, in the printed unit.
    decimals : digits shown of the computed value; default: one more than printed, if it has more.
    possible : smallest and largest value that the quantity can take, in the printed unit. Default: from 0 to
        twice the printed value, so that an interval half as wide as the value is too wide; of a printed 0,
        whose range that leaves empty, none is.
    cells : printed cells that are compared; default: the printed one.

    Raises
    ------
    ValueError
        If the printed cell is a dash or not legible, or a computed number is NaN: nothing can be checked.
    """
    cell = parse(printed) if isinstance(printed, str) else printed
    if math.isnan(cell.value):
        raise ValueError(
            f"check {name!r}: the paper's cell is {cell.text!r}, so there is nothing to check against; "
            "remove this check or correct the transcribed cell"
        )
    if not isinstance(computed, Estimate):
        computed = Estimate(float(computed), float(computed), float(computed))
    value, low, high = float(computed.value), float(computed.low), float(computed.high)
    if possible is not None:  # rounding alone may reach beyond it
        low, high = max(low, min(value, possible[0])), min(high, max(value, possible[1]))
    if any(map(math.isnan, (value, low, high))):
        raise ValueError(f"check {name!r}: the computed value is not a number, so it agrees with nothing")
    # One digit more than printed, but none of a number that has no more, as one printed elsewhere.
    exact = low == high and abs(value - round(value, cell.decimals)) < EDGE
    places = decimals if decimals is not None else cell.decimals + (cell.decimals > 0 and not exact)
    unit = "%" if cell.text.endswith("%") else ""
    words, *ends = (f"{number:,.{places}f}{unit}" for number in (value, low, high))
    if ends[0] != ends[1]:
        words += f" [{', '.join(ends)}]"
    outcome = FAILS
    if low <= cell.high + EDGE and high >= cell.low - EDGE:
        # An interval that covers so much of what is possible that meeting it says nothing supports nothing.
        bottom, top = possible or sorted((0.0, 2 * cell.value))
        width = min(high, top) - max(low, bottom)
        outcome = INCONCLUSIVE if width > 0 and width >= WIDEST * (top - bottom) else HOLDS
    key, compared = Key.of(name), _places(cells or [cell])
    needed = outcome != INCONCLUSIVE
    return Check(key, cell.text, words, outcome, cell.value, value, low, high, needed=needed, cells=compared)


def check_statement(
    name: Key | str,
    claim: str,
    finding: str,
    holds: bool | None,
    *,
    cells: Iterable[Printed] = (),
    asked: str = "",
) -> Check:
    """Compare a claim in words with the computed answer.

    Parameters
    ----------
    claim : what the paper says, in its words.
    finding : what follows, in words that the caller made from computed values.
    holds : whether the finding supports the claim, None if it is inconclusive; computed, never typed.
    cells : printed cells that are compared.
    asked : what we ask for, if the claim sets no number.
    """
    outcome = INCONCLUSIVE if holds is None else HOLDS if holds else FAILS
    return Check(Key.of(name), claim, finding, outcome, cells=_places(cells), asked=asked)


def by_reading(checks: Mapping[str, Check]) -> list[Check]:
    """Return the checks of one statement under its open readings, one row per reading, with its name.

    The verdict takes the outcome that all of them share (:func:`radeval_lib.study.results.judge`). Rules that
    the paper does not name are readings too: among many, one may fit by luck.
    """
    return [replace(check, reading=reading) for reading, check in checks.items()]


def check_one_sided(name: Key | str, claim: str, finding: str, fails: bool, **settings: Any) -> Check:
    """Compare a claim with a test that can only contradict it, like :func:`check_statement`."""
    check = check_statement(name, claim, finding, False if fails else None, **settings)
    return replace(check, needed=bool(fails))


def check_setting(paper: str, setting: str) -> Check:
    """Compare a setting that a paper states with that of its released code, in ``data_manifests/released/``'s
    ``settings.csv``.

    A ValueError if the table has no such setting.
    """
    rows = released("settings").query("paper == @paper").set_index("setting")
    if setting not in rows.index:
        raise ValueError(f"settings.csv has no setting {setting!r} of {paper}; correct its name, or add it")
    stated, released_value = rows.loc[setting, ["paper_says", "code_has"]]
    try:  # 2e-5 is 0.00002
        same = float(stated.replace(",", "")) == float(released_value.replace(",", ""))
    except ValueError:
        same = stated == released_value
    return check_statement(setting, stated, released_value, same)


def above(low: float, high: float, edge: float = 0.0) -> bool | None:
    """Return whether an interval is above an edge: False if it is below, None if it contains the edge.

    An interval that holds the edge, or has an end that is NaN, decides nothing, for a claim or against it.
    """
    if math.isnan(low) or math.isnan(high):
        return None
    return True if low > edge else False if high < edge else None


def below(low: float, high: float, edge: float) -> bool | None:
    """Return whether an interval is below an edge, like :func:`above`."""
    return above(-high, -low, -edge)


def check_bounds(name: Key | str, claim: str, cells: Sequence[tuple[Printed, float, float]]) -> Check:
    """Compare printed numbers with mathematical bounds: a test that can only contradict.

    ``cells``: printed numbers, each with its lowest and its highest possible value; those that are not
    legible are left out.
    """
    legible = [bound for bound in cells if not math.isnan(bound[0].value)]
    inside = [cell.high >= low - EDGE and cell.low <= high + EDGE for cell, low, high in legible]
    finding = f"{out_of(sum(inside), len(legible), str)} within bounds"
    if len(legible) == 1:
        finding += f", {legible[0][1]:,g} to {legible[0][2]:,g}"
    return check_one_sided(name, claim, finding, not all(inside), cells=[cell for cell, *_ in legible])


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
    """Check one printed cell per group against a function of the group's other cells.

    Parameters
    ----------
    frame : a printed table.
    by : key column, or columns, that define the groups; groups keep the table's order.
    target : the column and value that single out the checked cell of a group.
    inputs : the column and the values, in this order, whose cells the function takes.
    function : maps the float64 inputs of shape (n,) to the target's value.
    what : what the checks compare; the groups' keys distinguish them, at most two.
    decimals, possible : as in :func:`check_value`.

    Groups whose target or inputs are not printed or not legible are left out.

    Raises
    ------
    ValueError
        If an input is there twice in a group.
    """
    keys = [by] if isinstance(by, str) else list(by)
    ((target_column, target_value),) = target.items()
    ((input_column, input_values),) = inputs.items()
    checks = []
    for key, group in frame.groupby(keys, sort=False):
        goal = group[group[target_column] == target_value]
        parts = group.set_index(input_column).reindex(list(input_values))
        if len(goal) != 1 or goal["value"].isna().any() or parts["value"].isna().any():
            continue
        name, cell = Key(what, *map(str, key)), cell_in(goal.iloc[0])
        checks.append(check_value(name, cell, rounding_range(function, parts), decimals, possible=possible))
    return checks
