"""The lexicon is complete, consistent and says what it should in every examination."""

from __future__ import annotations

import pytest

from radeval_lib.rules.generator import MIMIC_RRS_PAIRS, STYLES
from radeval_lib.rules.generator.content import build_menu
from radeval_lib.rules.lexicon.entries import MODALITIES, Exam, Scope
from radeval_lib.rules.lexicon.loading import load_lexicon

# Zhao et al. 2024, appendix A.3.
ANATOMIES = {
    *("NECK", "TEETH", "BRAIN", "HEAD", "CHEST", "PELVIS", "ABDOMEN", "CARDIAC", "HEAD-NECK", "SOFT TISSUE"),
    *("UP-EXT", "OB", "EXT", "HIP", "BREAST", "SPINE", "MAMMO", "BRAIN-FACE-NECK", "LOW-EXT", "BONE"),
    *("VASCULAR", "BLADDER"),
}


def exams() -> list[Exam]:
    """Return every kind of examination, of every sex that it is made of."""
    return [
        Exam(protocol.modality, protocol.anatomy, sex, procedure.parts)
        for protocol in load_lexicon().protocols.values()
        for procedure in protocol.procedures
        for sex in ([procedure.sex] if procedure.sex else ["female", "male"])
    ]


def test_all_modalities_and_anatomies_of_ratescore() -> None:
    pairs = load_lexicon().protocols
    assert {modality for modality, _ in pairs} == set(MODALITIES)
    missing = ANATOMIES - {anatomy for _, anatomy in pairs}
    assert not missing


def test_all_pairs_of_mimic_rrs() -> None:
    assert len(MIMIC_RRS_PAIRS) == 12
    assert set(MIMIC_RRS_PAIRS) <= set(load_lexicon().protocols)


def _said(exam: Exam) -> str:
    """Return the same in every process, which a set's own text is not."""
    return " ".join([exam.modality, exam.anatomy, exam.sex, *sorted(exam.parts)])


@pytest.mark.parametrize("exam", exams(), ids=_said)
def test_every_examination_has_enough_to_say(exam: Exam) -> None:
    for style in STYLES:
        card = build_menu(exam, style)
        assert len(card.findings.options) >= 6
        assert {concept.major for concept in card.findings.options} == {True, False}
        assert len(card.deniable.options) >= 4
        assert len([entry for entry in card.normals if not entry.prior]) >= 2


def test_procedure_codes_are_unique() -> None:
    lexicon = load_lexicon()
    assert len(lexicon.procedures) == sum(len(p.procedures) for p in lexicon.protocols.values())


def test_every_name_has_words_and_a_head() -> None:
    for concept in load_lexicon().concepts.values():
        assert all(name.words and name.one.head >= 0 for name in concept.names), concept.key


def test_scope() -> None:
    scope = Scope.from_tags(["MRI", "CT", "female", "SPINE", "cervical"])
    exam = Exam("MRI", "SPINE", "female", frozenset(["cervical"]))
    assert scope.admits(exam)
    assert scope.admits(Exam("CT", "SPINE", "female"))  # an examination of all parts
    for other in (
        Exam("X-Ray", "SPINE", "female"),
        Exam("MRI", "NECK", "female"),
        Exam("MRI", "SPINE", "male"),
        Exam("MRI", "SPINE", "female", frozenset(["lumbar"])),
    ):
        assert not scope.admits(other)
