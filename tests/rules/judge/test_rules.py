"""The judge by rules: each category, its significance, matched findings, and planted errors."""

import re
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radeval_lib.errors import RadevalError
from radeval_lib.metrics import green
from radeval_lib.rules.generator import error_pairs, rewrite
from radeval_lib.rules.generator.records import SyntheticError
from radeval_lib.rules.judge import RulesJudge, judge_pair
from radeval_lib.rules.lexicon.significance import Context, grade_significance


def kinds(reference, candidate):
    return [(error.category, error.significant) for error in judge_pair(reference, candidate).errors]


MIRRORED = {"left": "right", "right": "left", "Left": "Right", "Right": "Left"}


@pytest.mark.parametrize(
    ("text", "significant"),
    [
        ("In the left midlung zone there is identified a 1.5 cm nodule.", True),
        ("In the left lung base, there is a nodule. No effusion.", True),
        ("On the left there is a pneumothorax.", True),
        ("Nodule in the left midlung zone.", True),
        ("Right lower lung granuloma.", False),
        ("Stable granuloma of the right lower lung.", False),
        ("Bandlike opacity, which may represent left lower lobe pneumonia.", True),
        ("Surgical clips in the right upper quadrant.", False),
        ("Left lung: Pneumothorax.", True),
        ("Chest: No pneumothorax. Left knee: There is a fracture. No dislocation.", True),
        ("Left knee:\nThere is a fracture.", True),
        ("Lungs are clear. Right shoulder: There are severe degenerative changes.", False),
    ],
)
def test_the_other_side_is_an_error_wherever_it_is_said(text, significant):
    other = re.sub("[Ll]eft|[Rr]ight", lambda side: MIRRORED[side.group()], text)
    assert kinds(text, other) == kinds(other, text) == [("c", significant)]
    assert kinds(text, text) == []


@pytest.mark.parametrize(
    ("stated", "denied", "significant"),
    [
        ("Left pneumothorax.", "pneumothorax", True),
        ("There is a small left apical pneumothorax.", "pneumothorax", True),
        ("On the left, there is a pneumothorax.", "pneumothorax", True),
        ("Left pneumothorax has not resolved.", "pneumothorax", True),
        ("There is no tension component to the left pneumothorax.", "pneumothorax", True),
        ("Lucency at the left apex, consistent with pneumothorax.", "pneumothorax", True),
        ("Opacity in the left base.", "opacity", True),
        ("Granuloma in the left base.", "granuloma", False),
    ],
)
def test_to_deny_what_the_other_states_is_an_error(stated, denied, significant):
    denial = f"No evidence of {denied}."
    assert ("b", significant) in kinds(stated, denial)
    assert ("a", significant) in kinds(denial, stated)


def test_a_candidate_that_also_denies_what_it_states_is_in_error():
    stated = "Left pneumothorax. Normal heart size."
    assert kinds(stated, f"{stated} No evidence of pneumothorax.") == [("b", True)]
    for partly in ("No large pneumothorax.", "No right pneumothorax.", "No new pneumothorax."):
        assert kinds(stated, f"{stated} {partly}") == []
    both = f"{stated} No pneumothorax."
    assert kinds(both, both) == []


@pytest.mark.parametrize(
    "text",
    [
        "Chest: There are mild degenerative changes. Right knee: There are severe degenerative changes. "
        "Left knee: There is joint space loss. There is no fracture.",
        "Bilateral nodules. A 2 cm nodule in the right lung. A 1 cm nodule in the right lung. Small nodule.",
        "Left effusion, increased. Right effusion. Residual small effusions. Effusion, stable.",
    ],
)
def test_the_order_of_sentences_changes_nothing(text):
    candidate = "Severe degenerative changes. Left effusion. Nodule."
    for order in permutations(re.split(r"(?<=[.])\s+", text)):
        other = " ".join(order)
        assert kinds(text, other) == kinds(other, text) == []
        assert kinds(other, candidate) == kinds(text, candidate)


def test_a_graver_error_weighs_more():
    missed = {
        name: judge_pair(f"{text}.", "").weighted_errors
        for name, text in {
            "pneumothorax": "Pneumothorax",
            "effusion": "Effusion",
            "spine": "Scoliosis",
        }.items()
    }
    assert missed["pneumothorax"] > missed["effusion"] > missed["spine"] > 0


def test_a_relative_of_a_finding_weighs_less_than_missing_it():
    relative = judge_pair("Right lower lobe pneumonia.", "Right lower lobe consolidation.").weighted_errors
    missing = judge_pair("Right lower lobe pneumonia.", "").weighted_errors
    assert 0 < relative < missing


def test_shared_negatives_and_normal_statements_match():
    judgement = judge_pair("No pneumothorax. The lungs are clear.", "Lungs clear. No pneumothorax.")
    assert judgement.matched == ()
    assert len(judgement.agreed_negatives) == judgement.matched_findings == 2


def test_a_diagnosis_matches_its_sign():
    judgement = judge_pair("Left basilar opacity, likely atelectasis.", "Left basilar atelectasis.")
    assert judgement.count(True) == (0,) * 6
    assert judgement.links == (("opacity", "atelectasis", "sign and diagnosis"),)


