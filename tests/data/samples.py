"""Small files of each data set's exact format, written from scratch, and the ways to spoil them.

Formats: the public files themselves (Open-i, MEDIQA-2021, RadPref, MTSamples), else the data sets'
documentation and the public code that reads them. No word of any restricted data set stands here.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from radeval_lib.data import (
    ct_labels,
    green_training,
    iob_tags,
    iu_systems,
    mediqa,
    mimic_cxr,
    mts_dialog,
    mtsamples,
    openi,
    primock57,
    radgraph,
    radpref,
    radsprl,
    rate_eval,
    rate_ner,
    rexval,
    rrs_lines,
)
from radeval_lib.data import mimic3_procedure as procedure
from radeval_lib.data import mimic3_rrs as rrs


def csv_bytes(rows: list[list[str]]) -> bytes:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue().encode()


def json_bytes(content: Any) -> bytes:
    return json.dumps(content, indent=1).encode()


def lines_bytes(objects: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(item) + "\n" for item in objects).encode()


@dataclass(frozen=True)
class Sample:
    """A good file, its spoiled versions with the place that the error must name, and what reads it."""

    name: str
    file: str
    load: Callable[[Path], Any]
    good: bytes
    records: int
    spoiled: dict[str, tuple[bytes, str]]


def _csv_sample(
    name: str,
    file: str,
    load: Callable[[Path], Any],
    rows: list[list[str]],
    drop: str,
    wrong: tuple[int, str, str],
    records: int,
    duplicate: bool = True,
) -> Sample:
    """Spoil a table: ``drop`` a column, put a ``wrong`` cell (row, column, value), repeat a row."""
    at = rows[0].index(drop)
    row, column, value = wrong
    broken = [list(cells) for cells in rows]
    broken[row][rows[0].index(column)] = value

    def line(number: int) -> str:
        """Return the line on which a row begins; cells may hold line ends."""
        return f"line {len(csv_bytes(rows[:number]).splitlines()) + 1}"

    spoiled = {
        "missing column": (csv_bytes([cells[:at] + cells[at + 1 :] for cells in rows]), "line 1"),
        "wrong type": (csv_bytes(broken), line(row)),
    }
    if duplicate:
        spoiled["duplicate"] = (csv_bytes([*rows, rows[1]]), line(len(rows)))
    return Sample(name, file, load, csv_bytes(rows), records, spoiled)


def _list_sample(
    name: str,
    file: str,
    load: Callable[[Path], Any],
    items: list[dict[str, Any]],
    drop: str,
    wrong: tuple[str, Any],
    records: int,
    dump: Callable[[Any], bytes] = json_bytes,
) -> Sample:
    """Spoil the second of a list of objects: ``drop`` a key or put a ``wrong`` value."""
    first, second = items
    spoiled = {
        "missing key": (dump([first, {key: second[key] for key in second if key != drop}]), "record 2"),
        "wrong type": (dump([first, second | {wrong[0]: wrong[1]}]), "record 2"),
    }
    return Sample(name, file, load, dump(items), records, spoiled)


OPENI = [
    ["uid", "MeSH", "Problems", "image", "indication", "comparison", "findings", "impression"],
    ["1", "normal", "normal", "Xray Chest PA", "Cough", "None.", "The lungs are clear.", "Normal chest."],
    ["2", "Opacity/lung/left", "Opacity;Cough", "Chest, 2 views", "XXXX", "", "", "Left opacity,\nnew."],
    ["4", "normal", "normal", "Chest", "", "", "Heart size normal.", ""],
]
OPENI_LABELS = [
    ["filename", *openi.LABELS, "Hernia", "normal"],
    ["CXR1", *"0000000000000", "0", "1"],
    ["CXR12", *"1010000000000", "0", "0"],
]
CT_LABELS = [
    ["AccessionNo", "report_text", *ct_labels.LABELS],
    ["val_1", "The heart is enlarged.\nSmall effusion.", *"001000000000100000"],
    ["val_2", "Trachea is open.", *"000000000000000000"],
]
IU_SYSTEMS = {
    iu_systems.REFERENCES: json_bytes(
        {
            "CXR12_IM-3": {"section_findings": "Small left effusion is seen again."},
            "CXR1_IM-2": {"section_findings": "The lungs are clear without effusion."},
        }
    ),
    iu_systems.ORDERED_REFERENCES: b"small left effusion is seen\nthe lungs are clear without\n",
    "aamn_res.csv": b"no effusion .\n\n",
    "moerad_preds.csv": b"study_id,report\nCXR12_IM-3,No effusion.\nCXR1_IM-2,Clear.\n",
    "cvt2distilgpt2.csv": b"report,dicom_id\nclear.,CXR1_IM-2\nclear.,CXR12_IM-3\n",
    "mlrg_two_view_iu_rows_only.csv": b"dicom_id,labels,report\n"
    b"NLMCXR_png/CXR12_IM-3-0001-0002-1.png,x,effusion.\nNLMCXR_png/CXR12_IM-3-2.png,x,clear.\n"
    b"NLMCXR_png/CXR1_IM-2-1.png,x,clear.\n",
}
"""Two studies; the study ids of the file by image differ from the others'."""
MEDIQA = [
    {
        "study_id": "7",
        "subject_id": "",
        "findings": "The lungs are clear.",
        "impression": "Normal.",
        "background": "",
    },
    {
        "study_id": "9",
        "subject_id": "",
        "findings": "Heart is large.",
        "impression": "Cardiomegaly.",
        "background": "x",
    },
]
MTSAMPLES = [
    ["", "description", "medical_specialty", "sample_name", "transcription", "keywords"],
    ["0", " A visit for cough.", " Allergy", " Visit ", "SUBJECTIVE:, Cough.\nPLAN:, Rest.", "cough,"],
    ["1", " " + "word " * 12, " Surgery", " Operation ", "INDICATION:, Pain.", "pain"],
    ["2", " Short one.", " Surgery", " Note ", "", ""],
]
TASK2 = [
    ["gt_report", "similar_report", "Score"],
    ["No effusion. Clear lungs.", "Small effusion.", "2.5"],
    ["Normal heart.", "Normal heart size.", "4.75"],
    ["Fracture, old.", "No fracture.", "0"],
]
TRIADS = [
    {
        "gt_report": "The lungs are clear.",
        "synonymous_report": "Clear lungs.",
        "opposite_report": "Opaque lungs.",
    },
    {"gt_report": "No mass.", "synonymous_report": "No tumour.", "opposite_report": "A mass."},
]
SPAN = [
    {
        "doc_key": "a",
        "sentences": [["Clear", "lungs", "."]],
        "ner": [[[0, 0, "NON-ABNORMALITY"], [1, 1, "ANATOMY"]]],
    },
    {"doc_key": "b", "sentences": [["Large", "pleural", "effusion"]], "ner": [[[1, 2, "Abnormality"]]]},
]
STANZA = [
    {"tokens": ["Clear", "lungs"], "ner_tags": ["O", "S-ANATOMY"], "id": 1},
    {"tokens": ["Left", "lower", "lobe"], "ner_tags": ["B-ANATOMY", "I-ANATOMY", "E-ANATOMY"], "id": 2},
]
REXVAL_REPORTS = [
    ["study_id", "gt_report", "radgraph", "bertscore", "s_emb", "bleu"],
    ["100", "No effusion.", "Effusion.", "No effusion seen.", "Clear.", "No mass."],
    ["101", "Large heart.", "Heart is large.", "Normal heart.", "Mass.", "Large mass."],
]
REXVAL_COUNTS = [
    [
        "study_number",
        "candidate_type",
        "error_category",
        "rater_index",
        "clinically_significant",
        "num_errors",
    ],
    ["0", "bleu", "1", "0", "True", "2"],
    ["0", "bleu", "1", "0", "False", "0"],
    ["0", "s_emb", "6", "5", "True", "1"],
]
GREEN = [
    {
        "id": "a",
        "conversations": [
            {"from": "human", "value": "Compare: the lungs are clear."},
            {"from": "gpt", "value": "[Explanation]: none"},
        ],
    },
    {
        "id": "b",
        "conversations": [
            {"from": "human", "value": "Compare: heart."},
            {"from": "gpt", "value": "[Matched Findings]: 1. heart"},
        ],
    },
]
PROCEDURE = [
    ["ROW_ID", "indication", "procedure_label"],
    ["11", "Headache after a fall", "24725-4"],
    ["12", "Known mass, please compare", "24627-2"],
    ["13", "Abdominal pain", "24725-4"],
]
SECTIONS = [
    ["study", "impression", "findings", "last_paragraph", "comparison"],
    ["s50", "No acute process.", "The lungs are clear.\n The heart is normal.", "", ""],
    ["s51", "", "Clear.", "", "None"],
    ["s52", "Normal.", "", "", ""],
]
SPLITS = [
    ["dicom_id", "study_id", "subject_id", "split"],
    ["a-1", "50", "10", "train"],
    ["a-2", "50", "10", "train"],
    ["b-1", "51", "11", "test"],
]
NOTES = [
    ["ROW_ID", "SUBJECT_ID", "HADM_ID", "CHARTDATE", "CATEGORY", "DESCRIPTION", "ISERROR", "TEXT"],
    ["1", "7", "", "2101-01-01", "Radiology", "CT HEAD W/O CONTRAST", "", "FINAL REPORT\n FINDINGS: Clear."],
    ["2", "8", "", "2101-01-02", "Nursing", "Report", "", "Slept well."],
    [
        "3",
        "7",
        "",
        "2101-01-03",
        "Radiology ",
        "MR HEAD  W/ CONTRAST",
        "",
        "FINAL REPORT\n IMPRESSION: Clear.",
    ],
]
TITLES = [
    ["procedure_titles", "LOINC_NUM", "s"],
    ["['CT HEAD W/O CONTRAST']", "24725-4", "900"],
    ["['CT CHEST', 'CT ABDOMEN']", "X", "120"],
]

