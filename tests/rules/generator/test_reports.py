"""Gold truth of generated reports: exact positions, polarity, determinism, style."""

from __future__ import annotations

import hashlib
import re
import tracemalloc
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radeval_lib.rules.generator import (
    CHEXPERT,
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
from radeval_lib.rules.generator.generator import chexpert_labels
from radeval_lib.rules.generator.grammar import realize
from radeval_lib.rules.generator.records import Meaning, Remark
from radeval_lib.rules.lexicon.loading import load_lexicon

from .checks import check_text, json_line

CHEST = ("X-Ray", "CHEST")
# The first 200 reports of seed 0 as JSON lines. It changes with the lexicon and with nothing else: record it
# again after a deliberate change there.
SHA256 = "26a94ced69c870baf2ada4103e0184203859e3a2cfd8492f8bb7e224cb6f059c"


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
        suggested = {finding.suggests for finding in findings} - {None}
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


def test_uncertain_findings_are_obs_u() -> None:
    for report in generate(800, 25):
        contents = {statement.uid: statement.content for statement in report.plan}
        for sentence in report.findings.sentences:
            first = contents[sentence.statements[0]]
            if isinstance(first, PlannedFinding) and len(sentence.statements) == 1:
                observed = [
                    e.label
                    for e in report.findings.radgraph
                    if sentence.start <= e.start < sentence.end and e.label in ("OBS-DP", "OBS-U")
                ]
                expected = "OBS-U" if first.certainty == "uncertain" else "OBS-DP"
                assert observed[0] == expected


def test_negation_has_many_forms() -> None:
    text = " ".join(report.findings.text.lower() for report in generate(1500, 26))
    for form in (
        *("no evidence of", "without", "absence of", "negative for", "unremarkable", "clear", "intact"),
        *("ruled out", "are absent", "neither", "nor", "free of", "are not seen", "is not enlarged"),
        *("cannot be excluded", "not significantly changed", "no significant change in"),
    ):
        assert form in text, form


def test_scope_over_a_coordinated_list() -> None:
    denial = Denial(("consolidation", "pleural_effusion", "pneumothorax", "pneumonia"))
    for wording in range(0, 256):
        text = realize((Statement(0, denial, wording),), "hospital")
        check_text(text)
        assert [e.label for e in text.entities if e.label != "Anatomy"] == [
            *["Non-Abnormality"] * 3,
            "Non-Disease",
        ]


# --- hand-made plans ---

LUNGS = Normal("lungs_clear")


@pytest.mark.parametrize(
    ("contents", "style", "section", "text"),
    [
        ((LUNGS,), "telegraphic", "findings", "style: unknown value 'telegraphic'"),
        ((LUNGS,), "hospital", "impressions", "section: unknown value 'impressions'"),
        ((LUNGS, Normal("heart_size")), "hospital", "findings", "plan: a joined Normal"),
        ((LUNGS, Denial(())), "hospital", "findings", "plan: a denial of nothing"),
        ((PlannedFinding("nonsense"),), "hospital", "findings", "plan: PlannedFinding of 'nonsense'"),
        ((PlannedFinding("nodule", suggests="x"),), "hospital", "findings", "plan: PlannedFinding of 'x'"),
        ((Denial(("edema", "x")),), "hospital", "findings", "plan: Denial of 'x'"),
        ((Normal("nodule"),), "hospital", "impression", "plan: Normal of 'nodule'"),
        ((Remark("nodule"),), "hospital", "impression", "plan: Remark of 'nodule'"),
    ],
)
def test_a_plan_that_cannot_be_said_is_refused(
    contents: tuple[Meaning, ...], style: Any, section: Any, text: str
) -> None:
    plan = tuple(Statement(at, content, 0, joined=at > 0) for at, content in enumerate(contents))
    with pytest.raises(SyntheticError, match=text):
        realize(plan, style, section)


def test_the_first_statement_opens_a_sentence_though_it_is_joined() -> None:
    assert realize((Statement(0, LUNGS, 0, joined=True),), "hospital").text == "The lungs are clear."


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
    finding = PlannedFinding("consolidation", place="lower_lobe", side="right", suggests="pneumonia")
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
        Statement(1, PlannedFinding("opacity", certainty="uncertain", suggests="pneumonia"), 0),
        Statement(2, Denial(("pneumothorax", "edema")), 0),
        Statement(3, Normal("heart_size"), 0),
    )
    labels = chexpert_labels(load_lexicon(), plan, chest=True)
    assert {name: value for name, value in labels.items() if value is not None} == {
        "Pleural Effusion": 1,
        "Lung Opacity": -1,
        "Pneumonia": -1,
        "Pneumothorax": 0,
        "Edema": 0,
        "Cardiomegaly": 0,
    }


def test_no_finding() -> None:
    lexicon = load_lexicon()
    plan = (
        Statement(0, PlannedFinding("ett", place="above_carina"), 0),
        Statement(1, Denial(("pneumothorax",)), 0),
    )
    labels = chexpert_labels(lexicon, plan, chest=True)
    assert labels["Support Devices"] == 1
    assert labels["No Finding"] == 1
    assert chexpert_labels(lexicon, plan, chest=False)["No Finding"] is None


