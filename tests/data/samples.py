"""Small files of each data set's exact format, written from scratch, at the manifests' own paths.

Formats: the public files themselves (Open-i, MEDIQA-2021, RadPref, MTSamples), else the data sets'
documentation and the public code that reads them. No word of any restricted data set stands here.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from typing import Any

from radeval_lib.data import ct_labels, iu_systems, mslr, mts_dialog, openi, primock57


def csv_bytes(rows: list[list[str]]) -> bytes:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue().encode()


def json_bytes(content: Any) -> bytes:
    return json.dumps(content, indent=1).encode()


HEAD = """[**2101-5-1**] 3:15 PM
 CT HEAD W/O CONTRAST                                            Clip # [**Clip Number 11**]
 Reason: fall with headache
 Admitting Diagnosis: TRAUMA
 ______________________________________________________________________________
                                 FINAL REPORT
 INDICATION: Fall.

 COMPARISON: None.

 FINDINGS: There is no bleeding. The ventricles are
 normal on [**2101-5-1**].
                                                             (Over)

                                                             (Cont)
 The bones are intact.

 IMPRESSION: No acute process.
"""
NOTES = [
    ["ROW_ID", "SUBJECT_ID", "HADM_ID", "CHARTDATE", "CATEGORY", "DESCRIPTION", "ISERROR", "TEXT"],
    ["1", "7", "", "2101-01-01", "Radiology", "CT HEAD W/O CONTRAST", "", "FINAL REPORT\n FINDINGS: Clear."],
    ["2", "8", "", "2101-01-02", "Nursing", "Report", "", "Slept well."],
    ["9", "70", "", "", "Radiology ", "CT HEAD  W/O CONTRAST", "", HEAD],
    ["10", "71", "", "", "Radiology", "MR PELVIS W/O CONTRAST", "", HEAD],
]
MTSAMPLES = b"""\
,description,medical_specialty,sample_name,transcription,keywords
0, A visit for cough., Allergy, Visit ,"SUBJECTIVE:, Cough.\nPLAN:, Rest.","cough,"
1, word word word word word word word word word word word word., Surgery, Operation ,"INDICATION:, Pain.",pain
2, Short one., Surgery, Note ,,
"""
MEDIQA = b"""[
{"study_id": "7", "subject_id": "", "findings": "Clear lungs.", "impression": "Normal.", "background": ""},
{"study_id": "9", "subject_id": "", "findings": "Big heart.", "impression": "Big.", "background": "x"}]"""
TASK2 = b"""\
gt_report,similar_report,Score
No effusion. Clear lungs.,Small effusion.,2.5
Normal heart.,Normal heart size.,4.75
"Fracture, old.",No fracture.,0
"""
SPAN = b"""\
{"doc_key": "a", "sentences": [["Clear", "lungs"]], "ner": [[[0, 0, "NON-ABNORMALITY"], [1, 1, "ANATOMY"]]]}
{"doc_key": "b", "sentences": [["Large", "pleural", "effusion"]], "ner": [[[1, 2, "Abnormality"]]]}
"""
REXVAL_REPORTS = b"""\
study_id,gt_report,radgraph,bertscore,s_emb,bleu
100,No effusion.,Effusion.,No effusion seen.,Clear.,No mass.
101,Large heart.,Heart is large.,Normal heart.,Mass.,Large mass.
"""
SECTIONS = b"""\
study,impression,findings,last_paragraph,comparison
s50,No acute process.,"The lungs are clear.\n The heart is normal.",,
s51,,Clear.,,None
s52,Normal.,,,
"""
SPLITS = b"""\
dicom_id,study_id,subject_id,split
a-1,50,10,train
a-2,50,10,train
b-1,51,11,test
"""
RADGRAPH = b"""{"p1/s1.txt": {"text": "Clear lungs . No left effusion", "entities": {
"1": {"tokens": "Clear", "label": "OBS-DP", "start_ix": 0, "end_ix": 0, "relations": [["located_at", "2"]]},
"2": {"tokens": "lungs", "label": "ANAT-DP", "start_ix": 1, "end_ix": 1, "relations": []},
"3": {"tokens": "left effusion", "label": "OBS-DA", "start_ix": 4, "end_ix": 5, "relations": []}},
"data_source": "MIMIC-CXR", "data_split": "train"}}"""
RADGRAPH_TEST = b"""{"c1": {"text": "Old fracture", "labeler_1": {"entities": {
"1": {"tokens": "fracture", "label": "OBS-DP", "start_ix": 1, "end_ix": 1, "relations": []}}},
"labeler_2": {"entities": {}}, "data_source": "CheXpert", "data_split": "test"}}"""
RADSPRL = """<?xml version="1.0" encoding="UTF-8"?>
<Collection>
 <Document id="CXR1">
  <Text>Opacity in left lung .</Text>
  <Annotations>
   <Token cs="0" cl="7"/><Token cs="8" cl="2"/><Token cs="11" cl="4"/><Token cs="16" cl="4"/>
   <Token cs="21" cl="1"/>
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
CASE = {
    **{"ground_truth_report": "The lungs are clear.", "ground_truth_findings": []},
    **{"C1_report": "Clear lungs.", "C1_findings": [], "C1_source": "gpt"},
    **{"C2_report": "Left mass.", "C2_findings": ["left mass"], "C2_source": "medgemma"},
}
_NO_ERROR: dict[str, Any] = {"finding_errors": {}, "missing_findings": {}}
_FALSE = {"0": {"error_type": "false", "clinical_significance": "urgent"}}
_ATTRIBUTES = {"location": "significant", "severity": "negligible"}
RADPREF = {
    "user_id": "1",
    "annotations": {
        "a": {"C1": _NO_ERROR | {"rating": 5}, "C2": _NO_ERROR | {"finding_errors": _FALSE, "rating": 1}},
        "b": {
            "C1": _NO_ERROR | {"missing_findings": {"0": {"clinical_significance": "urgent"}}, "rating": 4},
            "C2": {
                "finding_errors": {"0": {"error_type": "attribute", "attributes": _ATTRIBUTES}},
                "missing_findings": {},
                "rating": 2,
            },
        },
    },
}
# Two systems on two dialogues; the omission rate of -1 stands in the public file too.
MTS_SCORES = b"""\
\xef\xbb\xbfFactualPrecision,FactualRecall,FactualF1,HallucinationRate,OmissionRate,Edit Distance (Correction)
0.66666667,0.28571429,0.4,0,0.571428571,0.857142857
1,1,1,0,-1,0.2
1,0,0,0,1,1
0.75,0.1875,0.3,0.25,0.75,0.954545455
"""
MTS_SUMMARIES = b"""\
ID,Dialogue,Reference Summary,Automatic Summary
0,"Doctor: Pain?\nPatient: Back, eight years.",Back pain for eight years.,Back pain.
1,"Doctor: Smoke?\nPatient: No.",He is a non-smoker.,Non-smoker.
0,"Doctor: Pain?\nPatient: Back, eight years.",Back pain for eight years.,Unremarkable.
1,"Doctor: Smoke?\nPatient: No.",He is a non-smoker.,"The patient, a man, quit smoking."
"""
PRIMOCK = [
    [*primock57.COLUMNS],
    ["1", "c01", "m1", "3/7 hx\nof cough.", "Cough.", "31", "", "! 3 days"],
    ["2", "c01", "m1", "Cough.", "Cough.", "", "- dry\ncough\n! fever", ""],
    ["1", "c01", "doctor", "Cough.", "Cough, 3 days.", "4.5", "", ""],
]
RATED = ["ExpID", "ReviewID", "Target Summary", "Generated Summary", *mslr.QUESTIONS]


