"""No name holds a word that the reader needs to say how much, where, or since when."""

import pytest

from radeval_lib.rules.reader.phrases import Phrases
from radeval_lib.rules.reader.vocabulary import add_bones, expand_region, find_neighbours, load_vocabulary

PART_OF_A_NAME = [
    # anatomy
    "small bowel", "small vessel", "large vessel", "small airway", "minor fissure", "left atrium",
    "left atrial",
    "left ventricular", "left ventricle", "right ventricular", "right heart", "right coronary",
    "left renal vein",
    "right aortic arch", "right sided aortic arch", "right sided arch", "right cardiac silhouette",
    "right aortic xxxx", "right sided aortic xxxx",
    "large vascular territory", "left anterior descending",
    # a finding that is a small, a large or an increased thing, whatever is said of its degree
    "increased density", "increased pulmonary vascularity", "increased vascularity", "increased marking",
    "increased interstitial", "increased lung marking", "increased pulmonary marking",
    "increased bronchovascular",
    "increased renal cortical",
    "increased thyroid", "increased bowel", "decreased lung volume", "small lung volume",
    "reduced lung volume",
    "decreased inspiration", "decreased inspiratory", "decreased bladder", "reduced bladder", "reduced left",
    "diminished lung volume", "diminished inspiratory", "small lymph node", "complete occlusion",
    "complete hydatidiform",
    "postvoid residual", "periosteal new bone", "developing asymmetry", "rightward curvature",
    "leftward curvature",
    "rightward deviation",
]  # fmt: skip
"""Words that belong to a name, with the words that show it."""


def test_no_name_holds_a_word_of_degree_side_or_change():
    settings = load_vocabulary()
    needed = {
        words[0]
        for phrases in (settings.degrees, settings.sides, settings.changes)
        for words in phrases.list_phrases()
        if len(words) == 1
    }
    swallowed = [
        name
        for name in map(" ".join, settings.observations.list_phrases())
        if needed & set(name.split()) and not any(part in name for part in PART_OF_A_NAME)
    ]
    assert swallowed == []


def test_numbered_places():
    assert expand_region("t11-l2") == ("t11", "t12", "l1", "l2")
    near = find_neighbours({"thoracolumbar": "t11-l2"})
    assert near["t11"] == {"t10", "t12", "thoracolumbar"}
    assert near["c1"] == {"c2"}
    assert near["rib_12"] == {"rib_11"}
    assert len(add_bones(frozenset(["ribs"]))) == 1 + 12
    assert len(add_bones(frozenset(["spine"]))) == 1 + 7 + 12 + 5
    for bad in ("l2-t11", "t1-t13", "t1"):
        with pytest.raises(ValueError):
            expand_region(bad)


def test_a_phrase_has_a_word():
    with pytest.raises(ValueError):
        Phrases([("-", 1)])
