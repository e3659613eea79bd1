"""Reports laid out as people have them: their statements, sections, and places in the original."""

from textwrap import fill

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radeval_lib.rules.report_text import findings, sections, statements, tokenize

#: What each layout of :data:`LAYOUTS` holds.
PARTS = [
    "Small left effusion",
    "No pneumothorax",
    "The 2.5 cm nodule in the right base is unchanged",
    "CABG clips",
]
LAYOUTS = {
    "sentences": ". ".join(PARTS) + ".",
    "a line each": "\n".join(PARTS),
    "a line each, with periods": ".\n".join(PARTS) + ".",
    "typed line ends": r"\n".join(PARTS),
    "typed line ends of Windows": r"\r\n".join(PARTS),
    "line ends of Windows": "\r\n".join(PARTS),
    "tags": "<br>".join(PARTS),
    "closed tags": "<p>" + "</p><p>".join(PARTS) + "</p>",
    "form feeds": "\f".join(PARTS),
    "empty lines": "\n\n".join(PARTS),
    "stars in one line": "* " + " * ".join(PARTS),
    "dashes in one line": "- " + " - ".join(PARTS),
    "dashes between": " - ".join(PARTS),
    "bullets": " • ".join(PARTS),
    "numbers in one line": " ".join(f"{number}){part}" for number, part in enumerate(PARTS, 1)),
    "numbers without blanks": "".join(f"{number}){part}" for number, part in enumerate(PARTS, 1)),
    "numbers in brackets": " ".join(f"({number}) {part}." for number, part in enumerate(PARTS, 1)),
    "numbered lines": "\n".join(f"{number}. {part}" for number, part in enumerate(PARTS, 1)),
    "in capitals": ". ".join(PARTS).upper() + ".",
    "blanks that do not break": ". ".join(PARTS).replace(" ", "\u00a0"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_report_has_the_same_statements_however_it_is_laid_out(layout):
    assert [statement.text.lower() for statement in statements(LAYOUTS[layout])] == [
        part.lower() for part in PARTS
    ]


@pytest.mark.parametrize("width", [40, 60, 80])
@pytest.mark.parametrize("put", [str, str.upper, str.lower])
def test_wrapped_lines_end_nothing(width, put):
    text = put(
        "The lungs are well expanded and clear without focal consolidation. There is a 2 cm nodule in the "
        "Right lower lobe, which may represent a granuloma. No pneumothorax or pleural effusion is seen."
    )
    assert [statement.text for statement in statements(fill(text, width))] == [
        statement.text for statement in statements(text)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Nodule measuring 4 mm\nin the left base\nNo mass",
            ["Nodule measuring 4 mm in the left base", "No mass"],
        ),
        ("Nodule (series 4, image\n22) in the base", ["Nodule (series 4, image 22) in the base"]),
        ("- Nodule in\nthe base\n- No mass", ["Nodule in the base", "No mass"]),
        ("Nodule 13\n- 14 mm", ["Nodule 13 - 14 mm"]),
        ("No mass.\nSeen by Dr.\nSmith", ["No mass", "Seen by Dr. Smith"]),
        ("Lungs:\nClear\nHeart:\nNormal", ["Lungs: Clear", "Heart: Normal"]),
        ("Effusion: no\nNodule: yes", ["Effusion: no", "Nodule: yes"]),
        ("Mass - absent\nNodule - Yes, left", ["Mass: absent", "Nodule: Yes, left"]),
        ("(-) mass\n(+) nodule", ["no mass", "nodule"]),
        ("[x] Nodule\n[ ] Mass", ["Nodule", "no Mass"]),
        ("Lungs - Clear. Heart - Normal. No mass.", ["Lungs: Clear", "Heart: Normal", "No mass"]),
        ("Nodule of 1,5 cm", ["Nodule of 1.5 cm"]),
        ("Mass in [REDACTED], seen by <NAME>", ["Mass in XXXX, seen by XXXX"]),
        ("Caf\u00e9 au lait; cafe\u0301 \u2013 \u0130nfiltrate", ["Cafe au lait", "cafe - Infiltrate"]),
        ("Pneumonia? No mass", ["Pneumonia?", "No mass"]),
        (
            "The lungs are clear. Heart size is normal\nNo effusion",
            ["The lungs are clear", "Heart size is normal", "No effusion"],
        ),
        ("1. 2. .", []),
        ("Normal   \n   heart", ["Normal heart"]),
        ("Absent:\n- Mass\n- Nodule\n\nPresent:\nEffusion", ["no Mass", "no Nodule", "Effusion"]),
        ("Negative. Mild cardiomegaly.", ["Mild cardiomegaly"]),
        ("No. 3 rib fracture.", ["3 rib fracture"]),
        ("Pertinent negatives. Edema. Effusion", ["no Edema", "no Effusion"]),
        ("Mass (-), nodule (+) left", ["Mass:no , nodule: left"]),
    ],
)
def test_statements(text, expected):
    assert [statement.text.strip() for statement in statements(text)] == expected


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("HISTORY: Cough. Prior mass. FINDINGS: Clear.", ["history", "history", "findings"]),
        ("CLINICAL DETAILS: Prior mass\nClear lungs", ["history", "findings"]),
        ("Clinical data: prior mass.\n\nClear lungs.", ["history", "findings"]),
        ("REASON FOR EXAMINATION: ?mass\n\nFINDINGS:\n\nClear", ["history", "findings"]),
        (
            "Reason for study: mass. Evaluate for nodule. The lungs are clear.",
            ["history", "history", "findings"],
        ),
        ("COMPARISON: None.\n\nClear lungs.\n\nIMPRESSION: Normal.", ["comparison", "findings", "findings"]),
        ("EXAM: Chest CT. TECHNIQUE: Axial images. FINDINGS: Mass.", ["exam", "technique", "findings"]),
        ("WET READ: No mass.\n\nFINDINGS: Mass.", ["wet read", "findings"]),
        ("FINDINGS: Mass.\n\nADDENDUM: No mass.", ["findings", "addendum"]),
        ("Mass.\nElectronically signed by Dr. XXXX, 3 May", ["findings", "signature"]),
        ("FINDINGS\nMass\nIMPRESSION\nCancer", ["findings", "findings"]),
        ("Other findings: none", ["findings"]),
        ("No history of mass", ["findings"]),
    ],
)
def test_sections(text, kinds):
    assert [item.section for item in statements(text)] == kinds
    assert findings(text) == tuple(item for item in statements(text) if item.section == "findings")
    assert all(text[slice(*item.span)].strip() for item in sections(text))


