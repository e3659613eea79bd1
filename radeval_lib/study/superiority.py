"""One rule for claims that something is higher, better or best: the order, and whether the lead is real.

A claim of superiority becomes two checks. Its *order* holds if the numbers are as claimed. Its *lead*
holds if the difference is distinguishable from chance; if it is not, or nothing says how large chance is,
the lead is not established and the check is inconclusive. A lead that is established the other way fails. A
sentence that one thing is better than another needs both. One that only describes its numbers (a column's
highest, a mean length, a time) needs the order alone, which the page says, and an open lead is noted in the
coverage.
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

LEVEL = 0.05  # two-sided
_BY_SIGN = {1: HOLDS, 0: INCONCLUSIVE, -1: FAILS}


@dataclass(frozen=True)
class Lead:
    """Whether a difference in the claimed direction is larger than chance.

    Attributes
    ----------
    sign : 1 if the lead is established, -1 if the opposite is, 0 if neither.
    wording : the interval or the p value, in words.
    """

    sign: int
    wording: str

    @classmethod
    def by_interval(cls, difference: Estimate, decimals: int = 3) -> Lead:
        """Return a lead with its 95% confidence interval; positive is the claimed direction."""
        sign = {True: 1, False: -1, None: 0}[above(difference.low, difference.high)]
        ends = f"[{difference.low:+.{decimals}f}, {difference.high:+.{decimals}f}]"
        return cls(sign, f"{difference.value:+.{decimals}f} {ends}")

    @classmethod
    def by_p(cls, difference: float, p: float, note: str = "") -> Lead:
        """Return a difference (positive: the claimed direction) with its two-sided p value; raises ValueError
        if either is NaN."""
        if math.isnan(difference) or math.isnan(p):
            raise ValueError("a difference or p value that is not a number establishes no lead")
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
    """Return the checks that something beats its rivals: of the order and of the lead.

    Parameters
    ----------
    name : the key of both checks, which differ in their aspect.
    claim : what the paper says, in its words.
    values : printed cells, or computed numbers, by name. Printed numbers have the order that is printed;
        computed ones give an order only if a lead is established.
    first : what is claimed to be better; if several are, each must be better than every rival.
    others : the rivals; default: all other names.
    leads : the lead over each rival by its name, or one lead over all. None makes the order's check alone, as
        if :func:`unknown_leads` reports the lead once for several comparisons.
    order_alone : whether the sentence only describes its numbers, so that no lead is needed.
    lower_is_better : whether the better value is the lower one.
    decimals : digits shown of computed numbers.

    Returns
    -------
    list of Check
        One or two, with ``order`` and ``lead`` as :attr:`~Check.aspect`. Of two equal numbers the order
        is inconclusive.

    Raises
    ------
    ValueError
        If a value is not a number, as of a cell that is not legible.
    """
    ahead = [first] if isinstance(first, str) else list(first)
    rivals = list(others) if others is not None else [other for other in values if other not in ahead]
    compared = {system: values[system] for system in [*ahead, *rivals]}
    better = -1 if lower_is_better else 1
    numbers = {
        system: better * (value.value if isinstance(value, Printed) else float(value))
        for system, value in compared.items()
    }
    if any(map(math.isnan, numbers.values())):
        raise ValueError(f"check {name!r}: a number is not legible, so no order can be checked")
    weakest, strongest = min(ahead, key=numbers.__getitem__), max(rivals, key=numbers.__getitem__)
    pair = (values[weakest], values[strongest])
    by_rival = dict.fromkeys(rivals, leads if isinstance(leads, Lead) else UNKNOWN)
    if isinstance(leads, Mapping):
        by_rival = {rival: leads[rival] for rival in rivals}
    if all(isinstance(value, Printed) for value in pair):
        gap = numbers[weakest] - numbers[strongest]
        sign = (gap > 0) - (gap < 0)
    else:  # computed numbers have an order only if a lead is established
        sign = by_rival[strongest].sign
    key = Key.of(name)
    order = Check(
        replace(key, what=f"{key.what}: order"),
        claim,
        f"{weakest} {_shown(pair[0], decimals)}, {strongest} {_shown(pair[1], decimals)}",
        _BY_SIGN[sign],
        aspect="order",
        cells=tuple(value.at for value in compared.values() if isinstance(value, Printed) and value.at),
    )
    if leads is None:
        return [order]
    return [order, _lead(replace(key, what=f"{key.what}: lead"), claim, by_rival, not order_alone)]


def _shown(value: Printed | float, decimals: int) -> str:
    return value.text if isinstance(value, Printed) else f"{float(value):.{decimals}f}"


def unknown_leads(
    claims: Iterable[str], why: str = UNKNOWN.wording, *, order_alone: bool = False
) -> list[Check]:
    """Return for each claim, in its comparisons' words, a check that says why no lead can be shown."""
    return [
        _lead(Key("every comparison: lead", claim), claim, {"": Lead(0, why)}, not order_alone)
        for claim in dict.fromkeys(claims)
    ]


