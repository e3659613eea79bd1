"""GREEN's score, how it is read from text, and candidates for kinds of images without a report generator.

Source: Ostmeier et al. 2024, Sections 3.1 to 3.3 and 5.1, Appendices A.2 and A.4. The algorithm of A.4
is missing in our copy; the section names its four methods and what it asks GPT-4 for. Here the generator does
that.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice

import numpy as np
import pandas as pd

from radeval_lib.data.categories import GREEN_NAMES, LETTERS
from radeval_lib.data.green_analysis import render
from radeval_lib.metrics import green
from radeval_lib.pages.green.judging import CHEST
from radeval_lib.papers.printed_numbers import quotations as quotations
from radeval_lib.study.checks import Check, check_statement
from radeval_lib.study.runs import Run
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

Counts = tuple[list[int], list[int], int]
_HEADING = f"[{green.SIGNIFICANT}]:\n"


def scored(matched: int, errors: int, insignificant: int = 0) -> float | None:
    """Score of an analysis with these counts, by way of its text."""
    others = (0,) * 5
    return green.parse(render((errors, *others), (insignificant, *others), matched)).score


def check_formula() -> list[Check]:
    """What the paper says of the score, for all numbers of matches and errors from 0 to 12."""
    table = np.array([[scored(matched, errors) for errors in range(13)] for matched in range(13)], float)
    gain, loss = np.diff(table[1:], axis=0)[:, 1:], np.diff(table[1:], axis=1)
    slower = np.diff(gain, axis=0) < 0
    ignored = np.ptp([scored(3, 2, number) for number in range(13)])
    return [
        check_statement(
            "Bounds",
            "bounded between 0 and 1",
            f"from {table.min():.3g} to {table.max():.3g}",
            bool(table.min() >= 0 and table.max() <= 1),
        ),
        check_statement(
            "No match",
            "otherwise 0",
            f"scores without a match: {sorted(set(table[0].tolist()))}",
            bool((table[0] == 0).all()),
        ),
        check_statement(
            "A further match",
            "rewards matched findings",
            f"with errors, raises the score by {gain.min():.3f} to {gain.max():.3f}",
            bool((gain > 0).all()),
        ),
        check_statement(
            "A further significant error",
            "penalties for clinically significant errors",
            f"lowers the score by {-loss.max():.3f} to {-loss.min():.3f}",
            bool((loss < 0).all()),
        ),
        check_statement(
            "Each further match raises the score by less",
            "achieving a higher score becomes increasingly challenging",
            f"{(~slower).sum()} exceptions",
            bool(slower.all()),
        ),
        check_statement(
            "Insignificant errors change nothing",
            "balancing the penalties for clinically significant errors",
            f"largest change {ignored:.3g}",
            bool(ignored == 0),
        ),
    ]


def variants() -> dict[str, tuple[str, float | None]]:
    """One analysis in the ways in which written text can stray, each with the score that is meant."""
    plain = render((1, 2, 0, 0, 0, 0), (0, 0, 3, 0, 0, 0), 3)
    clean = render((0,) * 6, (0, 0, 3, 0, 0, 0), 3).split("\n\n", 1)[1]
    by_digit = re.sub(r"\(([a-f])\)", lambda mark: f"({'abcdef'.index(mark[1]) + 1})", plain)
    entry = "(b) Missing a finding present in the reference: 2."
    twice = "(b) Missing: 1. x\n(b) Missing more: 1."
    return {
        "as asked for": (plain, 0.5),
        "digits instead of letters": (by_digit, 0.5),
        "no period after the count": (plain.replace(": 2. ", ": 2 "), 0.5),
        "a word for the count": (plain.replace(": 2. ", ": two. "), 0.5),
        "two entries on one line": (plain.replace("\n(b) Missing", " (b) Missing", 1), 0.5),
        "one letter on two lines": (plain.replace(entry, twice, 1), 0.5),
        "blank line between entries": (plain.replace("\n(b)", "\n\n(b)", 1), 0.5),
        "significant section empty": (f"{_HEADING}\n{clean}", 1.0),
        "significant section without its heading": (plain.replace(_HEADING, "", 1), 0.5),
        "words before the matched findings": (plain.replace("]:\n3. ", "]:\nThere are 3. "), 0.5),
        "a measurement before the matched findings": (
            plain.replace("]:\n3. finding 1", "]:\n1.5 cm nodule"),
            None,
        ),
    }


def read_both_ways() -> pd.DataFrame:
    """What the released rules and a strict reading make of :func:`variants`, scores as they are shown."""
    rows = {}
    for name, (text, meant) in variants().items():
        released, strict = green.parse(text), green.parse(text, "strict")
        scores = {"meant": meant, "as released": released.score, "strict": strict.score}
        shown = {key: "none" if score is None else f"{score:.2f}" for key, score in scores.items()}
        rows[name] = {**shown, "what strict reports": "; ".join(strict.faults)}
    return pd.DataFrame.from_dict(rows, orient="index")


WAYS: dict[str, Callable[[str], str]] = {
    "no period after a count": lambda text: re.sub(r": ([1-9]\d*)\. ", r": \1 ", text, count=1),
    "blank line between entries": lambda text: text.replace("\n(b)", "\n\n(b)", 1),
    "two entries on one line": lambda text: text.replace("\n(b)", " (b)", 1),
    "significant section without its heading": lambda text: text.replace(_HEADING, "", 1),
}
"""Four ways of straying from the layout."""


def random_counts(n: int, rng: np.random.Generator) -> list[Counts]:
    """Significant and insignificant errors by category, and matched findings, of ``n`` random analyses."""
    return [
        (rng.poisson(0.25, 6).tolist(), rng.poisson(0.1, 6).tolist(), int(rng.poisson(2))) for _ in range(n)
    ]


def drift(written: Sequence[Counts], run: Run) -> pd.DataFrame:
    """How far the mean score as released moves where a share of analyses strays in one way.

    Returns ``way``, ``share``, ``shift``.
    """
    texts = [render(*counts) for counts in written]
    true = np.mean([green.green_score(matched, sum(errors)) for errors, _, matched in written])
    rows = []
    for name, stray in WAYS.items():
        for share in (0.0, 0.1, 0.2, 0.4):
            hit = run.rng(f"{name} {share}").random(len(written)) < share
            read = [
                green.parse(stray(text) if bad else text).score for text, bad in zip(texts, hit, strict=True)
            ]
            rows.append((name, share, np.mean(np.array(read, dtype=float)) - true))
    return pd.DataFrame(rows, columns=["way", "share", "shift"])


def read_back(written: Sequence[Counts]) -> int:
    """Of how many analyses in the layout all counts are read back."""
    read = [green.parse(render(*counts)) for counts in written]
    return sum(
        (one.significant, one.insignificant, one.matched) == (tuple(errors), tuple(other), matched)
        for one, (errors, other, matched) in zip(read, written, strict=True)
    )


def changes(before: str, after: str) -> list[str]:
    """What was changed between two texts, spacing aside, as ``old words → new words``."""
    old, new = (re.findall(r"\w+|[^\w\s]", text) for text in (before, after))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [
        f"{' '.join(old[a:b])} → {' '.join(new[c:d])}"
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    ]


def enumerated(exhibit: str) -> int:
    """How many items the paper's own numbering i), ii), … has in what it says about an exhibit."""
    said = " ".join(words for _, words in quotations(exhibit))
    return len(set(re.findall(r"(?<![\w])([ivx]+)\) ", said)))


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


