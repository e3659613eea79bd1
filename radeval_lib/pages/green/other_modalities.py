"""Candidates for kinds of images without a report generator, as GREEN made them for further training.

Source: Ostmeier et al. 2024, Section 5.1 and Appendix A.4, whose algorithm is missing in our copy; the
section names its four methods and what it asks GPT-4 for. Here the generator does what GPT-4 was asked to do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice

import pandas as pd

from radeval_lib.data.categories import GREEN_NAMES, LETTERS
from radeval_lib.study.checks import Check, check_statement
from radeval_lib.synthetic import (
    Comparison,
    SyntheticError,
    SyntheticReport,
    compare,
    generate,
    inject,
    modality_anatomies,
    rewrite,
)
from radeval_lib.synthetic.edits import without
from radeval_lib.synthetic.generator import Pair, rerender, seeded

CHEST = ("X-Ray", "CHEST")
METHODS = ("re-arranged", "removed", "randomly paired", "errors asked for", "rephrased")
"""The paper's four methods; the fourth is told apart by whether an error category was drawn."""

_MOST_CATEGORIES = 3
_TRIES = 40


@dataclass(frozen=True)
class Modified:
    """A report, a candidate made from it, and how."""

    reference: SyntheticReport
    candidate: SyntheticReport
    method: str
    categories: str
    comparison: Comparison


def words_kept(one: Modified) -> float:
    """Share of the reference's words that the candidate has too, each as often as it stands there."""
    ours, theirs = (
        Counter(report.findings.text.lower().split()) for report in (one.reference, one.candidate)
    )
    return (ours & theirs).total() / ours.total()


def counted(made: Sequence[Modified]) -> pd.DataFrame:
    """What candidates hold, one row each: ``method``, ``significant`` and ``insignificant`` errors,
    ``matched`` findings and the share of words ``kept``."""
    return pd.DataFrame(
        {
            "method": [one.method for one in made],
            "significant": [sum(one.comparison.count(True).values()) for one in made],
            "insignificant": [sum(one.comparison.count(False).values()) for one in made],
            "matched": [len(one.comparison.matched) + len(one.comparison.agreed_negatives) for one in made],
            "kept": [words_kept(one) for one in made],
        }
    )


def check_methods(made: Sequence[Modified]) -> list[Check]:
    """Whether candidates have the errors that their method is to give them, and no other."""
    by_method = {name: [one for one in made if one.method == name] for name in METHODS}
    wrong = {name: sum(bool(one.comparison.errors) for one in found) for name, found in by_method.items()}
    ordered, removed, _, asked, rephrased = by_method.values()
    exact = sum(
        sorted(error.category for error in one.comparison.errors if error.significant) == list(one.categories)
        for one in asked
    )
    missing = [error.category == "b" for one in removed for error in one.comparison.errors]
    kept = sum(map(words_kept, rephrased)) / len(rephrased)
    return [
        check_statement(
            "Candidates have the error categories that were drawn",
            "sampling random combinations of error categories",
            f"{exact} of {len(asked)}",
            exact == len(asked),
        ),
        check_statement(
            "Without a category the meaning stays and few words change",
            "rephrase the report with the same meaning by changing a small number of words",
            f"{wrong['rephrased']} of {len(rephrased)} with an error; {kept:.0%} of the words kept",
            not wrong["rephrased"] and kept > 0.5,
        ),
        check_statement(
            "Another order of sentences is no error",
            "re-arranging the order of sentences",
            f"{wrong['re-arranged']} of {len(ordered)} with an error",
            not wrong["re-arranged"],
        ),
        check_statement(
            "What is removed is missing, and nothing else is wrong",
            "removing sentences",
            f"{sum(missing)} of {len(missing)} errors are missing findings",
            bool(missing) and all(missing),
        ),
    ]


def other_pairs() -> tuple[Pair, ...]:
    """Every modality and anatomy of the generator but X-rays of the chest."""
    return tuple(pair for pair in modality_anatomies() if pair != CHEST)


def modification_prompt(report: str, categories: str) -> str:
    """What a language model is asked to do with a report, in words of our own.

    Parameters
    ----------
    categories : letters of the error categories that were drawn; empty for a rephrasing.
    """
    if not categories:
        task = "Rephrase this radiology report. Change a small number of words and keep its meaning."
    else:
        listed = "\n".join(f"- {GREEN_NAMES[LETTERS.index(letter)]}" for letter in categories)
        task = f"Rewrite this radiology report with one error of each of these kinds:\n{listed}"
    return f"{task}\n\nReport:\n{report}\n\nAnswer with the report alone."


def modified(n: int, seed: int = 0, kinds: Sequence[Pair] | None = None) -> Iterator[Modified]:
    """``n`` references of other kinds of images with a candidate each, the four methods in turn.

    Parameters
    ----------
    kinds : modality and anatomy of the reports; default: all of :func:`other_pairs`.
    """
    made = 0
    methods = cycle((_rearranged, _removed, _paired, _asked))
    stream = generate(4 * n, seed, modality_anatomy=list(kinds or other_pairs()), min_findings=1)
    for reference, method in zip(stream, methods, strict=False):
        found = method(reference, seed)
        if found is None:  # one sentence has one order only
            continue
        candidate, label, categories = found
        yield Modified(reference, candidate, label, categories, compare(reference, candidate))
        made += 1
        if made == n:
            return


_Made = tuple[SyntheticReport, str, str] | None


def _rearranged(report: SyntheticReport, seed: int) -> _Made:
    try:
        return rewrite(report, "order", seed), METHODS[0], ""
    except SyntheticError:
        return None


def _removed(report: SyntheticReport, seed: int) -> _Made:
    rng = seeded(seed, report.report_id, "removed")
    plan = report.plan
    for _ in range(1 + int(rng.random() * len(plan) / 2)):
        if len(plan) > 1:
            plan = without(plan, plan[int(rng.random() * len(plan))].uid)
    if len(plan) == len(report.plan):
        return None
    return rerender(report, plan), METHODS[1], ""


def _paired(report: SyntheticReport, seed: int) -> _Made:
    rng = seeded(seed, report.report_id, "paired")
    kind = (report.modality, report.anatomy)
    other = next(islice(generate(1, rng.getrandbits(30), modality_anatomy=kind, min_findings=1), 1))
    return other, METHODS[2], ""


def _asked(report: SyntheticReport, seed: int) -> _Made:
    rng = seeded(seed, report.report_id, "asked")
    for attempt in range(_TRIES):
        number = int(rng.random() * (_MOST_CATEGORIES + 1))
        categories = "".join(sorted(sorted(LETTERS, key=lambda _: rng.random())[:number]))
        if not categories:
            said = _rephrased(report, rng.getrandbits(30))
            return None if said is None else (said, METHODS[4], "")
        try:
            pair = inject(report, [(letter, True) for letter in categories], seed + attempt)
        except SyntheticError:
            continue
        return pair.candidate, METHODS[3], categories
    return None


def _rephrased(report: SyntheticReport, seed: int) -> SyntheticReport | None:
    """The report with one statement in other words."""
    rng = seeded(seed, report.report_id, "rephrased")
    for _ in range(_TRIES):
        chosen = int(rng.random() * len(report.plan))
        plan = list(report.plan)
        plan[chosen] = replace(plan[chosen], wording=rng.getrandbits(96))
        candidate = rerender(report, tuple(plan))
        if candidate.findings.text != report.findings.text:
            return candidate
    return None
