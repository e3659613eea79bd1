"""The lexicon is complete, consistent and says what it should in every examination."""

from __future__ import annotations

from functools import cache

import pytest

from radeval_lib import own_yaml
from radeval_lib.errors import LexiconError
from radeval_lib.own_yaml import parse
from radeval_lib.rules.generator import MIMIC_RRS_PAIRS, STYLES
from radeval_lib.rules.generator.content import menu
from radeval_lib.rules.lexicon.entries import MODALITIES, Exam, Scope
from radeval_lib.rules.lexicon.loading import FOLDER, load_lexicon, read_lexicon

# Zhao et al. 2024, appendix A.3.
ANATOMIES = {
    *("NECK", "TEETH", "BRAIN", "HEAD", "CHEST", "PELVIS", "ABDOMEN", "CARDIAC", "HEAD-NECK", "SOFT TISSUE"),
    *("UP-EXT", "OB", "EXT", "HIP", "BREAST", "SPINE", "MAMMO", "BRAIN-FACE-NECK", "LOW-EXT", "BONE"),
    *("VASCULAR", "BLADDER"),
}


def exams() -> list[Exam]:
    """Every kind of examination, of every sex that it is made of."""
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
    """The same in every process, which a set's own text is not."""
    return " ".join([exam.modality, exam.anatomy, exam.sex, *sorted(exam.parts)])


@pytest.mark.parametrize("exam", exams(), ids=_said)
def test_every_examination_has_enough_to_say(exam: Exam) -> None:
    for style in STYLES:
        card = menu(exam, style)
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
    scope = Scope.of(["MRI", "CT", "female", "SPINE", "cervical"])
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


def test_a_scope_is_of_a_list_of_tags() -> None:
    with pytest.raises(LexiconError, match="a text, 'CT'"):
        Scope.of("CT")


CHEST, GRAMMAR, PROTOCOLS = "regions/chest.yml", "grammar.yml", "protocols.yml"


