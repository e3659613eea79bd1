"""The fourteen observations on templates, denied changes and sections, with the labels decided by hand."""

import pytest

from radeval_lib.metrics.observations import label


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
        ("No pneumothorax\\nSmall left effusion", "Pneumothorax", 0),
        ("No pneumothorax\\nSmall left effusion", "Pleural Effusion", 1),
    ],
)
def test_what_is_said_of_an_observation(text, name, value):
    assert label(text)[name] == value