RADGRAPH = {
    "p1/s1.txt": {
        "text": "Clear lungs . No left effusion",
        "entities": {
            "1": {
                "tokens": "Clear",
                "label": "OBS-DP",
                "start_ix": 0,
                "end_ix": 0,
                "relations": [["located_at", "2"]],
            },
            "2": {"tokens": "lungs", "label": "ANAT-DP", "start_ix": 1, "end_ix": 1, "relations": []},
            "3": {"tokens": "left effusion", "label": "OBS-DA", "start_ix": 4, "end_ix": 5, "relations": []},
        },
        "data_source": "MIMIC-CXR",
        "data_split": "train",
    }
}
RADGRAPH_TEST = {
    "c1": {
        "text": "Old fracture",
        "labeler_1": {
            "entities": {
                "1": {"tokens": "fracture", "label": "OBS-DP", "start_ix": 1, "end_ix": 1, "relations": []}
            }
        },
        "labeler_2": {"entities": {}},
        "data_source": "CheXpert",
        "data_split": "test",
    }
}


def _changed(content: Any, path: list[Any], value: Any) -> bytes:
    """Return ``content`` as JSON with another value at ``path``; the key is removed where the value is
    None."""
    copy = json.loads(json.dumps(content))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return json_bytes(copy)


_ENTITY = ["p1/s1.txt", "entities", "1"]
RADGRAPH_SAMPLE = Sample(
    "radgraph",
    "train.json",
    radgraph.load,
    json_bytes(RADGRAPH),
    1,
    {
        "missing key": (_changed(RADGRAPH, ["p1/s1.txt", "data_source"], None), "report 1"),
        "wrong type": (_changed(RADGRAPH, [*_ENTITY, "start_ix"], "x"), "entity 1"),
        "unknown label": (_changed(RADGRAPH, [*_ENTITY, "label"], "OBS"), "report 1"),
        "other words": (_changed(RADGRAPH, [*_ENTITY, "tokens"], "clear"), "entity 1"),
        "missing entity": (_changed(RADGRAPH, [*_ENTITY, "relations"], [["modify", "9"]]), "entity 1"),
        "unknown relation": (_changed(RADGRAPH, [*_ENTITY, "relations"], [["near", "2"]]), "entity 1"),
    },
)

