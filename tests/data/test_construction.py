"""Construction from MIMIC-format files written here: sections, pairs, procedures, splits."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from radeval_lib.data import mimic3_procedure as procedure
from radeval_lib.data import mimic3_rrs as rrs
from radeval_lib.data.mimic3_rrs import is_spelling_of, split_sections
from radeval_lib.data.records import Document, ReportPair
from radeval_lib.data.restricted import RestrictedText, reveal
from tests.data.samples import HEAD


def _note(text: str, examination: str = "CT HEAD W/O CONTRAST", number: int = 1) -> Document:
    return Document(str(number), RestrictedText(text, "mimic3"), label=examination, patient=str(number))


def test_sections() -> None:
    sections = split_sections("Title\n FINDINGS:  Clear.\n More.\n IMPRESSION: Normal.\n")
    assert [(name, text.strip()) for name, text in sections] == [
        ("", "Title"),
        ("findings", "Clear.\n More."),
        ("impression", "Normal."),
    ]
    assert split_sections("no header at all") == [("", "no header at all")]


def test_no_header_is_sought_on_the_line_where_a_section_begins() -> None:
    """The reference code skips that line, ``to avoid some bad parses``."""
    sections = split_sections("x\n EXAM:\n CHEST, PA AND LATERAL: two views\n FINDINGS: Clear.")
    assert [name for name, _ in sections] == ["", "exam", "findings"]


@pytest.mark.parametrize(
    ("name", "wanted", "same"),
    [
        ("findigns", "findings", True),
        ("impresion", "impression", True),
        ("complications", "comparison", False),
        ("indication", "impression", False),
    ],
)
def test_misspelt_headers(name: str, wanted: str, same: bool) -> None:
    assert is_spelling_of(name, wanted) is same


def test_pair_of_a_report() -> None:
    assert rrs.extract_sections(HEAD, "CT_head") == (
        "there is no bleeding. the ventricles are normal on ___. the bones are intact.",
        "no acute process.",
    )


FINDINGS, IMPRESSION = " FINDINGS: Clear.\n", " IMPRESSION: Normal.\n"


@pytest.mark.parametrize(
    "text",
    [
        "WET READ\n" + FINDINGS + IMPRESSION,
        "FINAL REPORT\n" + FINDINGS,
        "FINAL REPORT\n" + FINDINGS + IMPRESSION + "\n" + IMPRESSION,
        "FINAL REPORT\n INDICATION: Fall.\n" + IMPRESSION,
        "FINAL REPORT\n" + FINDINGS + " IMPRESSION: \n ",
        "FINAL REPORT\n FINDINGS AND IMPRESSION: Normal.\n",
    ],
)
def test_reports_that_give_no_pair(text: str) -> None:
    assert rrs.extract_sections(text, "CT_head") is None
    assert rrs.build_pairs([_note(text)]) == []


@pytest.mark.parametrize(
    ("header", "pair"),
    [
        # The paper's examples for CT head (Section 2.1).
        ("NON-CONTRAST HEAD CT", "CT_head"),
        ("CT HEAD", "CT_head"),
        ("HEAD CT WITHOUT IV CONTRAST", "CT_head"),
        ("FINDIGNS", "CT_head"),
        ("FINDINGS, BRAIN MRI", "MR_head"),
        ("MRA OF THE NECK", "MR_neck"),
        ("ABDOMEN", "CT_abdomen-pelvis"),
    ],
)
def test_headers_that_hold_findings(header: str, pair: str) -> None:
    report = f"FINAL REPORT\n INDICATION: Pain.\n {header}: Clear.\n" + IMPRESSION
    assert rrs.extract_sections(report, pair) == ("clear.", "normal.")


def test_findings_come_before_other_headers_and_empty_ones_are_passed_over() -> None:
    report = f"FINAL REPORT\n HEAD CT: Part.\n FINDINGS: {{}}\n {IMPRESSION.strip()}\n"
    assert rrs.extract_sections(report.format("Whole."), "CT_head") == ("whole.", "normal.")
    assert rrs.extract_sections(report.format(" "), "CT_head") == ("part.", "normal.")
    after = "FINAL REPORT\n" + IMPRESSION + FINDINGS
    assert rrs.extract_sections(after, "CT_head") == ("clear.", "normal.")


@pytest.mark.parametrize(
    ("description", "pair"),
    [
        ("CT HEAD W/O CONTRAST", "CT_head"),
        ("CTA HEAD W&W/O C & RECONS", "CT_head"),
        ("CT C-SPINE W/O CONTRAST", "CT_spine"),
        ("CT ABDOMEN W/CONTRAST", "CT_abdomen-pelvis"),
        ("CT PELVIS W/O CONTRAST", "CT_abdomen-pelvis"),
        ("CT ABD & PELVIS", "CT_abdomen-pelvis"),
        ("MRA NECK W/O CONTRAST", "MR_neck"),
        ("MR L SPINE W/O CONTRAST", "MR_spine"),
        ("MR PELVIS W/O CONTRAST", "MR_pelvis"),
        ("CT GUIDED NEEDLE PLACTMENT", None),
        ("CT CHEST W/CONTRAST CT ABDOMEN", None),  # two examinations in one report
        ("CHEST (PORTABLE AP)", None),
        ("MR CHEST", None),  # no such pair
    ],
)
def test_pair_of_an_examination(description: str, pair: str | None) -> None:
    assert rrs.find_group(description) == pair


def _pairs(group: str, count: int) -> list[ReportPair]:
    return [ReportPair(f"{group}-{number}", "a", "b", group=group) for number in range(count)]


def test_report_split_is_the_papers() -> None:
    """80/10/10 of the trained pairs, as ``random.shuffle`` with seed 42 gives it over the pairs in order."""
    done = rrs.assign_splits(_pairs("CT_head", 20) + _pairs("CT_spine", 10) + _pairs("MR_neck", 3))
    names = [f"CT_head-{number}" for number in range(20)]
    random.Random(42).shuffle(names)
    assert [pair.id for pair in done if pair.group == "CT_head"] == names
    assert Counter((pair.group, pair.split) for pair in done) == {
        **{("CT_head", "train"): 16, ("CT_head", "dev"): 2, ("CT_head", "test"): 2},
        **{("CT_spine", "train"): 8, ("CT_spine", "dev"): 1, ("CT_spine", "test"): 1},
        ("MR_neck", "test"): 3,
    }


CT_ABDOMEN = """[**2101-5-1**] 3:15 PM
 CT ABDOMEN W/CONTRAST; CT PELVIS W/CONTRAST     Clip # [**Clip Number 5**]
 CT 150CC NONIONIC CONTRAST
 {reason}
 ______________________________________________________________________________
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (HEAD, "fall with headache"),
        (CT_ABDOMEN.format(reason="MEDICAL CONDITION:\n  Old man with pain"), "Old man with pain"),
        (CT_ABDOMEN.format(reason="CLINICAL INFORMATION & QUESTIONS TO BE ANSWERED:\n  Stones?"), "Stones?"),
        ("CT SCAN. COMPARISON: None.\n INDICATION:  Lung mass. COMPARISON: CT of May.", "Lung mass."),
        ("CT SCAN\n HISTORY: Known mass.\n TECHNIQUE: Axial.", "Known mass."),
        ("CT SCAN\n HISTORY: Known mass", "Known mass"),
        ("CT SCAN without a reason", ""),
        ("Reason: pain", "pain"),
        ("Reason: PE? Admitting Diagnosis: FALL", "PE?"),
        ("Reason: PE? Admitting Diagnosis: FALL\n", "PE? Admitting Diagnosis: FALL"),
        ("Reason:  \n Field of view: 40", ""),
        # COMPARISON stands before INDICATION too.
        ("CT SCAN\n COMPARISON: None.\n INDICATION: Lung mass. COMPARISON: CT of May.\n", "Lung mass."),
    ],
)
def test_indication(text: str, reason: str) -> None:
    assert procedure.find_reason(text) == reason