def counted_by_method(made: Sequence[Modified]) -> pd.DataFrame:
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

    ``categories``: letters of the error categories that were drawn; empty for a rephrasing.
    """
    if not categories:
        task = "Rephrase this radiology report. Change a small number of words and keep its meaning."
    else:
        listed = "\n".join(f"- {GREEN_NAMES[LETTERS.index(letter)]}" for letter in categories)
        task = f"Rewrite this radiology report with one error of each of these kinds:\n{listed}"
    return f"{task}\n\nReport:\n{report}\n\nAnswer with the report alone."


def modified(n: int, seed: int = 0, kinds: Sequence[Pair] | None = None) -> Iterator[Modified]:
    """``n`` references of other kinds of images with a candidate each, the four methods in turn.

    ``kinds``: modality and anatomy of the reports; default: all of :func:`other_pairs`.
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
    for _ in range(_TRIES):
        number = int(rng.random() * (_MOST_CATEGORIES + 1))
        categories = "".join(sorted(sorted(LETTERS, key=lambda _: rng.random())[:number]))
        if not categories:
            said = _rephrased(report, rng.getrandbits(30))
            return None if said is None else (said, METHODS[4], "")
        try:
            pair = inject(report, [(letter, True) for letter in categories], rng.getrandbits(30))
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
