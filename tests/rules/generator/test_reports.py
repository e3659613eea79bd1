"""Gold truth of generated reports: exact positions, polarity, determinism, style."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radeval_lib.rules.generator import (
    MIMIC_RRS_PAIRS,
    STYLES,
    Denial,
    Normal,
    PlannedFinding,
    Statement,
    SyntheticError,
    SyntheticReport,
    generate,
    report_at,
)
from radeval_lib.rules.generator.content import contradicts
from radeval_lib.rules.generator.generator import derive_labels
from radeval_lib.rules.generator.grammar import realize
from radeval_lib.rules.generator.records import Meaning
from radeval_lib.rules.lexicon.loading import load_lexicon

from .checks import check_text, json_line

CHEST = ("X-Ray", "CHEST")
# The first 200 reports of seed 0 as JSON lines. It changes with the lexicon and with nothing else: record it
# again after a deliberate change there.
SHA256 = "cdf9a3a765e2f37b7bc6231f1148d3b50080711a01a29f628cb3bddb8d667db0"


def test_gold_of_thousands_of_reports() -> None:
    seen: Counter[str] = Counter()
    for report in generate(3000, 20):
        check_text(report.findings)
        check_text(report.impression)
        seen.update(entity.label for entity in report.findings.entities)
        seen.update(entity.label for entity in report.findings.radgraph)
        seen.update(name for entity in report.findings.radgraph for name, _ in entity.relations)
        seen["roles"] += len(report.findings.roles)
        seen["hedges"] += sum(role.hedge is not None for role in report.findings.roles)
    for key in (
        *("Anatomy", "Abnormality", "Disease", "Non-Abnormality", "Non-Disease", "roles", "hedges"),
        *("ANAT-DP", "OBS-DP", "OBS-U", "OBS-DA", "modify", "located_at", "suggestive_of"),
    ):
        assert seen[key] > 100, key


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 2**40),
    st.integers(0, 10**9),
    st.sampled_from(sorted(load_lexicon().protocols)),
    st.sampled_from(STYLES),
)
def test_gold_of_any_report(seed: int, index: int, pair: tuple[str, str], style: str) -> None:
    report = report_at(seed, index, modality_anatomy=pair, style=style)  # type: ignore[arg-type]
    check_text(report.findings)
    check_text(report.impression)
    assert (report.modality, report.anatomy, report.style) == (*pair, style)
    assert report.procedure in {p.code for p in load_lexicon().protocols[pair].procedures}
    for text in (report.indication, report.comparison, report.technique):
        assert text[0].isupper() or text[0].isdigit()
        assert text.endswith(".")
        assert "{" not in text


def test_every_statement_is_said_once_and_in_order() -> None:
    for report in generate(500, 21):
        sentences = [uid for sentence in report.findings.sentences for uid in sentence.statements]
        assert list(dict.fromkeys(sentences)) == [statement.uid for statement in report.plan]


def test_reports_do_not_contradict_themselves() -> None:
    lexicon = load_lexicon()
    for report in generate(1500, 22):
        findings = [s.content for s in report.plan if isinstance(s.content, PlannedFinding)]
        present = frozenset(finding.concept for finding in findings)
        assert len(present) == len(findings)
        for statement in report.plan:
            assert not contradicts(lexicon, statement.content, present), (report.report_id, statement)
        suggested = {finding.diagnosis for finding in findings} - {None}
        denied = {key for s in report.plan if isinstance(s.content, Denial) for key in s.content.concepts}
        assert not suggested & denied
        if report.comparison.startswith("None"):
            assert not any(finding.change for finding in findings)


# --- polarity ---

_CUE = re.compile(
    r"\b(no|not|without|negative|free of|absence|absent|neither|ruled out)\b",
    re.I,
)
# Words of negation in sentences that state a finding: hedges and comparisons, which deny something else.
_PSEUDO = re.compile(
    r"not (entirely )?excluded|cannot be (excluded|ruled out)|not (significantly )?changed|"
    r"not seen on the prior study|no (significant|interval) change|without significant interval change",
    re.I,
)


def sentences_of(report: SyntheticReport, kind: type) -> list[tuple[str, list[str], list[str]]]:
    """Return sentences that say one statement of this kind: text, RaTE labels, RadGraph labels."""
    contents = {statement.uid: statement.content for statement in report.plan}
    result = []
    for sentence in report.findings.sentences:
        if len(sentence.statements) == 1 and isinstance(contents[sentence.statements[0]], kind):
            inside = range(sentence.start, sentence.end)
            rate = [e.label for e in report.findings.entities if e.start in inside]
            radgraph = [e.label for e in report.findings.radgraph if e.start in inside]
            result.append((report.findings.text[sentence.start : sentence.end], rate, radgraph))
    return result


def test_denials_are_negated_in_text_and_gold() -> None:
    for report in generate(800, 23):
        for text, rate, radgraph in sentences_of(report, Denial):
            assert _CUE.search(text), text
            assert set(rate) <= {"Anatomy", "Non-Abnormality", "Non-Disease"}, text
            assert {"OBS-DP", "OBS-U"}.isdisjoint(radgraph), text
            assert "OBS-DA" in radgraph, text


def test_findings_are_not_negated() -> None:
    for report in generate(800, 24):
        for text, rate, _ in sentences_of(report, PlannedFinding):
            assert not _CUE.search(_PSEUDO.sub("", text)), text
            assert not any(label.startswith("Non-") for label in rate), text


# --- hand-made plans ---

LUNGS = Normal("lungs_clear")


@pytest.mark.parametrize(
    ("contents", "style"),
    [
        ((LUNGS,), "telegraphic"),
        ((LUNGS, Denial(())), "hospital"),
        ((PlannedFinding("nonsense"),), "hospital"),
    ],
)
def test_a_plan_that_cannot_be_said_is_refused(contents: tuple[Meaning, ...], style: Any) -> None:
    plan = tuple(Statement(at, content, 0) for at, content in enumerate(contents))
    with pytest.raises(SyntheticError):
        realize(plan, style)


def test_a_finding_by_hand() -> None:
    finding = PlannedFinding("pleural_effusion", side="left", severity=1, change="unchanged")
    wording = 2 << (8 * 10)  # not one of the frames whose verb is the change
    text = realize((Statement(0, finding, wording),), "hospital")
    assert text.text == "There is a stable small left pleural effusion."
    assert [(e.text, e.label) for e in text.entities] == [
        ("stable small left pleural effusion", "Abnormality")
    ]
    assert [(e.tokens, e.label, e.start_ix) for e in text.radgraph] == [
        ("stable", "OBS-DP", 3),
        ("small", "OBS-DP", 4),
        ("left", "ANAT-DP", 5),
        ("pleural", "ANAT-DP", 6),
        ("effusion", "OBS-DP", 7),
    ]
    assert [e.relations for e in text.radgraph] == [
        (("modify", "5"),),
        (("modify", "5"),),
        (("modify", "4"),),
        (),
        (("located_at", "4"),),
    ]


def test_a_located_finding_with_a_diagnosis_by_hand() -> None:
    finding = PlannedFinding("consolidation", place="lower_lobe", side="right", diagnosis="pneumonia")
    wording = 4 << (8 * 4)  # the place behind the noun, in full
    text = realize((Statement(0, finding, wording),), "hospital")
    assert text.text == "There is a consolidation in the right lower lobe, suggestive of pneumonia."
    assert [(e.text, e.label) for e in text.entities] == [
        ("consolidation", "Abnormality"),
        ("right lower lobe", "Anatomy"),
        ("pneumonia", "Disease"),
    ]
    (role,) = text.roles
    spans = (role.indicator, role.trajector, role.landmark, role.diagnosis, role.hedge)
    assert [text.text[a:b] for a, b in spans] == [  # type: ignore[misc]
        "in",
        "consolidation",
        "right lower lobe",
        "pneumonia",
        "suggestive of",
    ]
    head = text.radgraph[0]
    assert set(head.relations) == {("located_at", "4"), ("suggestive_of", "5")}
    assert text.radgraph[4].label == "OBS-U"


def test_chexpert_by_hand() -> None:
    plan = (
        Statement(0, PlannedFinding("pleural_effusion", side="left"), 0),
        Statement(1, PlannedFinding("opacity", certainty="uncertain", diagnosis="pneumonia"), 0),
        Statement(2, Denial(("pneumothorax", "edema")), 0),
        Statement(3, Normal("heart_size"), 0),
    )
    labels = derive_labels(load_lexicon(), plan, chest=True)
    assert {name: value for name, value in labels.items() if value is not None} == {
        "Pleural Effusion": 1,
        "Lung Opacity": -1,
        "Pneumonia": -1,
        "Pneumothorax": 0,
        "Edema": 0,
        "Cardiomegaly": 0,
    }


# --- determinism and streaming ---


def test_same_seed_same_bytes() -> None:
    digest = hashlib.sha256()
    for report in generate(200, 0):
        digest.update(json_line(report).encode() + b"\n")
    assert digest.hexdigest() == SHA256


def test_any_part_of_the_stream_can_be_made_alone() -> None:
    whole = [json_line(report) for report in generate(60, 5)]
    assert [json_line(report) for report in generate(10, 5, start=25)] == whole[25:35]
    assert json_line(report_at(5, 59)) == whole[59]


@pytest.mark.parametrize(
    "asked",
    [{"style": "hosptal"}, {"modality_anatomy": ("X-Ray", "CHST")}, {"modality_anatomy": []}, {"n": -1}],
)
def test_what_the_generator_cannot_make_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(SyntheticError):
        next(generate(**{"n": 1, **asked}))


# --- style, sex, procedures ---


def test_indications_lead_to_their_procedure() -> None:
    """Each complaint stands under one or a few procedures, so that procedure selection can be learned."""
    asked: dict[tuple[str, str], set[str]] = {}
    for pair in MIMIC_RRS_PAIRS:
        for procedure in load_lexicon().protocols[pair].procedures:
            for reason in procedure.reasons:
                for complaint in reason.complaints:
                    for question in reason.questions:
                        asked.setdefault((complaint, question), set()).add(procedure.code)
    assert all(len(codes) == 1 for codes in asked.values())