def tsv_bytes(*rows: list[str]) -> bytes:
    return "".join("\t".join(row) + "\n" for row in rows).encode()


FILES: dict[str, bytes] = {
    "openi/indiana_reports.csv": b"""\
uid,MeSH,Problems,image,indication,comparison,findings,impression
1,normal,normal,Xray Chest PA,Cough,None.,The lungs are clear.,Normal chest.
2,Opacity/lung/left,Opacity;Cough,"Chest, 2 views",XXXX,,,"Left opacity,\nnew."
4,normal,normal,Chest,,,Heart size normal.,
""",
    f"openi_labels/{openi.LABELS_FILE}": csv_bytes(
        [
            ["filename", *openi.LABELS, "Hernia", "normal"],
            ["CXR1", *"0000000000000", "0", "1"],
            ["CXR12", *"1010000000000", "0", "0"],
        ]
    ),
    f"ct_labels/{ct_labels.FILE}": csv_bytes(
        [
            ["AccessionNo", "report_text", *ct_labels.LABELS],
            ["val_1", "The heart is enlarged.\nSmall effusion.", *"001000000000100000"],
        ]
    ),
    # Two studies; the study ids of the file by image differ from the others'.
    f"iu_xray_systems/{iu_systems.REFERENCES}": b"""{
"CXR12_IM-3": {"section_findings": "Small left effusion is seen again."},
"CXR1_IM-2": {"section_findings": "The lungs are clear without effusion."}}""",
    f"iu_xray_systems/{iu_systems.ORDERED_REFERENCES}": b"""\
small left effusion is seen
the lungs are clear without
""",
    "iu_xray_systems/aamn_res.csv": b"no effusion .\n\n",
    "iu_xray_systems/moerad_preds.csv": b"study_id,report\nCXR12_IM-3,No effusion.\nCXR1_IM-2,Clear.\n",
    "iu_xray_systems/cvt2distilgpt2.csv": b"report,dicom_id\nclear.,CXR1_IM-2\nclear.,CXR12_IM-3\n",
    "iu_xray_systems/mlrg_two_view_iu_rows_only.csv": b"""\
dicom_id,labels,report
NLMCXR_png/CXR12_IM-3-0001-0002-1.png,x,effusion.
NLMCXR_png/CXR12_IM-3-2.png,x,clear.
NLMCXR_png/CXR1_IM-2-1.png,x,clear.
""",
    "mediqa2021/indiana_dev.json": MEDIQA,
    "mediqa2021/train.json": MEDIQA,
    f"mts_dialog/{mts_dialog.SCORES}": MTS_SCORES,
    f"mts_dialog/{mts_dialog.SUMMARIES}": MTS_SUMMARIES,
    "mslr/annotations/A1.tsv": tsv_bytes(
        RATED,
        ["01GABCDEF", "CD1", 'the "target', "a summary", "2: Yes", "1: Partially", "0: No"],
        ["01GXYZXYZ", "CD1", 'the "target', "a summary", "2: Yes", "N/A: No intervention", "2: Yes"],
        ["01GOTHERR", "CD1", 'the "target', "a summary", "Other / uncertain", "2: Yes", "2: Yes"],
        ["01GBLANKK", "CD1", 'the "target', "a summary", "", "2: Yes", "2: Yes"],
    ),
    "mtsamples/mtsamples.csv": MTSAMPLES,
    "primock57/results.csv": csv_bytes(PRIMOCK),
    "radpref/preference_data.json": json_bytes(
        [{"id": "a", **CASE}, {"id": "b", **CASE, "ground_truth_findings": ["old fracture"]}]
    ),
    "radpref/radiologist_annotations/user_1.json": json_bytes(RADPREF),
    "rate_ner/MIMIC_IV/train_span.json": SPAN,
    "rate_ner/Radiopaedia/test_span.json": SPAN,
    "rate_eval/Task1_sentence_rate/rate_train.csv": TASK2,
    "rate_eval/Task2_paragraph_rate/rate_test.csv": TASK2,
    "rexval/50_samples_gt_and_candidates.csv": REXVAL_REPORTS,
    "radgraph/train.json": RADGRAPH,
    "radgraph/test.json": RADGRAPH_TEST,
    "radsprl/Rad-SpRL.xml": RADSPRL.encode(),
    "stanza_radiology/dev.json": b"""[
{"tokens": ["Clear", "lungs"], "ner_tags": ["O", "S-ANATOMY"], "id": 1},
{"tokens": ["Left", "lower", "lobe"], "ner_tags": ["B-ANATOMY", "I-ANATOMY", "E-ANATOMY"], "id": 2}]""",
    "mimic3/NOTEEVENTS.csv.gz": gzip.compress(csv_bytes(NOTES)),
    "mimic3_procedure/annotated_dataset.csv": csv_bytes(
        [
            ["ROW_ID", "indication", "procedure_label"],
            *([str(row), f"Reason {row}", ("24725-4", "24627-2")[row % 2]] for row in range(1, 11)),
        ]
    ),
    "mimic_cxr/mimic_cxr_sectioned.csv": SECTIONS,
    "mimic_cxr/mimic-cxr-2.0.0-split.csv": SPLITS,
    "radsum23/CT_head/validate.findings.tok": b"the lungs\nare clear\n",
    "radsum23/CT_head/validate.impression.tok": b"clear\n\n",
    "green_training/train.json": b"""[
{"id": "a", "conversations": [{"from": "human", "value": "Compare: x."}, {"from": "gpt", "value": "none"}]},
{"id": "b", "conversations": [{"from": "human", "value": "Compare: y."}, {"from": "gpt", "value": "y"}]}]""",
}