def _lead(key: Key, claim: str, leads: Mapping[str, Lead], needed: bool) -> Check:
    """Return the check that a lead is established over every rival."""
    signs = [lead.sign for lead in leads.values()]
    outcome = _BY_SIGN[min(signs)]
    word = {1: "established", 0: "not established", -1: "established the other way"}
    if len(set(leads.values())) == 1:
        (lead,) = set(leads.values())
        words_of_lead = f"lead {word[lead.sign]}: {lead.wording}"
    else:
        doubtful = [f"{rival} ({lead.wording})" for rival, lead in leads.items() if lead.sign < 1]
        words_of_lead = f"lead established over {signs.count(1) or 'none'} of {len(signs)}"
        words_of_lead += f"; not over {', '.join(doubtful)}" if doubtful else ""
    if len(leads) > 1 and set(leads.values()) != {UNKNOWN}:
        words_of_lead += "; each at 5%, not corrected for their number"
    return Check(key, claim, words_of_lead, outcome, aspect="lead", needed=needed)


def check_no_deficit(name: Key | str, claim: str, finding: str, lead: Lead) -> Check:
    """Return a check of whether something reaches another's level.

    ``claim`` and ``finding`` are what the paper says, and what was found, in words. The check holds if the
    lead is established, and fails if it is established the other way: a higher number alone excludes no
    deficit.
    """
    return Check(Key.of(name), claim, finding, _BY_SIGN[lead.sign])


Number = Printed | float


def _rounded(numbers: Sequence[Number]) -> list[list[float]]:
    """Return the numbers, and all combinations of the ends of what rounds to them; a ValueError if one is
    NaN."""
    exact = [number if isinstance(number, Printed) else Printed("", number, 0.0) for number in numbers]
    if any(math.isnan(number.value) for number in exact):
        raise ValueError("a number that is not printed or not legible leads nothing")
    values, half_widths = zip(*((number.value, number.half_width) for number in exact), strict=True)
    return printed.rounding_corners(values, half_widths).tolist()


def _printed_lead(needs_of_gaps: Iterable[tuple[float, float]], between: str) -> Lead:
    """Return the lead from a difference and the correlation that it needs: as printed, then as rounding
    allows.

    ``between``: whose correlation that is, in words.
    """
    (gap, at_print), *rounded = (
        (0.0, math.nan) if abs(gap) < printed.EDGE else (gap, need) for gap, need in needs_of_gaps
    )
    ahead = (gap > 0) - (gap < 0)
    # A difference that rounding turns round establishes nothing in the direction of the printed one.
    needs = [at_print] + [need if ahead * other_gap > 0 else math.nan for other_gap, need in rounded]
    defined = [need for need in needs if not math.isnan(need)]
    if not ahead:  # equal as printed: the lead that rounding hides may be either's
        defined = [need for other_gap, need in rounded if other_gap and not math.isnan(need)]
    if not defined:
        return Lead(0, f"however strongly {between} correlate")
    if len(defined) == len(needs) and max(defined) <= 0:
        return Lead(ahead, f"at any correlation of {between} from 0")
    ends = (max(need, 0.0) for need in (min(defined), max(defined)))
    # Two digits, unless they would be those of a perfect correlation.
    low, high = (f"{need:.{2 if need < 0.995 else 4}f}" for need in ends)
    if len(defined) < len(needs) or not ahead:
        return Lead(0, f"unless, by the rounding, {between} correlate at {low} or more")
    if low == high:
        return Lead(0, f"unless {between} correlate at {low} or more")
    return Lead(0, f"unless {between} correlate at {low} to {high} or more, by the rounding")