@pytest.mark.parametrize(
    ("file", "old", "new", "match"),
    [
        # references to what there is not
        (CHEST, "place: [hilum]", "place: [nowhere]", "unknown place 'nowhere'"),
        (CHEST, "near: [hilum]", "near: [nowhere]", "place 'perihilar': unknown near place 'nowhere'"),
        (
            CHEST,
            'name: "lingula",',
            'name: "lingula", part: tongue,',
            "place 'lingula': unknown part 'tongue'",
        ),
        (CHEST, "hint: [chf]", "hint: [nonsense]", "unknown hint 'nonsense'"),
        (CHEST, "clash: [hyperinflation]", "clash: [nonsense]", "unknown clash 'nonsense'"),
        (CHEST, "advice: [follow_xray]", "advice: [nonsense]", "unknown advice 'nonsense'"),
        (CHEST, "scale: amount", "scale: loudness", "unknown scale 'loudness'"),
        (CHEST, "steps: [1, 3]", "steps: [1, 4]", "steps go beyond the scale 'degree'"),
        (CHEST, "chexpert: Edema", "chexpert: Oedema", "chexpert 'Oedema' is not one of"),
        (CHEST, "only: [X-Ray]", "only: [X-ray]", "unknown tag 'X-ray'"),
        (CHEST, '"toward|<trachea>', '"towards|<trachea>', "unknown place of a state 'towards'"),
        (CHEST, "number: mass", "number: masses", "number 'masses' is not one of count, mass, plural"),
        (CHEST, "{any: [], CT:", "{any: [], ct:", "looks: unknown keys: ct"),
        (CHEST, "number: mass", "number: mass, system: lung", "unknown system 'lung'"),
        (CHEST, "system: lungs", "system: lung", "normal 'lungs_clear': unknown system 'lung'"),
        (CHEST, "allow: [azygos_lobe]", "allow: [azygous_lobe]", "unknown allowed finding 'azygous_lobe'"),
        (CHEST, "excludes: [low_volumes,", "excludes: [volumes,", "unknown excluded finding 'volumes'"),
        (CHEST, "chexpert: [Cardiomegaly]", "chexpert: [Heart]", "unknown observation of CheXpert 'Heart'"),
        (CHEST, '  bones: "osseous', '  bone: "osseous', "bodies: unknown keys: bone"),
        (PROTOCOLS, "regions: [chest]", "regions: [chess]", "X-Ray CHEST: unknown region 'chess'"),
        (PROTOCOLS, "modality: X-Ray", "modality: X-ray", "modality 'X-ray' is not one of"),
        (PROTOCOLS, "sex: female", "sex: woman", "sex 'woman' is not one of female, male"),
        (PROTOCOLS, "earlier: recent", "earlier: lately", "earlier 'lately' is not one of"),
        (PROTOCOLS, "anatomy: CHEST", "anatomy: Chest", "anatomy 'Chest' is not in capitals"),
        (CHEST, "\n  heart:\n", "\n  heart:\n    pneumonia: {name: [x]}\n", "'pneumonia': defined twice"),
        # keys
        (CHEST, "minor: true", "miner: true", "unknown keys: miner"),
        (CHEST, "prep: [at, in]", "prop: [at, in]", "place 'lung_base': unknown keys: prop"),
        (CHEST, "    weight: 9\n", "    wait: 9\n", "normal 'lungs_clear': unknown keys: wait"),
        (CHEST, "encyclopaedic:", "encyclopedic:", "unknown keys: encyclopedic"),
        (CHEST, "  acute:", "  urgent:", "conclusions: unknown keys: urgent"),
        (CHEST, "prior: true}", "earlier: true}", "remark 'chest_compared': unknown keys: earlier"),
        (CHEST, "chest: true", "chess: true", "the file: unknown keys: chess"),
        (CHEST, "normals:", "normal:", "the file: unknown keys: normal"),
        (CHEST, "system: lungs", "sytem: lungs", "normal 'lungs_clear': unknown keys: sytem"),
        (PROTOCOLS, "findings: 0.62", "finding: 0.62", "unknown keys: finding"),
        (PROTOCOLS, "technique:", "technic:", "procedure 'XR_CHEST_2V': unknown keys: technic"),
        (PROTOCOLS, "{complaint:", "{complain:", "reasons 1: unknown keys: complain"),
        (
            GRAMMAR,
            "denial_after_normal:",
            "denial_after_normals:",
            "joined: unknown keys: denial_after_normals",
        ),
        (GRAMMAR, "antonyms:", "antonym:", "the file: unknown keys: antonym"),
        (GRAMMAR, "adverbs:", "adverb:", "scale 'degree': unknown keys: adverb"),
        # values
        (CHEST, "minor: true", 'minor: "no"', "minor is neither true nor false"),
        (CHEST, "common: 6", "common: often", "common is not a number"),
        (CHEST, "size: [3, 8]", "size: [8, 3]", "finding 'granuloma': size is not of the form"),
        (CHEST, "name: [pneumonia]", "name: {a: pneumonia}", "name is neither a text nor a list"),
        (CHEST, '  bones: "osseous structures+"', "  bones:", "bodies: bones is not one text"),
        (CHEST, "name: [pneumonia], ", "", "finding 'pneumonia': neither a name nor a state"),
        (CHEST, "size: [3, 8]", "size: [3, 8], scale: degree", "both a scale and a size"),
        (CHEST, "name: [pneumonia]", "name: ['{pneumonia']", "finding 'pneumonia': phrase"),
        (CHEST, '"<lungs>+: hypoinflated"', '"lungs: hypoinflated"', "'low_volumes': state 'lungs: hypo"),
        (
            CHEST,
            "the <lungs> are (clear)",
            "the <lungs are (clear)",
            "'lungs_clear': sentence 'the <lungs are",
        ),
        (CHEST, "chest: true", "chest: [", "not valid YAML"),
        (CHEST, "  rv: {", "  ra: {", "a key stands twice"),
    ],
)
def test_mistakes_name_file_and_entry(
    monkeypatch: pytest.MonkeyPatch, file: str, old: str, new: str, match: str
) -> None:
    text = (FOLDER / file).read_text(encoding="utf-8")
    assert old in text
    changed = text.replace(old, new, 1)
    monkeypatch.setattr(
        own_yaml, "read", lambda path: parse(changed) if path == FOLDER / file else _content(path)
    )
    with pytest.raises(LexiconError) as caught:
        read_lexicon(FOLDER)
    assert match in caught.value.what
    assert caught.value.where == f"lexicon/{file}"


_content = cache(own_yaml.read)
