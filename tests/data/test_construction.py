"""Construction from MIMIC-format files written here: sections, pairs, procedures, splits."""

from __future__ import annotations

import pytest

from radeval_lib.data import mimic3_procedure as procedure
from radeval_lib.data import mimic3_rrs as rrs
from radeval_lib.data.mimic3_rrs import is_like, split
from radeval_lib.data.records import Document, ReportPair
from tests.data.samples import HEAD


def test_sections() -> None:
    sections = split("Title\n FINDINGS:  Clear.\n More.\n IMPRESSION: Normal.\n")
    assert [(name, text.strip()) for name, text in sections] == [
        ("", "Title"),
        ("findings", "Clear.\n More."),
        ("impression", "Normal."),
    ]
    assert split("no header at all") == [("", "no header at all")]


def test_no_header_is_sought_on_the_line_where_a_section_begins() -> None:
    """The reference code skips that line, ``to avoid some bad parses``."""
    sections = split("x\n EXAM:\n CHEST, PA AND LATERAL: two views\n FINDINGS: Clear.")
    assert [name for name, _ in sections] == ["", "exam", "findings"]


@pytest.mark.parametrize(
    ("name", "wanted", "same"),
    [
        ("findigns", "findings", True),
        ("impresion", "impression", True),
        ("impressions", "impression", True),
        ("complications", "comparison", False),
        ("technique", "findings", False),
        ("indication", "impression", False),
    ],
)
def test_misspelt_headers(name: str, wanted: str, same: bool) -> None:
    assert is_like(name, wanted) is same


def test_pair_of_a_report() -> None:
    assert rrs.extract(HEAD, "CT_head") == (
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
    assert rrs.extract(text, "CT_head") is None


@pytest.mark.parametrize(
    ("header", "pair"),
    [
        # The paper's examples for CT head (Section 2.1).
        ("NON-CONTRAST HEAD CT", "CT_head"),
        ("CT HEAD", "CT_head"),
        ("CT HEAD WITHOUT CONTRAST", "CT_head"),
        ("HEAD CT WITHOUT IV CONTRAST", "CT_head"),
        ("CTA HEAD", "CT_head"),
        ("FINDIGNS", "CT_head"),
        ("FINDINGS, BRAIN MRI", "MR_head"),
        ("MRA OF THE NECK", "MR_neck"),
        ("ABDOMEN", "CT_abdomen-pelvis"),
    ],
)
def test_headers_that_hold_findings(header: str, pair: str) -> None:
    report = f"FINAL REPORT\n INDICATION: Pain.\n {header}: Clear.\n" + IMPRESSION
    assert rrs.extract(report, pair) == ("clear.", "normal.")


def test_findings_come_before_other_headers_and_empty_ones_are_passed_over() -> None:
    report = f"FINAL REPORT\n HEAD CT: Part.\n FINDINGS: {{}}\n {IMPRESSION.strip()}\n"
    assert rrs.extract(report.format("Whole."), "CT_head") == ("whole.", "normal.")
    assert rrs.extract(report.format(" "), "CT_head") == ("part.", "normal.")
    after = "FINAL REPORT\n" + IMPRESSION + FINDINGS
    assert rrs.extract(after, "CT_head") == ("clear.", "normal.")


@pytest.mark.parametrize(
    ("description", "pair"),
    [
        ("CT HEAD W/O CONTRAST", "CT_head"),
        ("CTA HEAD W&W/O C & RECONS", "CT_head"),
        ("CT SINUS/MANDIBLE/MAXILLOFACIAL W/O CONTRAST", "CT_sinus"),
        ("CT C-SPINE W/O CONTRAST", "CT_spine"),
        ("CHEST CTA WITH CONTRAST", "CT_chest"),
        ("CT ABDOMEN W/CONTRAST", "CT_abdomen-pelvis"),
        ("CT PELVIS W/O CONTRAST", "CT_abdomen-pelvis"),
        ("CT ABD & PELVIS", "CT_abdomen-pelvis"),
        ("MR HEAD W & W/O CONTRAST", "MR_head"),
        ("MRA NECK W/O CONTRAST", "MR_neck"),
        ("MR L SPINE W/O CONTRAST", "MR_spine"),
        ("MR ABDOMEN W/CONTRAST", "MR_abdomen"),
        ("MR PELVIS W/O CONTRAST", "MR_pelvis"),
        ("CT GUIDED NEEDLE PLACTMENT", None),
        ("CT CHEST W/CONTRAST CT ABDOMEN", None),  # two examinations in one report
        ("CHEST (PORTABLE AP)", None),
        ("MR CHEST", None),  # no such pair
        ("CT LOW EXT W/O C", None),
    ],
)
def test_pair_of_an_examination(description: str, pair: str | None) -> None:
    assert rrs.pair_of(description) == pair


def _pairs(group: str, count: int, reports_each: int = 2) -> list[ReportPair]:
    return [
        ReportPair(f"{group}-{number}", "a", "b", patient=f"{group}-p{number // reports_each}", group=group)
        for number in range(count)
    ]


def test_report_split_is_the_papers() -> None:
    """80/10/10 of the trained pairs, as ``random.shuffle`` with seed 42 gives it over the pairs in order."""
    import random

    pairs = _pairs("CT_head", 20) + _pairs("CT_spine", 10) + _pairs("MR_neck", 3)
    done = rrs.report_split(pairs)
    assert sorted(pair.id for pair in done) == sorted(pair.id for pair in pairs)
    generator = random.Random(42)
    for group, count in (("CT_head", 20), ("CT_spine", 10)):
        names = [f"{group}-{number}" for number in range(count)]
        generator.shuffle(names)
        members = [pair for pair in done if pair.group == group]
        assert [pair.id for pair in members] == names
        splits = [pair.split for pair in members]
        assert [splits.count(split) for split in ("train", "dev", "test")] == [
            count * 8 // 10,
            count // 10,
            count // 10,
        ]
    assert {pair.split for pair in done if pair.group == "MR_neck"} == {"test"}
    assert done == rrs.report_split(pairs)


def _documents(count: int) -> list[Document]:
    return [
        Document(str(number), "x", label="AB"[number % 4 == 0], patient=str(number // 3))
        for number in range(count)
    ]


def test_procedure_report_split_is_stratified() -> None:
    done = procedure.report_split(_documents(200))
    by_split = {
        name: [document for document in done if document.split == name] for name in ("train", "dev", "test")
    }
    assert [len(part) for part in by_split.values()] == [120, 40, 40]
    assert [sum(document.label == "B" for document in part) for part in by_split.values()] == [30, 10, 10]
    assert done == procedure.report_split(_documents(200))
