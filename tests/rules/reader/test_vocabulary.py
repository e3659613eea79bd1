"""No name holds a word that the reader needs to say how much, where, or since when."""

import pytest

from radeval_lib import own_yaml
from radeval_lib.errors import LexiconError
from radeval_lib.rules.lexicon.entry import Entry
from radeval_lib.rules.lexicon.loading import load_lexicon
from radeval_lib.rules.reader import numbered_places, reading_words
from radeval_lib.rules.reader.phrases import Phrases
from radeval_lib.rules.reader.reading_words import FILE, read_words
from radeval_lib.rules.reader.vocabulary import vocabulary

PARTS = own_yaml.read(FILE)
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
    known = vocabulary()
    needed = {
        words[0]
        for phrases in (known.degrees, known.sides, known.changes)
        for words in phrases.entries()
        if len(words) == 1
    }
    swallowed = [
        name
        for name in map(" ".join, known.observations.entries())
        if needed & set(name.split()) and not any(part in name for part in PART_OF_A_NAME)
    ]
    assert swallowed == []


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("names:\n  pleural_effusion:", "names:\n  pleural_efusion:", "names: unknown observation"),
        ("  lungs_clear: [lung,", "  lung_clear: [lung,", "structures: unknown structure 'lung_clear'"),
        ("stable: [heart_size,", "stable: [hart_size,", "stable: unknown structure 'hart_size'"),
        ("placeless: [cardiomegaly,", "placeless: [cardiomegalie,", "placeless: unknown observation"),
        (
            "{bones_intact: bone_abnormality}",
            "{bones_intact: bones}",
            "no_abnormality: unknown observation 'bones'",
        ),
        ("{bones_intact: bone_abnormality}", "{bones: bone_abnormality}", "unknown structure 'bones'"),
        (
            "    wide_mediastinum: [",
            "    mediastinum_wide: [",
            "states: unknown observation 'mediastinum_wide'",
        ),
        ("  ett: [malposition,", "  ett: [malpositoin,", "malpositions: unknown place 'malpositoin'"),
        ("  ett: [malposition,", "  tube: [malposition,", "malpositions: unknown observation 'tube'"),
        ("  rib_fracture: [ribs]", "  rib_fracture: [rib]", "usual_places: unknown place 'rib'"),
        ("seldom_denied: [atelectasis", "seldom_denied: [atelectases", "seldom_denied: unknown observation"),
        (
            "  pneumonia: [aspiration]",
            "  pneumonia: [aspirations]",
            "kinds: unknown observation 'aspirations'",
        ),
        ("  - [edema, congestion,", "  - [oedema, congestion,", "families: unknown observation 'oedema'"),
        ("  ribs: rib_1-rib_12", "  ribs: rib_12-rib_1", "numbered: ribs is not of the form"),
        ("  spine: c1-l5", "  spines: c1-l5", "numbered: unknown place 'spines'"),
        ("hedge_after:", "hedges_after:", "the file: unknown keys: hedges_after"),
    ],
)
def test_mistakes_name_the_file_and_the_part(tmp_path, old, new, match):
    text = FILE.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / FILE.name
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(LexiconError) as caught:
        read_words(path, load_lexicon())
    assert match in caught.value.what
    assert caught.value.where == "findings/reading.yml"


@pytest.mark.parametrize("value", ["abc", 5, [5], [["nested", 1]], [{"x": ["y"]}], {"x": 5}, {"x": {"y": 1}}])
def test_a_part_of_the_wrong_kind_is_named(monkeypatch, value):
    for part in PARTS:
        changed = Entry({**PARTS, part: value}, "the file", "findings/reading.yml", " ".join(PARTS))
        monkeypatch.setattr(reading_words, "read_entry", lambda *_, changed=changed: changed)
        with pytest.raises(LexiconError, match=f"the file: {part} is not a "):
            read_words(FILE, load_lexicon())


def test_numbered_places():
    assert numbered_places.within("t11-l2") == ("t11", "t12", "l1", "l2")
    near = numbered_places.neighbours({"thoracolumbar": "t11-l2"})
    assert near["t11"] == {"t10", "t12", "thoracolumbar"}
    assert near["c1"] == {"c2"}
    assert near["rib_12"] == {"rib_11"}
    assert len(numbered_places.with_numbered(frozenset(["ribs"]))) == 1 + 12
    assert len(numbered_places.with_numbered(frozenset(["spine"]))) == 1 + 7 + 12 + 5
    for bad in ("l2-t11", "t1-t13", "t1"):
        with pytest.raises(ValueError, match=r"empty|not in tuple"):
            numbered_places.within(bad)


def test_a_phrase_has_a_word():
    with pytest.raises(ValueError, match="without a word"):
        Phrases([("-", 1)])