def lead_of_correlations(first: Number, second: Number, n: int, kind: printed.Kind) -> Lead:
    """Return the lead of one printed correlation over another, given the number of pairs.

    Parameters
    ----------
    first, second : correlations of two metrics with the same ratings.
    n : pairs, taken as independent.

    Notes
    -----
    Pearson's: Williams's test. The others: z-test on Fisher's scale
    (:func:`radeval_lib.stats.printed.correlation_interval`).
    """
    pairs = _rounded([first, second])
    if kind == "pearson":
        needs = [(ours - theirs, printed.needed_between(ours, theirs, n)) for ours, theirs in pairs]
        return _printed_lead(needs, "the two metrics")

    def with_interval(value: float) -> tuple[float, float, float]:
        return value, *printed.correlation_interval(value, n, kind)

    return _printed_lead(
        (_needed(with_interval(ours), with_interval(theirs)) for ours, theirs in pairs), "their errors"
    )


def _needed(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    gap = math.atanh(first[0]) - math.atanh(second[0])
    errors = [printed.standard_error(low, high) for _, low, high in (first, second)]
    return gap, printed.needed_correlation(gap, *errors)


def lead_of_intervals(first: Sequence[Number], second: Sequence[Number]) -> Lead:
    """Return the lead of one printed correlation over another, each as (value, low, high) of its 95%
    interval."""
    # As Fisher has it: the difference, and the correlation of errors that makes it significant.
    return _printed_lead((_needed(row[:3], row[3:]) for row in _rounded([*first, *second])), "their errors")


def lead_of_means(first: Sequence[Number], second: Sequence[Number], n: int, lower: bool = False) -> Lead:
    """Return the lead of one printed mean over another on the same ``n`` cases, each as (mean, standard
    deviation).

    Means are taken as normal, with Student's quantile for n - 1 degrees of freedom. ``lower``: whether the
    lower mean leads.
    """
    wider = float(t.ppf(1 - LEVEL / 2, n - 1) / norm.ppf(1 - LEVEL / 2)) / math.sqrt(n)
    needs = []
    for mean, sd, other_mean, other_sd in _rounded([*first, *second]):
        gap = other_mean - mean if lower else mean - other_mean
        needs.append((gap, printed.needed_correlation(gap, wider * sd, wider * other_sd)))
    return _printed_lead(needs, "their errors")


def lead_of_counts(first: int | Sequence[int], second: int | Sequence[int], n: int) -> Lead:
    """Return which of two numbers of correct cases is significantly larger on the same ``n`` cases, by
    McNemar's test. If a number has several possible values, the lead must hold for every combination."""
    ours, theirs = ([right] if isinstance(right, int) else right for right in (first, second))
    possible = list(product(ours, theirs))
    ranges = [printed.mcnemar_range(right, other_right, n) for right, other_right in possible]
    smallest, largest = min(low for low, _ in ranges), max(high for _, high in ranges)
    signs = {(right > other_right) - (right < other_right) for right, other_right in possible}
    sign = signs.pop() if largest < LEVEL and len(signs) == 1 else 0
    if math.isclose(smallest, largest) or p_words(smallest) == p_words(largest):
        return Lead(sign, f"{p_words(largest)} however the right cases overlap")
    ends = f"{p_digits(smallest, 'under')} to {p_digits(largest)}"
    return Lead(sign, f"p from {ends} by how the right cases overlap")