RADSPRL = """<?xml version="1.0" encoding="UTF-8"?>
<Collection>
 <Document id="CXR1">
  <Text>Opacity in left lung .</Text>
  <Annotations>
   <Token cs="0" cl="7"/><Token cs="8" cl="2"/><Token cs="11" cl="4"/><Token cs="16" cl="4"/>
   <Token cs="21" cl="1"/>
   <Sentence ts="0" tl="5"/>
   <RadSpRLRelation ts="1" tl="1">
    <Trajector type="FINDING" ts="0" tl="1"/><Landmark type="ANATOMY" ts="2" tl="2"/><Hedge
     type="HEDGE" ts="0,4" tl="1,1"/>
   </RadSpRLRelation>
  </Annotations>
 </Document>
 <Document id="CXR2">
  <Text>Clear .</Text>
  <Annotations><Token cs="0" cl="5"/><Token cs="6" cl="1"/></Annotations>
 </Document>
</Collection>
"""


def _xml(old: str, new: str) -> bytes:
    assert old in RADSPRL
    return RADSPRL.replace(old, new, 1).encode()


RADSPRL_SAMPLE = Sample(
    "radsprl",
    "Rad-SpRL.xml",
    radsprl.load,
    RADSPRL.encode(),
    2,
    {
        "missing attribute": (_xml('<Token cs="8" cl="2"/>', '<Token cs="8"/>'), "document 1"),
        "missing element": (_xml("<Text>Clear .</Text>", ""), "document 2"),
        "wrong type": (_xml('tl="2"/><Hedge', 'tl="two"/><Hedge'), "document 1"),
        "unknown role": (_xml("<Landmark", "<Landmarks"), "document 1"),
        "token outside": (_xml('<Token cs="6" cl="1"/>', '<Token cs="6" cl="9"/>'), "document 2"),
        "span outside": (_xml('ts="2" tl="2"', 'ts="4" tl="2"'), "document 1"),
        "cut short": (RADSPRL.encode()[:300], "line"),
        "duplicate": (_xml('"CXR2"', '"CXR1"'), "document 2"),
        "entities": (_xml("<Collection>", '<!DOCTYPE x [<!ENTITY a "b">]><Collection>'), "Rad-SpRL.xml"),
    },
)

