"""Rewrites keep or turn round the meaning; pairings give what GREEN describes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from radeval_lib.rules.generator import (
    HEURISTICS,
    Normal,
    PlannedFinding,
    SyntheticError,
    compare,
    generate,
    green_pairs,
    opposite,
    report_at,
    rewrite,
)
from radeval_lib.rules.generator.difference import collect_denied, index_findings
from radeval_lib.rules.generator.pairings import measure_cosines

from .checks import check_text


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(["synonym", "order", "style"]))
def test_rewrites_keep_the_meaning(seed: int, kind: str) -> None:
    report = report_at(seed, 0, min_findings=2)
    assume(kind != "order" or sum(not statement.joined for statement in report.plan) > 1)
    rewritten = rewrite(report, kind, seed)  # type: ignore[arg-type]
    assert rewritten.findings.text != report.findings.text
    assert {item.content for item in rewritten.plan} == {item.content for item in report.plan}
    assert compare(report, rewritten).errors == ()
    assert rewritten.chexpert == report.chexpert
    assert (rewritten.style == report.style) == (kind != "style")
    check_text(rewritten.findings)


def test_opposites() -> None:
    for report in generate(400, 3):
        turned = opposite(report)
        check_text(turned.findings)
        check_text(turned.impression)
        assert {s.concept for _, s in index_findings(report.plan).values()} == collect_denied(turned.plan)
        assert collect_denied(report.plan) <= {s.concept for _, s in index_findings(turned.plan).values()}
        for statement in turned.plan:
            if isinstance(statement.content, Normal):
                assert statement.content.opposite
        errors = compare(report, turned).count()
        findings = sum(isinstance(s.content, PlannedFinding) for s in report.plan)
        normals = sum(isinstance(s.content, Normal) for s in report.plan)
        assert errors["b"] == findings
        assert errors["a"] == len(collect_denied(report.plan)) + normals


def test_negated_normal_state_is_abnormal() -> None:
    """As in Zhao et al. 2024, appendix A.1: "not in place" is an Abnormality."""
    text = {}
    for report in generate(300, 5, modality_anatomy=("X-Ray", "CHEST")):
        text.update({e.text: e.label for e in opposite(report).findings.entities if "not " in e.text})
    assert text["not clear"] == "Abnormality"
    assert set(text.values()) == {"Abnormality"}


def test_green_pairings() -> None:
    pairs = list(green_pairs(30, 1))
    with pytest.raises(SyntheticError):
        next(green_pairs(-1, 1))
    assert Counter(pair.heuristic for pair in pairs) == dict.fromkeys(HEURISTICS, 30)
    references = [pair.reference.report_id for pair in pairs]
    assert len(set(references)) == len(references)  # a reference serves one heuristic only
    for pair in pairs:
        check_text(pair.candidate.findings)
        assert pair.comparison == compare(pair.reference, pair.candidate)
        if pair.heuristic == "shuffled":
            assert not pair.comparison.count()["a"]
            assert len(pair.candidate.plan) < len(pair.reference.plan) or len(pair.reference.plan) == 1
        if pair.heuristic == "permuted":
            assert pair.comparison.count()["e"] == pair.comparison.count()["f"] == 0
    mean = {h: np.mean([len(p.comparison.errors) for p in pairs if p.heuristic == h]) for h in HEURISTICS}
    assert mean["random"] > mean["permuted"]


CHESTS = tuple(generate(300, 3, style="hospital", modality_anatomy=("X-Ray", "CHEST"), min_findings=1))


def test_token_cosine_by_hand() -> None:
    scores = measure_cosines(["a b"], ["a b", "a c", "d"])
    np.testing.assert_allclose(scores, [[1.0, 0.5, 0.0]])
