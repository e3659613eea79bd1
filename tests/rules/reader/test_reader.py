"""The reader on sentences whose findings were written down by hand, and its invariants."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radeval_lib.rules.generator import Denial, PlannedFinding, generate
from radeval_lib.rules.reader import Location, read


def stated(text):
    return [(finding.observation, finding.presence) for finding in read(text).findings]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Small left pleural effusion.", [("pleural_effusion", "present")]),
        (
            "No focal consolidation, effusion, or pneumothorax.",
            [("consolidation", "absent"), ("pleural_effusion", "absent"), ("pneumothorax", "absent")],
        ),
        ("No pneumothorax, small left nodule.", [("pneumothorax", "absent"), ("nodule", "present")]),
        ("No pneumothorax but a nodule is seen.", [("pneumothorax", "absent"), ("nodule", "present")]),
        (
            "Opacity, suggestive of pneumonia.",
            [("opacity", "present"), ("pneumonia", "uncertain")],
        ),
        ("Pneumonia cannot be excluded.", [("pneumonia", "uncertain")]),
        (
            "No airspace opacity to suggest pneumonia.",
            [("airspace_disease", "absent"), ("pneumonia", "absent")],
        ),
        ("The pneumothorax has resolved.", [("pneumothorax", "absent")]),
        ("The pneumothorax has not resolved.", [("pneumothorax", "present")]),
        ("Lower lung volumes.", [("low_volumes", "present")]),
        ("No change in the pneumothorax.", [("pneumothorax", "present")]),
        ("No new consolidation.", [("consolidation", "absent")]),
        ("Atelectasis or scarring.", [("atelectasis", "uncertain"), ("scarring", "uncertain")]),
        ("The heart is mildly enlarged.", [("cardiomegaly", "present")]),
        ("The heart is not enlarged.", [("cardiomegaly", "absent")]),
        ("Calcified left hilar lymph XXXX.", [("calcified_nodes", "present")]),
        (
            "No pneumothorax, moderate cardiomegaly, no edema or effusion.",
            [
                ("pneumothorax", "absent"),
                ("cardiomegaly", "present"),
                ("edema", "absent"),
                ("pleural_effusion", "absent"),
            ],
        ),
        (
            "No pneumothorax, left opacity may represent atelectasis or pneumonia.",
            [
                ("pneumothorax", "absent"),
                ("opacity", "present"),
                ("atelectasis", "uncertain"),
                ("pneumonia", "uncertain"),
            ],
        ),
        (
            "Likely atelectasis rather than pneumonia.",
            [("atelectasis", "uncertain"), ("pneumonia", "absent")],
        ),
        (
            "Likely cardiomegaly, left greater than right effusions.",
            [("cardiomegaly", "uncertain"), ("pleural_effusion", "present")],
        ),
        (
            "Opacity likely atelectasis, greater than the effusion.",
            [("opacity", "present"), ("atelectasis", "uncertain"), ("pleural_effusion", "present")],
        ),
        (
            "No effusion / pneumothorax, heart is enlarged.",
            [("pleural_effusion", "absent"), ("pneumothorax", "absent"), ("cardiomegaly", "present")],
        ),
        ("Recommend CT to exclude malignancy.", []),
        ("History of pneumonia.", []),
        ("Healed left rib fractures.", [("healed_rib", "present")]),
        ("Chest tube tip projects outside the thoracic cavity.", [("chest_tube", "present")]),
        ("", []),
        ("XXXX XXXX.", []),
    ],
)
def test_presence(text, expected):
    assert stated(text) == expected


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Opacity in the right lower lobe.", {Location("lower_lobe", "right")}),
        ("Bibasilar atelectasis.", {Location("lung_base", "bilateral")}),
        ("Left effusion.", {Location(None, "left")}),
        ("Effusions, left greater than right.", {Location(None, "bilateral")}),
        (
            "Opacity in the right upper and lower lobes.",
            {Location("upper_lobe", "right"), Location("lower_lobe", "right")},
        ),
        ("The left hemidiaphragm is elevated.", {Location(None, "left")}),
        ("Cardiomegaly.", set()),
        ("In the left base, there is a nodule.", {Location("lung_base", "left")}),
        ("The left XXXX is seen, there is a nodule.", set()),
        ("Right lower lung granuloma.", {Location("lower_lobe", "right")}),
        ("There is a left knee fracture.", {Location(None, "left")}),
    ],
)
def test_location(text, places):
    (finding,) = read(text).findings
    assert set(finding.locations) == places


@pytest.mark.parametrize(
    ("text", "outright"),
    [
        ("No focal opacity, pleural effusion or pneumothorax.", [False, True, True]),
        ("No evidence of effusion.", [True]),
        ("No large effusion.", [False]),
        ("No effusion on the left.", [False]),
        ("Effusion.", [False]),
    ],
)
def test_what_is_denied_as_such(text, outright):
    assert [finding.outright for finding in read(text).findings] == outright


@pytest.mark.parametrize(
    ("text", "presence", "position"),
    [
        ("Effusion on the left, not the right.", "present", Location(None, "left")),
        ("Effusion on the left and not on the right.", "present", Location(None, "left")),
        ("Left effusion, none on the right.", "present", Location(None, "left")),
        ("Left effusion with none on the right.", "present", Location(None, "left")),
        ("Left effusion, not seen on the right side.", "present", Location(None, "left")),
        ("Left effusion, is absent on the right, unchanged.", "present", Location(None, "left")),
        ("Pleural effusion in the left, absent on the right.", "present", Location(None, "left")),
        ("Effusion on the left, none on the right at this time.", "present", Location(None, "left")),
        ("Effusion on the left, none on the right since the prior exam.", "present", Location(None, "left")),
        ("Consolidation on the left, absent on the right previously.", "present", Location(None, "left")),
        ("Opacity in the right base, not in the left base.", "present", Location("lung_base", "right")),
        ("Opacity (not left) at the right base.", "present", Location("lung_base", "right")),
        ("No effusion on the left, none on the right.", "absent", Location(None, "bilateral")),
        ("No left effusion, not on the right.", "absent", Location(None, "bilateral")),
        ("Effusion on the left, not only on the right.", "present", Location(None, "bilateral")),
    ],
)
def test_a_denied_side_is_not_one_of_the_finding(text, presence, position):
    assert [(finding.presence, finding.locations) for finding in read(text).findings] == [
        (presence, (position,))
    ]


def test_what_follows_a_denied_side_is_stated():
    (effusion, atelectasis) = read("Left effusion, absent on the right, with atelectasis.").findings
    assert (effusion.presence, effusion.locations) == ("present", (Location(None, "left"),))
    assert (atelectasis.presence, atelectasis.locations) == ("present", ())


def test_attributes():
    (nodule,) = read("The 2.3 x 1.8 cm nodule in the left upper lobe has increased in size.").findings
    assert nodule.size_mm == (23.0, 18.0)
    assert nodule.change == "increased"
    (effusion,) = read("Moderate left effusion, unchanged.").findings
    assert (effusion.severity, effusion.change) == (2, "unchanged")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8 mm", (8.0,)),
        ("1.2 x 0.8 x 0.5 cm", (12.0, 8.0, 5.0)),
        ("8 x 12 millimetres", (8.0, 12.0)),
        ("1.2 centimetres", (12.0,)),
        # each number has its own unit
        ("8 mm x 1.2 cm", (8.0, 12.0)),
        ("1 cm by 8 mm", (10.0, 8.0)),
    ],
)
def test_sizes_are_in_millimetres(text, expected):
    (nodule,) = read(f"Nodule in the right lung measuring {text}.").findings
    assert nodule.size_mm == expected


@pytest.mark.parametrize(
    ("before", "now", "change"),
    [
        # a factor of 1.15 and more
        ("10 mm", "11 mm", "unchanged"),
        ("10 mm", "12 mm", "increased"),
        ("12 mm", "1 cm", "decreased"),
        ("0 mm", "5 mm", "increased"),
    ],
)
def test_a_change_follows_from_sizes(before, now, change):
    (nodule,) = read(f"Right lung nodule, previously {before}, now {now}.").findings
    assert nodule.change == change


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("The lungs are clear.", ["lungs_clear"]),
        ("Normal heart size and pulmonary vascularity.", ["heart_size", "vascularity"]),
        ("The lungs are well expanded.", ["lungs_expanded"]),
        ("The lungs are clear of focal consolidation.", []),
        ("Stable cardiomediastinal silhouette.", ["silhouette_stable"]),
        ("The soft tissues are unremarkable.", ["soft_tissues"]),
    ],
)
def test_normal_statements(text, keys):
    assert [normal.key for normal in read(text).normals] == keys


def test_an_ambiguous_name_follows_the_rest_of_the_report():
    breast = (
        "There is a mass in the upper outer quadrant of the left breast. "
        "No architectural distortion. No suspicious microcalcifications."
    )
    chest = "There is a mass in the left upper lobe. No pneumothorax."
    assert stated(breast)[0] == ("breast_mass", "present")
    assert stated(chest)[0] == ("lung_mass", "present")


def test_a_diagnosis_is_linked_to_its_sign():
    sign, diagnosis = read("Right basilar opacity, which may represent atelectasis.").findings
    assert sign.sign_of == (1,)
    assert diagnosis.presence == "uncertain"


@given(st.text(max_size=300))
def test_any_text_is_read_and_spans_lie_within_it(text):
    for finding in read(text).findings:
        assert text[finding.start : finding.end] == finding.words


@pytest.mark.parametrize("sentence", ["No effusion,", "No collapse, effusion,", "No change, no effusion,"])
def test_a_denial_cut_off_at_a_comma_is_read(sentence):
    assert {finding.presence for finding in read(sentence).findings} == {"absent"}


def test_generated_reports_are_read_as_they_were_meant():
    """The lexicon is turned round: what the generator says in its words, the reader finds in the text."""
    result = missed = 0
    for report in generate(150, seed=915, modality_anatomy=("X-Ray", "CHEST")):
        reading = read(report.findings.text)
        text = {(finding.observation, finding.presence == "absent") for finding in reading.findings}
        meant = set()
        for statement in report.plan:
            content = statement.content
            if isinstance(content, PlannedFinding):
                meant.add((content.concept, False))
            elif isinstance(content, Denial):
                meant |= {(key, True) for key in content.concepts}
        result += len(meant & text)
        missed += len(meant - text)
    assert result / (result + missed) >= 0.95