CASES = [
    {
        "id": name,
        "ground_truth_report": "The lungs are clear.",
        "ground_truth_findings": findings,
        "C1_report": "Clear lungs.",
        "C1_findings": [],
        "C1_source": "gpt",
        "C2_report": "Left mass.",
        "C2_findings": ["left mass"],
        "C2_source": "medgemma",
        "PatientAge": "072Y",
        "PatientSex": "F",
        "Indication": "Cough",
        "Comparison": "None",
        "StudyDescription": "CHEST",
    }
    for name, findings in (("a", []), ("b", ["old fracture"]))
]
USER = {
    "user_id": "1",
    "annotations": {
        "a": {
            "C1": {"finding_errors": {}, "missing_findings": {}, "rating": 5},
            "C2": {
                "finding_errors": {
                    "0": {"error_type": "false", "clinical_significance": "urgent", "explanation": "x"}
                },
                "missing_findings": {},
                "rating": 1,
            },
        },
        "b": {
            "C1": {
                "finding_errors": {},
                "missing_findings": {"0": {"clinical_significance": "benign_expected"}},
                "rating": 4,
            },
            "C2": {
                "finding_errors": {
                    "0": {
                        "error_type": "attribute",
                        "attributes": {"location": "significant", "severity": "negligible"},
                    }
                },
                "missing_findings": {},
                "rating": 2,
                "rating_explanation": "side",
            },
            "new_finding_indices": {"C1": [], "C2": [0], "GT": [0]},
        },
    },
}
_C2 = ["annotations", "b", "C2"]
_WRONG_SIDE = {"0": {"error_type": "attribute", "attributes": {"side": "significant"}}}
RADPREF_RATINGS = Sample(
    "radpref ratings",
    "user_1.json",
    radpref.load_ratings,
    json_bytes(USER),
    4,
    {
        "missing key": (_changed(USER, [*_C2, "rating"], None), "case 2, C2"),
        "wrong type": (_changed(USER, [*_C2, "rating"], "2"), "case 2, C2"),
        "rating outside": (_changed(USER, [*_C2, "rating"], 6), "case 2, C2"),
        "unknown attribute": (
            _changed(USER, [*_C2, "finding_errors"], _WRONG_SIDE),
            "case 2, C2",
        ),
    },
)

