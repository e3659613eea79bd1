"""The fourteen observations on templates, denied changes and sections, with the labels decided by hand."""

import pytest

from radeval_lib.metrics.observations import coded, codes, label


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("No change in the left pneumothorax.", "Pneumothorax", 1),
        ("No worsening of pulmonary edema.", "Edema", 1),
        ("The pneumothorax has not resolved.", "Pneumothorax", 1),
        ("The effusion has almost completely resolved.", "Pleural Effusion", 1),
        ("The effusion has disappeared.", "Pleural Effusion", 0),
        ("No enlargement of the heart.", "Cardiomegaly", 0),
        ("Pneumothorax: none. Effusion: small.", "Pneumothorax", 0),
        ("Pneumothorax: none. Effusion: small.", "Pleural Effusion", 1),
        ("EFFUSION: ABSENT\nPNEUMOTHORAX: PRESENT", "Pleural Effusion", 0),
        ("EFFUSION: ABSENT\nPNEUMOTHORAX: PRESENT", "Pneumothorax", 1),
        ("HISTORY: Pneumonia. FINDINGS: Clear lungs.", "Pneumonia", None),
        ("No focal consolidation concerning for pneumonia.", "Pneumonia", 0),
        ("No focal consolidation concerning for pneumonia.", "Consolidation", 0),
        ("Consolidation concerning for pneumonia.", "Pneumonia", -1),
        ("Cannot exclude pneumonia.", "Pneumonia", -1),
        ("Pneumonia cannot be entirely excluded.", "Pneumonia", -1),
        ("Possible small effusion, without pneumothorax.", "Pneumothorax", 0),
        ("Possible small effusion, without pneumothorax.", "Pleural Effusion", -1),
        ("Opacities may be due to edema.", "Edema", -1),
        ("Opacities due to edema.", "Edema", 1),
        ("Opacity which may be compatible with atelectasis.", "Atelectasis", -1),
        ("Calcified nodes of old granulomatous infection.", "Pneumonia", None),
        ("The heart is slightly large.", "Cardiomegaly", 1),
        ("Soft tissue edema of the arm.", "Edema", None),
        ("No pneumothorax\\nSmall left effusion", "Pneumothorax", 0),
        ("No pneumothorax\\nSmall left effusion", "Pleural Effusion", 1),
    ],
)
def test_what_is_said_of_an_observation(text, name, value):
    assert label(text)[name] == value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Probable small effusion, possible pneumonia.", {"Effusion"}),
        ("Scarring or atelectasis at the base.", {"Atelectasis"}),
        ("Opacity which may represent atelectasis or pneumonia.", set()),
        ("Blunted costophrenic angle. Central vascular congestion.", set()),
        ("No pleural effusion or pneumothorax. Apical pleural thickening.", {"Pleural_Thickening"}),
        ("Cystic fibrosis. Nodular opacity. Calcified nodule.", {"Nodule"}),
        ("The lungs are clear.", set()),
    ],
)
def test_what_people_would_code(text, expected):
    assert coded(text) == expected


def test_codes_are_those_of_the_data_set():
    from radeval_lib.data.openi_labels import LABELS

    assert codes() == LABELS