def test_chexpert_values_all_occur() -> None:
    values = {name: set() for name in CHEXPERT}  # type: ignore[var-annotated]
    for report in generate(2500, 27, modality_anatomy=CHEST):
        assert tuple(report.chexpert) == CHEXPERT
        for name, value in report.chexpert.items():
            values[name].add(value)
    assert all(1 in result for result in values.values())
    assert {-1, 0, 1, None} <= values["Pneumonia"]


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
    ("asked", "match"),
    [
        ({"style": "hosptal"}, r"unknown value 'hosptal'.*hospital, encyclopaedic"),
        ({"modality_anatomy": ("X-Ray", "CHST")}, r"no examination \('X-Ray', 'CHST'\).*X-Ray CHEST"),
        ({"modality_anatomy": [("CT", "CHEST"), ("X-ray", "CHEST")]}, r"no examination \('X-ray', 'CHEST'\)"),
        ({"modality_anatomy": []}, "no examination at all"),
        ({"n": -1}, "-1 reports"),
    ],
)
def test_what_the_generator_cannot_make_is_refused(asked: dict[str, Any], match: str) -> None:
    with pytest.raises(SyntheticError, match=match):
        next(generate(**{"n": 1, **asked}))


def test_seeds_differ() -> None:
    texts = [{report.findings.text for report in generate(50, seed)} for seed in (1, 2)]
    assert len(texts[0] & texts[1]) < 5


def test_streaming_takes_constant_memory() -> None:
    for _ in generate(300, 30):  # fills the caches
        pass
    tracemalloc.start()
    for _ in generate(1500, 31):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3_000_000


def test_min_findings() -> None:
    for report in generate(100, 32, modality_anatomy=("CT", "ABDOMEN-PELVIS"), min_findings=5):
        lexicon = load_lexicon()
        result = [s.content for s in report.plan if isinstance(s.content, PlannedFinding)]
        assert sum(not lexicon.concepts[finding.concept].device for finding in result) >= 5


# --- style, sex, procedures ---


def test_styles_differ() -> None:
    lexicon = load_lexicon()
    length: dict[str, float] = {}
    rare: dict[str, float] = {}
    for style in STYLES:
        reports = list(generate(600, 33, style=style))
        sentences = [
            report.findings.text[s.start : s.end] for report in reports for s in report.findings.sentences
        ]
        length[style] = sum(len(sentence.split()) for sentence in sentences) / len(sentences)
        concepts = [
            lexicon.concepts[s.content.concept]
            for report in reports
            for s in report.plan
            if isinstance(s.content, PlannedFinding)
        ]
        rare[style] = sum(concept.rare for concept in concepts) / len(concepts)
    assert length["encyclopaedic"] > length["hospital"] + 1
    assert rare["encyclopaedic"] > 5 * rare["hospital"]


def test_sexes_keep_their_organs() -> None:
    lexicon = load_lexicon()
    for pair in (("CT", "ABDOMEN-PELVIS"), ("MRI", "PELVIS")):
        for report in generate(200, 34, modality_anatomy=pair):
            other = {"female": "male", "male": "female"}[report.sex]
            for statement in report.plan:
                if isinstance(statement.content, PlannedFinding):
                    assert other not in lexicon.concepts[statement.content.concept].scope.sexes


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


def test_impression_follows_from_the_findings() -> None:
    lexicon = load_lexicon()
    for report in generate(800, 35):
        stated = {s.content.concept for s in report.plan if isinstance(s.content, PlannedFinding)}
        majors = {key for key in stated if lexicon.concepts[key].major and not lexicon.concepts[key].device}
        uids = {s.uid: s.content for s in report.plan}
        sentences = {
            uid for sentence in report.impression.sentences for uid in sentence.statements if uid >= 0
        }
        concepts = {content.concept for uid in sentences if isinstance(content := uids[uid], PlannedFinding)}
        assert concepts <= stated
        assert len(concepts & majors) == min(4, len(majors))


def test_every_attribute_is_said() -> None:
    """Size, side, place, severity, appearance, change, number and diagnosis all stand in the sentences."""
    lexicon = load_lexicon()
    change = re.compile(
        r"unchanged|stable|persistent|changed?\b|similar|redemonstrat|again|new\b|not seen|development|"
        r"increas|worse|larg|progress|enlarg|grow|decreas|improv|small|shrink|prominent"
    )
    for report in generate(1200, 36):
        contents = {statement.uid: statement.content for statement in report.plan}
        texts: dict[int, str] = {}
        for sentence in report.findings.sentences:
            for uid in sentence.statements:
                texts[uid] = (
                    texts.get(uid, "") + " " + report.findings.text[sentence.start : sentence.end].lower()
                )
        for uid, finding in contents.items():
            if not isinstance(finding, PlannedFinding):
                continue
            text, concept = texts[uid], lexicon.concepts[finding.concept]
            if finding.size_mm:
                assert re.search(r"\d (mm|cm)", text), (finding, text)
            if finding.place:
                position = lexicon.places[finding.place]
                forms = [
                    phrase.text.lower()
                    for table in (position.nouns, position.shorts, position.premodifiers)
                    for phrase in table.get(finding.side, ())
                ]
                states = [s.subjects for s in concept.states if s.place == finding.place]
                forms += [p.text.lower() for subjects in states for p in subjects.values()]
                assert any(form in text for form in forms), (finding, text)
            elif finding.side:
                assert finding.side in text, (finding, text)
            if finding.severity is not None and concept.scale:
                scale = lexicon.grammar["scales"][concept.scale]
                words = scale["adjectives"][finding.severity] + scale["adverbs"][finding.severity]
                assert any(word in text for word in words), (finding, text)
            for look in finding.looks:
                assert look.replace("_", " ").lower() in text, (finding, text)
            if finding.change:
                assert change.search(text), (finding, text)
            if finding.suggests:
                names = [name.one.text for name in lexicon.concepts[finding.suggests].names]
                names += [name.many.text for name in lexicon.concepts[finding.suggests].names]
                assert any(name.lower() in text for name in names), (finding, text)
            if finding.many:
                assert any(word in text for word in lexicon.grammar["lists"]["many"]), (finding, text)