@given(st.text(max_size=200))
def test_places_are_places_of_the_text(text):
    for statement in statements(text):
        assert 0 <= statement.start < statement.end <= len(text)
        assert len(statement.offsets) == len(statement.text) + 1
        assert list(statement.offsets) == sorted(statement.offsets)


def test_words_are_found_in_the_original():
    text = "Cafe\u0301.\\nSmall<br>effusion\u2014\u0130n the b/l bases"
    (_, last) = statements(text)
    words = [text[slice(*last.span(token.start, token.end))] for token in tokenize(last.text)]
    assert words == ["Small", "effusion", "\u0130n", "the", "b/l", "bases"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Small R effusion, Lt base", "small right effusion , left base"),
        ("b/l PNA w/ GGO", "bilateral pneumonia with ground glass opacity"),
        ("Mild CM. L-spine, 3 cm, 2 L", "mild cardiomegaly l spine , 3 cm , 2 l"),
        ("Haemothorax and oedema of the oesophagus", "hemothorax and edema of the esophagus"),
        ("2.5x3 cm, .8 cm", "2.5 x 3 cm , .8 cm"),
        ("______ XXXX", "xxxx xxxx"),
    ],
)
def test_words(text, words):
    assert " ".join(token.word for token in tokenize(text)) == words


def test_blanks_at_line_ends_make_no_line_wider():
    text = "C5-C6 shows mild disc osteophyte complex, with minimal grade  \n1 anterolisthesis at C4-5."
    assert len(list(findings(text))) == len(list(findings(text.replace("grade  \n", "grade ")))) == 1