def test_titles() -> None:
    assert procedure.find_titles(HEAD) == {"CT HEAD W/O CONTRAST"}
    assert procedure.find_titles(CT_ABDOMEN) == {"CT ABDOMEN W/CONTRAST", "CT PELVIS W/CONTRAST"}
    assert procedure.find_titles("CT HEAD   2 views\n_____\n Reason: pain\n") == {"CT HEAD"}
    assert procedure.find_titles("CT HEAD *STAT* W/O\n Reason: pain") == {"CT HEAD *STAT* W/O"}
    assert procedure.find_titles("_____\nCT HEAD W/O CONTRAST\nReason: pain") == {"CT HEAD W/O CONTRAST"}
    assert procedure.find_titles("no such title") == frozenset()


MAPPING = {frozenset(["CT HEAD W/O CONTRAST"]): "HEAD", frozenset(["CT SCAN"]): "BODY"}


def test_documents_and_rare_classes() -> None:
    texts = [
        HEAD,
        HEAD,
        "CT SCAN\n_____\n HISTORY: Mass.\n TECHNIQUE: x",
        "CT SCAN\n_____\n no reason",
        "CT KNEE\n_____\nReason: x\n",
    ]
    given = [_note(text, number=number) for number, text in enumerate(texts)]
    given.append(_note(HEAD, "MR HEAD", 9))
    documents = procedure.build_documents(given, MAPPING, min_reports=2)
    assert [(document.id, document.label, document.patient) for document in documents] == [
        ("0", "HEAD", "0"),
        ("1", "HEAD", "1"),
        ("2", "Other", "2"),
    ]
    assert reveal(documents[2].text) == "Mass."
    assert procedure.count_titles(given) == {
        frozenset(["CT HEAD W/O CONTRAST"]): 2,
        frozenset(["CT SCAN"]): 1,
        frozenset(["CT KNEE"]): 1,
    }


def test_procedure_report_split_is_stratified() -> None:
    documents = [Document(str(number), "x", label="AB"[number % 4 == 0]) for number in range(200)]
    done = procedure.assign_splits(documents)
    assert Counter((document.split, document.label) for document in done) == {
        **{("train", "A"): 90, ("dev", "A"): 30, ("test", "A"): 30},
        **{("train", "B"): 30, ("dev", "B"): 10, ("test", "B"): 10},
    }
    assert done == procedure.assign_splits(documents)
