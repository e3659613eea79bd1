"""Checks of claims that something is higher, better or best.

A claim of superiority gets two checks. Its *order* holds if the numbers are in the claimed order. Its *lead*
holds if the difference is statistically significant, fails if the difference is significant in the opposite
direction, and is otherwise inconclusive, also if its significance is unknown. A sentence that says that one
thing is better than another needs both checks. A sentence that only describes its numbers (a column's
highest, a mean length, a time) needs the order alone (``order_alone``); the coverage then says that the lead
is not decided.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from scipy.stats import norm, t

from radeval_lib.papers.printed_numbers import Printed
from radeval_lib.stats import printed
from radeval_lib.stats.base import Estimate
from radeval_lib.study.checks import Check, Key, above
from radeval_lib.study.verdicts import FAILS, HOLDS, INCONCLUSIVE
from radeval_lib.text_format import p_digits, p_words

LEVEL = 0.05  # significance level of the two-sided tests
_OUTCOME_BY_SIGN = {1: HOLDS, 0: INCONCLUSIVE, -1: FAILS}


@dataclass(frozen=True)
class Lead:
    """The significance and direction of a difference.

    Attributes
    ----------
    sign : 1 if the difference is significant in the claimed direction, -1 if it is significant in the
        opposite direction, 0 if it is not significant or its significance is unknown.
    wording : the lead in words, with the interval or the p value.
    """

    sign: int
    wording: str

    @classmethod
    def by_interval(cls, difference: Estimate, decimals: int = 3) -> Lead:
        """Return the lead that a difference with its 95% confidence interval shows.

        A positive difference is in the claimed direction. The wording shows ``decimals`` decimals.
        """
        sign = {True: 1, False: -1, None: 0}[above(difference.low, difference.high)]
        bounds = f"[{difference.low:+.{decimals}f}, {difference.high:+.{decimals}f}]"
        return cls(sign, f"{difference.value:+.{decimals}f} {bounds}")

    @classmethod
    def by_p(cls, difference: float, p: float, note: str = "") -> Lead:
        """Return the lead that a difference with its two-sided p value shows.

        A positive difference is in the claimed direction. ``note`` is added to the wording.
        Raises ValueError if the difference or ``p`` is NaN.
        """
        if math.isnan(difference) or math.isnan(p):
            raise ValueError(f"difference {difference} or p {p} is NaN; use UNKNOWN if there is no test")
        sign = int(math.copysign(1, difference)) if p < LEVEL and difference else 0
        return cls(sign, f"{p_words(p)}{f', {note}' if note else ''}")


UNKNOWN = Lead(0, "nothing printed says how large chance is")


def check_superiority(
    name: Key | str,
    claim: str,
    values: Mapping[str, Printed | float],
    *,
    first: str | Sequence[str],
    others: Sequence[str] | None = None,
    leads: Mapping[str, Lead] | Lead | None = UNKNOWN,
    order_alone: bool = False,
    lower_is_better: bool = False,
    decimals: int = 3,
) -> list[Check]:
    """Return the checks of a claim of superiority: one of the order and one of the lead.

    If several things are claimed to be better, the worst of them is compared with the best rival.

    Parameters
    ----------
    name : the key of both checks, or what they compare; ": order" or ": lead" is added.
    claim : the paper's words.
    values : a mapping from name to printed or computed number. Two printed numbers have the order that is
        printed; if one is computed, the order is that of the lead.
    first : the name that is claimed to be better; of several names, each must be better than every rival.
    others : the rivals; by default, all other names.
    leads : a mapping from rival to the lead over it, or one lead over all rivals. With None, there is no
        check of the lead; :func:`unknown_leads` makes one for several comparisons together.
    order_alone : whether the sentence only describes its numbers, so that the lead is not needed.
    lower_is_better : whether lower numbers are better.
    decimals : the number of decimals shown of computed numbers.

    Returns
    -------
    list of Check
        The check of the order and, unless ``leads`` is None, that of the lead; :attr:`~Check.aspect` says
        which is which. The order of two equal numbers is inconclusive.

    Raises
    ------
    ValueError
        If a number is NaN, as in an illegible cell, or there is no rival.
    KeyError
        If ``values`` lacks a name in ``first`` or ``others``, or a mapping ``leads`` lacks a rival.
    """
    leaders = [first] if isinstance(first, str) else list(first)
    rivals = list(others) if others is not None else [other for other in values if other not in leaders]
    systems = {system: values[system] for system in [*leaders, *rivals]}
    direction = -1 if lower_is_better else 1
    numbers = {
        system: direction * (value.value if isinstance(value, Printed) else float(value))
        for system, value in systems.items()
    }
    if missing := [system for system, number in numbers.items() if math.isnan(number)]:
        raise ValueError(f"check {name!r}: the number of {missing[0]} is NaN; leave it out")
    weakest, strongest = min(leaders, key=numbers.__getitem__), max(rivals, key=numbers.__getitem__)
    pair = (values[weakest], values[strongest])
    by_rival = dict.fromkeys(rivals, leads if isinstance(leads, Lead) else UNKNOWN)
    if isinstance(leads, Mapping):
        by_rival = {rival: leads[rival] for rival in rivals}
    if all(isinstance(value, Printed) for value in pair):
        gap = numbers[weakest] - numbers[strongest]
        sign = (gap > 0) - (gap < 0)
    else:  # numbers that vary by chance are in an order only if the lead is established
        sign = by_rival[strongest].sign
    key = Key.of(name)
    order = Check(
        replace(key, what=f"{key.what}: order"),
        claim,
        f"{weakest} {_format_number(pair[0], decimals)}, {strongest} {_format_number(pair[1], decimals)}",
        _OUTCOME_BY_SIGN[sign],
        aspect="order",
        cells=tuple(value.keys for value in systems.values() if isinstance(value, Printed) and value.keys),
    )
    if leads is None:
        return [order]
    return [order, _check_lead(replace(key, what=f"{key.what}: lead"), claim, by_rival, not order_alone)]


def _format_number(value: Printed | float, decimals: int) -> str:
    """Return the printed digits of a number or, if it was computed, the number with these decimals."""
    return value.text if isinstance(value, Printed) else f"{float(value):.{decimals}f}"


def unknown_leads(
    claims: Iterable[str], reason: str = UNKNOWN.wording, *, order_alone: bool = False
) -> list[Check]:
    """Return one inconclusive check of the lead for each distinct claim, with ``reason`` as the reason.

    ``claims`` are the quoted claims of which :func:`check_superiority` checked only the order. If
    ``order_alone``, the verdict ignores these checks.
    """
    return [
        _check_lead(Key("every comparison: lead", claim), claim, {"": Lead(0, reason)}, not order_alone)
        for claim in dict.fromkeys(claims)
    ]


def _check_lead(key: Key, claim: str, leads: Mapping[str, Lead], needed: bool) -> Check:
    """Return the check of the leads over all rivals; ``leads`` is a mapping from rival to the lead over it.

    The check holds if all leads are established, fails if any is reversed, and is otherwise inconclusive.
    ``needed`` says whether the exhibit's verdict needs the check to be conclusive.
    """
    signs = [lead.sign for lead in leads.values()]
    outcome = _OUTCOME_BY_SIGN[min(signs)]
    wording_by_sign = {1: "established", 0: "not established", -1: "established the other way"}
    if len(set(leads.values())) == 1:
        (lead,) = set(leads.values())
        computed = f"lead {wording_by_sign[lead.sign]}: {lead.wording}"
    else:
        exceptions = [f"{rival} ({lead.wording})" for rival, lead in leads.items() if lead.sign < 1]
        computed = f"lead established over {signs.count(1) or 'none'} of {len(signs)}"
        computed += f"; not over {', '.join(exceptions)}" if exceptions else ""
    if len(leads) > 1 and set(leads.values()) != {UNKNOWN}:
        computed += "; each at 5%, not corrected for their number"
    return Check(key, claim, computed, outcome, aspect="lead", needed=needed)


def check_no_deficit(name: Key | str, claim: str, computed: str, lead: Lead) -> Check:
    """Return the check of a claim that one thing is at least as good as another.

    It holds if the lead is established, fails if it is reversed, and is otherwise inconclusive, because a
    higher number alone does not exclude a deficit. ``claim`` has the paper's words, ``computed`` the computed
    result.
    """
    return Check(Key.of(name), claim, computed, _OUTCOME_BY_SIGN[lead.sign])


Number = Printed | float


def _combine_roundings(numbers: Sequence[Number]) -> list[list[float]]:
    """Return a row with the numbers and one for each combination of the bounds of their rounding intervals
    (:func:`~radeval_lib.stats.printed.rounding_corners`); raise ValueError if a number is NaN."""
    cells = [number if isinstance(number, Printed) else Printed("", number, 0.0) for number in numbers]
    if any(math.isnan(cell.value) for cell in cells):
        raise ValueError(f"one of {[cell.value for cell in cells]} is NaN; leave it out")
    values, half_widths = zip(*((cell.value, cell.half_width) for cell in cells), strict=True)
    return printed.rounding_corners(values, half_widths).tolist()


def _infer_lead(gaps_and_needs: Iterable[tuple[float, float]], quantities: str) -> Lead:
    """Return the lead of one printed number over another, given the correlations at which it is significant.

    Parameters
    ----------
    gaps_and_needs : pairs of the difference and the smallest correlation that makes it significant (NaN if
        none does): first for the numbers as printed, then for each combination that their rounding allows.
    quantities : the names of the correlated quantities, for the wording.
    """
    (gap, printed_need), *corners = (
        (0.0, math.nan) if abs(gap) < printed.EDGE else (gap, need) for gap, need in gaps_and_needs
    )
    direction = (gap > 0) - (gap < 0)
    # Rounding may reverse the sign of a difference, which then supports no lead in the printed direction.
    needs = [printed_need] + [need if direction * other_gap > 0 else math.nan for other_gap, need in corners]
    thresholds = [need for need in needs if not math.isnan(need)]
    if not direction:  # numbers that are printed as equal may differ in either direction before rounding
        thresholds = [need for other_gap, need in corners if other_gap and not math.isnan(need)]
    if not thresholds:
        return Lead(0, f"however strongly {quantities} correlate")
    if len(thresholds) == len(needs) and max(thresholds) <= 0:
        return Lead(direction, f"at any correlation of {quantities} from 0")
    bounds = (max(need, 0.0) for need in (min(thresholds), max(thresholds)))
    # Two decimals, or four if two would show a correlation below 1 as 1.00.
    low, high = (f"{need:.{2 if need < 0.995 else 4}f}" for need in bounds)
    if len(thresholds) < len(needs) or not direction:
        return Lead(0, f"unless, by the rounding, {quantities} correlate at {low} or more")
    if low == high:
        return Lead(0, f"unless {quantities} correlate at {low} or more")
    return Lead(0, f"unless {quantities} correlate at {low} to {high} or more, by the rounding")


def lead_of_correlations(first: Number, second: Number, n: int, kind: printed.Kind) -> Lead:
    """Return the lead of one printed correlation over another, whatever the correlation of the two metrics.

    Pearson correlations are compared by Williams's test, others by a z-test on Fisher's scale with the
    standard errors of :func:`radeval_lib.stats.printed.correlation_interval`.

    Parameters
    ----------
    first, second : correlations of two metrics with the same ratings.
    n : the number of pairs, taken as independent, at least 5.
    kind : the kind of correlation.

    Raises
    ------
    ValueError
        If a correlation is NaN or, within its rounding, above 1 or below -1; for Spearman and Kendall, also
        if it is 1 or -1.
    """
    pairs = _combine_roundings([first, second])
    if kind == "pearson":
        needs = [(left - right, printed.needed_rho(left, right, n)) for left, right in pairs]
        return _infer_lead(needs, "the two metrics")

    def add_interval(value: float) -> tuple[float, float, float]:
        return value, *printed.correlation_interval(value, n, kind)

    return _infer_lead(
        (_measure_gap(add_interval(left), add_interval(right)) for left, right in pairs), "their errors"
    )


def _measure_gap(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """Return the difference of two correlations on Fisher's scale, and the smallest correlation of their
    errors that makes it significant. Each correlation is a triple (value, low, high) with a 95% interval."""
    gap = math.atanh(first[0]) - math.atanh(second[0])
    errors = [printed.standard_error(low, high) for _, low, high in (first, second)]
    return gap, printed.needed_correlation(gap, *errors)


def lead_of_intervals(first: Sequence[Number], second: Sequence[Number]) -> Lead:
    """Return the lead of one printed correlation over another, whatever the correlation of their errors.

    Each correlation is a triple (value, low, high) with a 95% confidence interval. Raises ValueError if a
    number is NaN or, within its rounding, not between -1 and 1.
    """
    return _infer_lead(
        (_measure_gap(row[:3], row[3:]) for row in _combine_roundings([*first, *second])), "their errors"
    )


def lead_of_means(first: Sequence[Number], second: Sequence[Number], n: int, lower: bool = False) -> Lead:
    """Return the lead of one printed mean over another on the same ``n`` cases, whatever the correlation of
    their errors.

    ``first`` and ``second`` are pairs (mean, standard deviation over cases). If ``lower``, the lower mean
    leads. The test is a z-test with the quantile of Student's t for n - 1 degrees of freedom. Raises
    ValueError if a number is NaN.
    """
    # The z-test's critical value becomes Student's if the standard errors are scaled by the ratio of the two.
    factor = float(t.ppf(1 - LEVEL / 2, n - 1) / norm.ppf(1 - LEVEL / 2)) / math.sqrt(n)
    needs = []
    for mean, sd, other_mean, other_sd in _combine_roundings([*first, *second]):
        gap = other_mean - mean if lower else mean - other_mean
        needs.append((gap, printed.needed_correlation(gap, factor * sd, factor * other_sd)))
    return _infer_lead(needs, "their errors")


def lead_of_counts(first: int | Sequence[int], second: int | Sequence[int], n: int) -> Lead:
    """Return the lead of one number of correct cases over another on the same ``n`` cases, by McNemar's exact
    test, however the correct cases overlap.

    A sequence gives the possible values of a number that is not known exactly; the lead is established only
    if it is established for every combination.
    """
    counts = [[count] if isinstance(count, int) else count for count in (first, second)]
    combinations = list(product(*counts))
    ranges = [printed.mcnemar_range(left, right, n) for left, right in combinations]
    smallest, largest = min(low for low, _ in ranges), max(high for _, high in ranges)
    signs = {(left > right) - (left < right) for left, right in combinations}
    sign = signs.pop() if largest < LEVEL and len(signs) == 1 else 0
    if math.isclose(smallest, largest) or p_words(smallest) == p_words(largest):
        return Lead(sign, f"{p_words(largest)} however the right cases overlap")
    bounds = f"{p_digits(smallest, 'under')} to {p_digits(largest)}"
    return Lead(sign, f"p from {bounds} by how the right cases overlap")
