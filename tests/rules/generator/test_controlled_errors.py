"""Injected errors: exact counts, every category, and nothing else changed."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from radeval_lib.rules.generator import (
    CATEGORIES,
    ErrorPair,
    PlannedFinding,
    Statement,
    SyntheticError,
    compare,
    error_pairs,
    generate,
    report_at,
)
from radeval_lib.rules.generator.difference import index_findings
from radeval_lib.rules.generator.generator import rerender

from .checks import check_text

KINDS = [(category, significant) for category in CATEGORIES for significant in (True, False)]


def made(pair: ErrorPair) -> Counter[tuple[str, bool]]:
    """Return the gold errors by category and significance."""
    return Counter((error.category, error.significant) for error in pair.errors)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_category_is_reachable(kind: tuple[str, bool]) -> None:
    for pair in error_pairs(25, 1, [kind]):
        assert made(pair) == {kind: 1}
        check_text(pair.candidate.findings)
        check_text(pair.candidate.impression)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.lists(st.sampled_from(KINDS), max_size=4))
@example(seed=77572, kinds=[("e", True)] * 3)  # a span that leaves no room for a change before the noun
def test_counts_equal_the_edits(seed: int, kinds: list[tuple[str, bool]]) -> None:
    try:
        (pair,) = error_pairs(1, seed, kinds, modality_anatomy=[("X-Ray", "CHEST"), ("CT", "ABDOMEN-PELVIS")])
    except SyntheticError as error:
        assert "drawn reports allows" in str(error)  # noqa: PT017
        return
    assert made(pair) == Counter(kinds)
    check_nothing_else_changed(pair)
    check_text(pair.candidate.findings)


def check_nothing_else_changed(pair: ErrorPair) -> None:
    """What no error touches keeps its meaning, and its sentences keep their bytes and order."""
    before, after = index_findings(pair.reference.plan), index_findings(pair.candidate.plan)
    wrong = {error.concept for error in pair.errors}
    for concept in (before.keys() | after.keys()) - wrong:
        assert before[concept] == after[concept]
    for error in pair.errors:
        if error.concept in before and error.concept in after:
            first, two = before[error.concept][1], after[error.concept][1]
            for name in ("certainty", "descriptors", "many", "diagnosis"):
                assert getattr(first, name) == getattr(two, name)
    touched = touched_uids(pair)
    assert untouched(pair, touched, reference=True) == untouched(pair, touched, reference=False)


def touched_uids(pair: ErrorPair) -> set[int]:
    """Return statements that differ, and those that share a sentence with one that does."""
    plans = (pair.reference.plan, pair.candidate.plan)
    differ = {s.uid for s in set(plans[0]) ^ set(plans[1])}
    sentences = [s for r in (pair.reference, pair.candidate) for s in r.findings.sentences]
    together = [set(s.statements) for s in sentences if set(s.statements) & differ]
    return differ.union(*together)


def untouched(pair: ErrorPair, touched: set[int], *, reference: bool) -> list[str]:
    """Return the sentences that say nothing touched."""
    text = (pair.reference if reference else pair.candidate).findings
    return [text.text[s.start : s.end] for s in text.sentences if not set(s.statements) & touched]


def test_a_false_finding_displaces_its_denial() -> None:
    """The candidate must not deny what it states."""
    seen = 0
    for pair in error_pairs(200, 3, [("a", True)], modality_anatomy=("X-Ray", "CHEST")):
        concept = pair.errors[0].concept
        for statement in pair.candidate.plan:
            concepts = getattr(statement.content, "concepts", ())
            assert concept not in concepts
        seen += any(concept in getattr(s.content, "concepts", ()) for s in pair.reference.plan)
    assert seen > 10


def report_with(*findings: PlannedFinding):  # type: ignore[no-untyped-def]
    """A chest radiograph with these findings only."""
    report = report_at(0, 0, style="hospital", modality_anatomy=("X-Ray", "CHEST"))
    return rerender(report, tuple(Statement(uid, finding, uid) for uid, finding in enumerate(findings)))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"side": "left"}, {"side": "right"}, [("c", True)]),
        ({"place": "upper_lobe", "side": "left"}, {"place": "lung_apex", "side": "left"}, [("c", False)]),
        ({"place": "upper_lobe", "side": "left"}, {"place": "lung_base", "side": "left"}, [("c", True)]),
        ({"place": "upper_lobe", "side": "left"}, {}, []),  # left open is not wrong
        ({"size_mm": (10,)}, {"size_mm": (12,)}, [("d", False)]),
        ({"size_mm": (10,)}, {"size_mm": (15,)}, [("d", True)]),
        ({}, {"change": "new"}, [("e", True)]),
        ({}, {"change": "unchanged"}, [("e", False)]),
        ({"change": "increased"}, {}, [("f", True)]),
        ({"change": "increased"}, {"change": "decreased"}, [("e", True), ("f", True)]),
        ({"certainty": "uncertain"}, {}, []),  # no category of ReXVal
    ],
)
def test_differences_by_hand(before: dict, after: dict, expected: list) -> None:  # type: ignore[type-arg]
    first, two = (report_with(PlannedFinding("nodule", **attributes)) for attributes in (before, after))
    assert [(e.category, e.significant) for e in compare(first, two).errors] == expected


def test_a_report_has_no_error_against_itself() -> None:
    for report in generate(100, 6):
        comparison = compare(report, report)
        assert comparison.errors == ()
        assert set(comparison.matched) == set(index_findings(report.plan))


def test_what_one_of_the_two_leaves_open_is_no_error() -> None:
    item = report_with(PlannedFinding("nodule", place="upper_lobe", side="left", size_mm=(10,)))
    two = report_with(PlannedFinding("nodule", change="new"), PlannedFinding("pneumothorax"))
    assert [e.category for e in compare(item, two).errors] == ["a", "e"]


def test_same_seed_same_pair() -> None:
    first, two = (list(error_pairs(20, 7)) for _ in range(2))
    assert [p.candidate for p in first] == [p.candidate for p in two]
    assert list(error_pairs(5, 7, start=10)) == first[10:15]