def test_every_error_states_its_rule_and_place():
    reference = "Moderate right effusion. No pneumothorax."
    (error,) = judge_pair(reference, "Moderate right effusion. Small left pneumothorax.").errors
    assert error.text == "Small pneumothorax (left)"
    assert "rules it out" in error.rule
    assert "urgent" in error.rule
    assert reference[slice(*error.reference_span)] == "pneumothorax"


def test_the_analysis_is_read_back_by_both_parsers():
    for pair in error_pairs(40, seed=3):
        reference, candidate = pair.reference.findings.text, pair.candidate.findings.text
        judgement = judge_pair(reference, candidate)
        (analysis,) = RulesJudge().judge([(reference, candidate)])
        strict, released = green.parse(analysis, "strict"), green.parse(green.clean(analysis), "reference")
        assert strict.faults == ()
        assert strict.significant == released.significant == judgement.count(True)
        assert strict.insignificant == released.insignificant == judgement.count(False)
        assert strict.matched == released.matched == judgement.matched_findings


def test_planted_errors_are_found_in_other_words():
    """Significant errors by category, micro-F1 over held-out pairs whose candidates are said again."""
    hit = wrong = missed = 0
    for pair in error_pairs(150, seed=4711, modality_anatomy=("X-Ray", "CHEST")):
        try:
            candidate = rewrite(pair.candidate, seed=1)
        except SyntheticError:
            candidate = pair.candidate
        judgement = judge_pair(pair.reference.findings.text, candidate.findings.text)
        for gold, result in zip(pair.comparison.count(True).values(), judgement.count(True), strict=True):
            hit, wrong, missed = (
                hit + min(gold, result),
                wrong + max(result - gold, 0),
                missed + max(gold - result, 0),
            )
    assert 2 * hit / (2 * hit + wrong + missed) >= 0.80


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 400))
def test_a_report_against_itself_has_no_error(number):
    (pair,) = error_pairs(1, seed=77, start=number)
    judgement = judge_pair(pair.reference.findings.text, pair.reference.findings.text)
    assert judgement.errors == ()
    assert judgement.weighted_errors == 0


def test_an_unknown_observation_is_grave_unless_the_lexicon_says_minor():
    assert grade_significance("something_new").major
    assert not grade_significance("atelectasis").major


@pytest.mark.parametrize(
    ("item", "other"),
    [
        ("Opacity in the left base.", "Consolidation in the left base."),
        ("Left basilar airspace disease.", "Left basilar pneumonia."),
        ("Degenerative changes of the spine.", "Osteophytes of the spine. Disc space narrowing."),
        ("Support devices in place.", "Endotracheal tube in place. PICC line in place."),
        ("Opacity in the left base.", "Consolidation in the left base. Opacity in the left base."),
    ],
)
def test_a_coarser_name_is_neither_the_same_nor_an_error(item, other):
    there, back = judge_pair(item, other), judge_pair(other, item)
    assert there.errors == back.errors == ()
    assert 0 < there.weighted_errors == back.weighted_errors < judge_pair(other, "").weighted_errors


@pytest.mark.parametrize(
    ("item", "other"),
    [
        ("Opacity in the left base. No consolidation.", "Consolidation in the left base."),  # denied
        ("Opacity in the left base.", "Consolidation in the right upper lobe."),  # elsewhere
        ("Dextroscoliosis.", "Levoscoliosis."),  # two kinds of one finding
    ],
)
def test_what_no_coarser_name_covers(item, other):
    assert {"a", "b"} <= {category for category, _ in kinds(item, other)}


def test_a_bilateral_finding_is_one_of_each_side():
    both, each = "Bilateral effusions.", "Left effusion. Right effusion."
    assert kinds(both, each) == kinds(each, both) == []
    assert kinds(both, "Left effusion.") == [("c", True)]
    assert kinds(both, "Small left effusion. Right effusion, increased.") == [("e", True)]


def test_a_name_that_two_regions_share_is_one_finding():
    small = "There is a small pericardial effusion."
    heart = f"Stenosis of the left circumflex artery. {small} The left ventricle is dilated."
    assert {category for category, _ in kinds(heart, small)} == {"b"}
    assert not [error for error in judge_pair(heart, small).errors if "pericardial" in error.text]


def test_age_and_indication_change_what_matters():
    def weight(text, **settings):
        return judge_pair(text, "", context=Context(**settings)).weighted_errors

    calcified, fracture = "Aortic calcification.", "Left rib fracture."
    assert weight(calcified, age=25) == 0.25  # unusual
    assert weight(calcified, age=80) == weight(calcified) == judge_pair(calcified, "").weighted_errors == 0.1
    assert weight(fracture, indication="MVC, chest pain") == 1.0
    assert weight(fracture, indication="Cough") == weight(fracture) == 0.5
    assert judge_pair("Granuloma.", "", context=Context(indication="Positive PPD")).errors[0].significant
    asked = f"INDICATION: MVC, chest pain. FINDINGS: {fracture}"
    assert judge_pair(asked, "").weighted_errors == 1.0
    assert weight(asked, indication="Cough") == judge_pair(fracture, asked).weighted_errors + 0.5 == 0.5
    assert "expected at this age" in judge_pair(calcified, "", context=Context(70)).errors[0].rule


@pytest.mark.parametrize("age", [-1, 131])
def test_an_age_that_cannot_be(age):
    with pytest.raises(RadevalError):
        Context(age)
