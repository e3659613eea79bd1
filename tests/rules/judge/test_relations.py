"""Metamorphic relations: changes by hand, relations on generated reports, and that they can fail."""

import pytest

from radeval_lib.rules.generator import generate
from tests.rules.judge import relations
from tests.rules.judge.relations import (
    DELETED,
    DENIED,
    FORMS,
    GROWN,
    IDENTITY,
    MOVED,
    SWAPPED,
    denial,
    lone_findings,
    other_side,
    tripled,
    violation_rates,
)

TEXT = "The lungs are clear. Small left effusion. No pneumothorax"


def test_forms_by_hand():
    assert FORMS["order of sentences"](TEXT) == "No pneumothorax. Small left effusion. The lungs are clear."
    assert FORMS["numbered list in one line"]("A. B.") == "1. A. 2. B."
    assert FORMS["numbered list, a line each"]("A. B.") == "1. A.\n2. B."
    assert FORMS["repeated sentences"]("A. B") == "A. B. A. B."
    assert FORMS["a sentence a line, no full stops"]("A. B.") == "A\nB"
    assert FORMS["line ends typed"]("A. B.") == r"A.\nB."
    assert FORMS["dashes in one line"]("A. B.") == "- A - B"


@pytest.mark.parametrize(
    ("text", "lone"),
    [
        (TEXT, [1]),
        ("Small left effusion. Blunting of the angle.", []),  # relatives
        ("Possible left effusion.", []),
        ("Left effusion and nodule.", []),
        ("Nodule: 2 cm.", []),
        ("XXXX nodule.", []),
        ("The heart is normal. There is a 2 cm nodule. Scoliosis.", [1, 2]),
    ],
)
def test_findings_that_stand_alone(text, lone):
    assert [position for _, position in lone_findings(text)] == lone


def test_changes_of_a_sentence_by_hand():
    assert denial("There is a small left effusion.") == "There is no small left effusion."
    assert denial("Small left effusion.") == "No evidence of small left effusion."
    assert denial("Stable nodule.") is denial("The nodule is seen.") is denial("") is None
    assert other_side("Nodule in the left lung.") == "Nodule in the right lung."
    assert other_side("Left nodule.") == "Right nodule."
    assert other_side("RIGHT NODULE.") == "LEFT NODULE."
    assert other_side("An upright view: right effusion.") == "An upright view: left effusion."
    assert other_side("Bright right nodule.") == "Bright left nodule."
    assert other_side("Left and right nodules.") is other_side("Nodule.") is None
    assert tripled("A 2.5 cm nodule.") == "A 7.5 cm nodule."
    assert tripled("Tip 2 cm above the carina.") is tripled("2 x 3 cm nodule.") is None


def test_relations_hold_on_generated_reports():
    texts = [report.findings.text for report in generate(120, seed=5, modality_anatomy=("X-Ray", "CHEST"))]
    result = violation_rates(texts)
    assert result["rate"].max() <= 0.01
    assert {DELETED, DENIED, MOVED, SWAPPED} <= set(result.index)
    assert result.loc[DELETED, "tries"] >= 30


def test_a_judge_that_is_blind_to_something_violates_its_relation(monkeypatch):
    """With a judge that reads nothing, every change of a finding is a violation, and no form is."""
    blind = relations.judge_pair("", "")
    monkeypatch.setattr(relations, "judge_pair", lambda *pair: blind)
    result = violation_rates([TEXT, "There is a 2 cm nodule in the left lung."])["rate"]
    changed = [DELETED, DENIED, MOVED, GROWN]
    assert result[changed].tolist() == [1.0] * 4
    assert result.drop(changed).eq(0).all()


def test_a_judge_that_sees_letters_violates_the_forms(monkeypatch):
    judge = relations.judge_pair

    def pedant(reference, candidate):
        return judge(reference, candidate if reference == candidate else "Large pneumothorax.")

    monkeypatch.setattr(relations, "judge_pair", pedant)
    longer = f"{TEXT}. There is a 2 cm nodule in the left upper lobe."
    result = violation_rates([longer, f"{longer} Scoliosis of the thoracic spine."])["rate"]
    assert result[list(FORMS)].gt(0).all()
    assert result[IDENTITY] == 0