RULES = {"CT_head": {"descriptions": ["CT HEAD W/O CONTRAST"], "headers": ["findings", "head ct"]}}
RULES_SAMPLE = Sample(
    "mimic3_rrs rules",
    "rules.json",
    lambda path: list(rrs.load_rules(path).descriptions),
    json_bytes(RULES),
    1,
    {
        "missing key": (_changed(RULES, ["CT_head", "headers"], None), "pair 1"),
        "wrong type": (_changed(RULES, ["CT_head", "headers"], ["findings", 1]), "pair 1"),
        "unknown pair": (json_bytes({"CT_foot": RULES["CT_head"]}), "pair 1"),
        "in two pairs": (json_bytes(RULES | {"MR_head": RULES["CT_head"]}), "pair 2"),
    },
)


def _lines(path: Path) -> list[Any]:
    """Return the findings are the file under test."""
    other = path.with_name("train.impression.tok")
    other.write_bytes(b"clear .\nfracture .\n")
    return rrs_lines.load(path, other, group="CT_head", split="train")


LINES_SAMPLE = Sample(
    "rrs_lines",
    "train.findings.tok",
    _lines,
    b"the lungs are clear .\nold fracture .\n",
    2,
    {
        "cut short": (b"clear .\n", "train.findings.tok"),
        "one line more": (b"clear .\nfracture .\nmass .\n", "train.findings.tok"),
        "empty line": (b"clear .\n\n", "line 2"),
        "empty": (b"", "train.findings.tok"),
    },
)

# Two systems on two dialogues; the omission rate of -1 stands in the public file too.
MTS_SCORES = [
    [
        "FactualPrecision",
        "FactualRecall",
        "FactualF1",
        "HallucinationRate",
        "OmissionRate",
        "Edit Distance (Correction)",
    ],
    ["0.66666667", "0.28571429", "0.4", "0", "0.571428571", "0.857142857"],
    ["1", "1", "1", "0", "-1", "0.2"],
    ["1", "0", "0", "0", "1", "1"],
    ["0.75", "0.1875", "0.3", "0.25", "0.75", "0.954545455"],
]
MTS_SUMMARIES = [
    ["ID", "Dialogue", "Reference Summary", "Automatic Summary"],
    ["0", "Doctor: Pain?\nPatient: Back, eight years.", "Back pain for eight years.", "Back pain."],
    ["1", "Doctor: Smoke?\nPatient: No.", "He is a non-smoker.", "Non-smoker."],
    ["0", "Doctor: Pain?\nPatient: Back, eight years.", "Back pain for eight years.", "Unremarkable."],
    ["1", "Doctor: Smoke?\nPatient: No.", "He is a non-smoker.", "The patient, a man, quit smoking."],
]
PRIMOCK = [
    list(primock57.COLUMNS),
    [
        "1",
        "day1_c01",
        "m1",
        "3/7 hx\nof cough.",
        "Cough.",
        "Cough <add>3 days</add>.",
        "31",
        "",
        "! 3 days",
        "",
    ],
    ["2", "day1_c01", "m1", "Cough.", "Cough.", "Cough.", "", "- dry\ncough\n! fever", "", "Short."],
    ["1", "day1_c01", "doctor", "Cough.", "Cough, 3 days.", "Cough, 3 days.", "4.5", "", "", ""],
]


def _mts(path: Path) -> Any:
    """Reads one of the two files beside a good version of the other."""
    for name, rows in ((mts_dialog.SCORES, MTS_SCORES), (mts_dialog.SUMMARIES, MTS_SUMMARIES)):
        if name != path.name:
            path.with_name(name).write_bytes(csv_bytes(rows))
    return mts_dialog.load(path.with_name(mts_dialog.SCORES), path.with_name(mts_dialog.SUMMARIES))


SAMPLES = [
    _csv_sample("openi", "indiana_reports.csv", openi.load, OPENI, "findings", (2, "uid", "two"), 3),
    _csv_sample(
        "openi_labels",
        openi.LABELS_FILE,
        openi.load_labels,
        OPENI_LABELS,
        "normal",
        (2, "Effusion", "2"),
        2,
    ),
    _csv_sample(
        "ct_labels",
        ct_labels.FILE,
        ct_labels.load,
        CT_LABELS,
        "report_text",
        (2, "Emphysema", "2"),
        2,
    ),
    _list_sample("mediqa2021", "indiana_dev.json", mediqa.load, MEDIQA, "impression", ("findings", 3), 2),
    _csv_sample(
        "mts_dialog scores",
        mts_dialog.SCORES,
        _mts,
        MTS_SCORES,
        "OmissionRate",
        (3, "OmissionRate", "-0.5"),
        4,
    ),
    _csv_sample(
        "mts_dialog summaries", mts_dialog.SUMMARIES, _mts, MTS_SUMMARIES, "Dialogue", (3, "ID", "1"), 4
    ),
    _csv_sample(
        "primock57",
        "results.csv",
        primock57.load,
        PRIMOCK,
        "Omissions",
        (2, "Incorrect Statements", "dry"),
        3,
    ),
    _csv_sample("mtsamples", "mtsamples.csv", mtsamples.load, MTSAMPLES, "transcription", (2, "", "x"), 3),
    _csv_sample(
        "rate_eval pairs", "rate_test.csv", rate_eval.load_pairs, TASK2, "Score", (3, "Score", "high"), 3
    ),
    _list_sample(
        "rate_eval triads",
        "triads.json",
        rate_eval.load_triads,
        TRIADS,
        "opposite_report",
        ("gt_report", 1),
        2,
    ),
    _list_sample(
        "rate_ner span",
        "train_span.json",
        rate_ner.load_span,
        SPAN,
        "ner",
        ("ner", [[[1, "x", "Disease"]]]),
        2,
        lines_bytes,
    ),
    _list_sample(
        "stanza_radiology",
        "train.json",
        iob_tags.load,
        STANZA,
        "tokens",
        ("ner_tags", ["O", "O"]),
        2,
    ),
    _list_sample(
        "stanza_radiology tags", "x.json", iob_tags.load, STANZA, "ner_tags", ("tokens", ["a", 1, "b"]), 2
    ),
    _csv_sample(
        "rexval reports",
        "50_samples_gt_and_candidates.csv",
        rexval.load_reports,
        REXVAL_REPORTS,
        "s_emb",
        (2, "study_id", "x"),
        8,
    ),
    _csv_sample(
        "rexval counts",
        "6_valid_raters_per_rater_error_categories.csv",
        rexval.load_counts,
        REXVAL_COUNTS,
        "rater_index",
        (1, "error_category", "7"),
        3,
    ),
    _list_sample(
        "green_training",
        "train.json",
        green_training.load,
        GREEN,
        "conversations",
        ("conversations", [{"from": "gpt", "value": "x"}]),
        2,
    ),
    _list_sample(
        "radpref cases",
        "preference_data.json",
        radpref.load_cases,
        CASES,
        "C2_findings",
        ("C1_findings", "none"),
        2,
    ),
    _csv_sample(
        "procedure", "annotated_dataset.csv", procedure.load, PROCEDURE, "indication", (2, "ROW_ID", "1.5"), 3
    ),
    _csv_sample(
        "mimic_cxr sections",
        "mimic_cxr_sectioned.csv",
        mimic_cxr.load_sections,
        SECTIONS,
        "findings",
        (3, "study", "52"),
        3,
    ),
    _csv_sample(
        "mimic_cxr splits",
        "mimic-cxr-2.0.0-split.csv",
        mimic_cxr.load_splits,
        SPLITS,
        "split",
        (2, "split", "dev"),
        2,
        duplicate=False,  # a study has a row for each image
    ),
    _csv_sample(
        "mimic3 notes",
        "NOTEEVENTS.csv",
        lambda path: list(rrs.radiology_notes(path)),
        NOTES,
        "TEXT",
        (1, "SUBJECT_ID", "?"),
        2,
    ),
    _csv_sample(
        "procedure mapping",
        "procedure_titles_mapped.csv",
        procedure.load_mapping,
        TITLES,
        "LOINC_NUM",
        (2, "procedure_titles", "CT CHEST"),
        2,
    ),
    RADGRAPH_SAMPLE,
    RADSPRL_SAMPLE,
    RADPREF_RATINGS,
    RULES_SAMPLE,
    LINES_SAMPLE,
]
