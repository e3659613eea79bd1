"""Construction from MIMIC-format files written here: sections, pairs, procedures, splits, known flaws."""

from __future__ import annotations

from pathlib import Path

import pytest

from radeval_lib.data import mimic_cxr
from radeval_lib.data.construction import cxr, notes, procedure, rrs
from radeval_lib.data.construction.notes import Note, is_like, split
from radeval_lib.data.errors import FormatError
from radeval_lib.data.records import Document, ReportPair
from radeval_lib.data.restricted import RestrictedText, reveal
from radeval_lib.paths import ROOT
from tests.data import samples

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


def _note(text: str, description: str = "CT HEAD W/O CONTRAST", number: int = 1, patient: str = "7") -> Note:
    return Note(str(number), patient, description, RestrictedText(text, "mimic3"))


def test_sections() -> None:
    found = split("Title\n FINDINGS:  Clear.\n More.\n IMPRESSION: Normal.\n")
    assert [(one.name, one.text.strip()) for one in found] == [
        ("", "Title"),
        ("findings", "Clear.\n More."),
        ("impression", "Normal."),
    ]
    assert [one.name for one in split("no header at all")] == [""]


def test_no_header_is_sought_on_the_line_where_a_section_begins() -> None:
    """The reference code skips that line, ``to avoid some bad parses``."""
    found = split("x\n EXAM:\n CHEST, PA AND LATERAL: two views\n FINDINGS: Clear.")
    assert [one.name for one in found] == ["", "exam", "findings"]


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
    assert rrs.extract(HEAD, "CT_head", rrs.PatternRules()) == (
        "there is no bleeding. the ventricles are normal on ___. the bones are intact.",
        "no acute process.",
    )


FINDINGS, IMPRESSION = " FINDINGS: Clear.\n", " IMPRESSION: Normal.\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("WET READ\n" + FINDINGS + IMPRESSION, "no final report"),
        ("FINAL REPORT\n" + FINDINGS, "no impression"),
        ("FINAL REPORT\n" + FINDINGS + IMPRESSION + "\n" + IMPRESSION, "several impressions"),
        ("FINAL REPORT\n INDICATION: Fall.\n" + IMPRESSION, "no findings"),
        ("FINAL REPORT\n" + FINDINGS + " IMPRESSION: \n ", "empty impression"),
        ("FINAL REPORT\n FINDINGS AND IMPRESSION: Normal.\n", "no impression"),
    ],
)
def test_reports_that_give_no_pair(text: str, reason: str) -> None:
    assert rrs.extract(text, "CT_head", rrs.PatternRules()) == reason
    assert rrs.build([_note(text)], rrs.PatternRules()) == []


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
    assert rrs.extract(report, pair, rrs.PatternRules()) == ("clear.", "normal.")


@pytest.mark.parametrize("header", ["TECHNIQUE OF CT HEAD", "CT CHEST", "HISTORY", "REASON FOR HEAD CT"])
def test_headers_that_do_not(header: str) -> None:
    report = f"FINAL REPORT\n INDICATION: Pain.\n {header}: Clear.\n" + IMPRESSION
    assert rrs.extract(report, "CT_head", rrs.PatternRules()) == "no findings"


def test_findings_come_before_other_headers_and_empty_ones_are_passed_over() -> None:
    report = f"FINAL REPORT\n HEAD CT: Part.\n FINDINGS: {{}}\n {IMPRESSION.strip()}\n"
    assert rrs.extract(report.format("Whole."), "CT_head", rrs.PatternRules()) == ("whole.", "normal.")
    assert rrs.extract(report.format(" "), "CT_head", rrs.PatternRules()) == ("part.", "normal.")


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
    assert rrs.PatternRules().pair(description) == pair


def test_exact_lists(tmp_path: Path) -> None:
    path = tmp_path / "rules.json"
    path.write_bytes(samples.json_bytes(samples.RULES))
    rules = rrs.load_rules(path)
    assert rules.pair("CT HEAD W/O CONTRAST") == "CT_head"
    assert rules.pair("CT HEAD W/ CONTRAST") is None
    assert rules.findings("CT_head", ["", "head ct", "findings", "ct head"]) == [2, 1]


FLAWED = {
    # After the impression, the reference reads the section before: here the impression's own text.
    "shifted": "FINAL REPORT\n" + IMPRESSION + FINDINGS,
    "empty impressions": "FINAL REPORT\n" + FINDINGS + " IMPRESSION: \n ",
    "pooled header": "FINAL REPORT\n FINDINGS AND IMPRESSION: Clear.\n" + IMPRESSION,
    "joined lines": "FINAL REPORT\n FINDINGS: No\nbleeding.\n" + IMPRESSION,
}


def test_each_flaw_of_the_reference_is_counted_alone() -> None:
    assert set(FLAWED) == set(rrs.FLAWS)
    for flaw, text in FLAWED.items():
        expected = dict.fromkeys(rrs.FLAWS, 0) | {flaw: 1}
        assert rrs.differences([_note(text), _note(HEAD)], rrs.PatternRules()) == expected
    every = [_note(text) for text in FLAWED.values()]
    assert rrs.differences(every, rrs.PatternRules()) == dict.fromkeys(rrs.FLAWS, 1)
    assert rrs.differences(
        [_note(text, "CHEST (PA)") for text in FLAWED.values()], rrs.PatternRules()
    ) == dict.fromkeys(rrs.FLAWS, 0)


def test_what_the_flaws_do() -> None:
    rules = rrs.PatternRules()
    assert rrs.extract(FLAWED["shifted"], "CT_head", rules) == ("clear.", "normal.")
    assert rrs.extract(FLAWED["shifted"], "CT_head", rules, ("shifted",)) == ("normal.", "normal.")
    assert rrs.extract(FLAWED["empty impressions"], "CT_head", rules, ("empty impressions",)) == (
        "clear.",
        "",
    )
    assert rrs.extract(FLAWED["joined lines"], "CT_head", rules, ("joined lines",)) == (
        "nobleeding.",
        "normal.",
    )
    assert rrs.extract(FLAWED["pooled header"], "CT_head", rules) == "no findings"
    assert rrs.extract(FLAWED["pooled header"], "CT_head", rules, ("pooled header",)) == ("clear.", "normal.")


def test_pairs_from_a_notes_file(tmp_path: Path) -> None:
    rows = [
        *samples.NOTES,
        ["9", "70", "", "", "Radiology", "CT HEAD W/O CONTRAST", "", HEAD],
        ["10", "71", "", "", "Radiology", "MR PELVIS W/O CONTRAST", "", HEAD],
    ]
    path = tmp_path / "NOTEEVENTS.csv"
    path.write_bytes(samples.csv_bytes(rows))
    built = rrs.build(notes.radiology_notes(path), rrs.PatternRules())
    assert [(pair.id, pair.patient, pair.group) for pair in built] == [
        ("9", "70", "CT_head"),
        ("10", "71", "MR_pelvis"),
    ]


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


def test_patient_split_shares_no_patient() -> None:
    pairs = _pairs("CT_head", 60) + _pairs("CT_chest", 40) + _pairs("MR_neck", 3)
    # A patient with a test-only report and another one.
    pairs.append(ReportPair("x", "a", "b", patient="MR_neck-p0", group="CT_head"))
    done = rrs.patient_split(pairs)
    patients = {
        name: {pair.patient for pair in done if pair.split == name} for name in ("train", "dev", "test")
    }
    assert not patients["train"] & (patients["dev"] | patients["test"])
    assert not patients["dev"] & patients["test"]
    assert len(patients["train"]) == 40  # 80 % of 50
    assert {pair.split for pair in done if pair.group == "MR_neck" or pair.id == "x"} == {"test"}
    # The paper's split does share patients on the same pairs.
    shared = rrs.report_split(pairs)
    train = {pair.patient for pair in shared if pair.split == "train"}
    assert train & {pair.patient for pair in shared if pair.split == "test"}


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
        (
            CT_ABDOMEN.format(reason="CLINICAL INFORMATION & QUESTIONS TO BE ANSWERED:\n  Stones?"),
            "Stones?",
        ),
        ("CT SCAN. COMPARISON: None.\n INDICATION:  Lung mass. COMPARISON: CT of May.", "Lung mass."),
        ("CT SCAN\n HISTORY: Known mass.\n TECHNIQUE: Axial.", "Known mass."),
        ("CT SCAN\n HISTORY: Known mass", "Known mass"),
        ("CT SCAN without a reason", ""),
        ("Reason: pain", "pain"),
        ("Reason:  \n Field of view: 40", ""),
    ],
)
def test_indication(text: str, reason: str) -> None:
    assert procedure.indication(text) == reason


def test_titles() -> None:
    assert procedure.titles(HEAD) == {"CT HEAD W/O CONTRAST"}
    assert procedure.titles(CT_ABDOMEN.format(reason="")) == {"CT ABDOMEN W/CONTRAST", "CT PELVIS W/CONTRAST"}
    assert procedure.titles("no such title") == frozenset()


FLAWED_PROCEDURES = {
    # COMPARISON stands before INDICATION: its offset in the whole text cuts the rest somewhere else.
    "end offset": "CT SCAN\n_____\n COMPARISON: None.\n INDICATION: Lung mass. COMPARISON: CT of May.\n",
    "last character": "CT SCAN\n_____\n HISTORY: Known mass",
    "header words": "CT SCAN\n_____\n MEDICAL CONDITION: pain\n__________\n",
    "nibbled brackets": "CT HEAD *STAT* W/O CONTRAST\n_____\n Reason: pain\n",
    "unsplit titles": "CT HEAD   2 views\n_____\n Reason: pain\n",
}


def test_each_flaw_of_the_procedure_script_is_counted() -> None:
    assert set(FLAWED_PROCEDURES) == set(procedure.FLAWS)
    for flaw, text in FLAWED_PROCEDURES.items():
        assert procedure.differences([_note(text)])[flaw] == 1, flaw
    assert procedure.differences([_note(HEAD)]) == dict.fromkeys(procedure.FLAWS, 0)
    assert procedure.differences([_note(HEAD, "MR HEAD")]) == dict.fromkeys(procedure.FLAWS, 0)


def test_what_the_procedure_flaws_do() -> None:
    text = FLAWED_PROCEDURES
    assert procedure.indication(text["end offset"]) == "Lung mass."
    # 15 characters, the offset of the first COMPARISON in the whole text.
    assert procedure.indication(text["end offset"], ("end offset", "header words")) == "INDICATION: Lun"
    assert procedure.indication(text["last character"], ("last character",)) == "Known mas"
    assert procedure.indication(text["header words"], ("header words",)) == "MEDICAL CONDITION: pain"
    assert procedure.titles(text["unsplit titles"]) == {"CT HEAD"}
    assert procedure.titles(text["unsplit titles"], ("unsplit titles",)) == frozenset()


MAPPING = {frozenset(["CT HEAD W/O CONTRAST"]): "HEAD", frozenset(["CT SCAN"]): "BODY"}


def test_documents_and_rare_classes() -> None:
    texts = [
        HEAD,
        HEAD,
        "CT SCAN\n_____\n HISTORY: Mass.\n TECHNIQUE: x",
        "CT SCAN\n_____\n no reason",
        "CT KNEE\n_____\nReason: x\n",
    ]
    given = [_note(text, number=number, patient=str(number)) for number, text in enumerate(texts)]
    given.append(_note(HEAD, "MR HEAD", 9))
    documents = procedure.build(given, MAPPING, rare=2)
    assert [(one.id, one.label, one.patient) for one in documents] == [
        ("0", "HEAD", "0"),
        ("1", "HEAD", "1"),
        ("2", "Other", "2"),
    ]
    assert reveal(documents[2].text) == "Mass."
    assert procedure.title_counts(given) == {
        frozenset(["CT HEAD W/O CONTRAST"]): 2,
        frozenset(["CT SCAN"]): 1,
        frozenset(["CT KNEE"]): 1,
    }


def _documents(count: int) -> list[Document]:
    return [
        Document(str(number), "x", label="AB"[number % 4 == 0], patient=str(number // 3))
        for number in range(count)
    ]


def test_procedure_report_split_is_stratified() -> None:
    done = procedure.report_split(_documents(200))
    by_split = {name: [one for one in done if one.split == name] for name in ("train", "dev", "test")}
    assert [len(part) for part in by_split.values()] == [120, 40, 40]
    assert [sum(one.label == "B" for one in part) for part in by_split.values()] == [30, 10, 10]
    assert done == procedure.report_split(_documents(200))


def test_a_code_too_rare_for_three_parts_is_named() -> None:
    with pytest.raises(FormatError, match=r"the code 'C' has 4 documents.*Merge codes of fewer than 5"):
        procedure.report_split([*_documents(40), *(Document(f"c{n}", "x", label="C") for n in range(4))])
    assert procedure.report_split([]) == []


def test_procedure_patient_split_shares_no_patient() -> None:
    done = procedure.patient_split(_documents(300))
    patients = {name: {one.patient for one in done if one.split == name} for name in ("train", "dev", "test")}
    assert not patients["train"] & (patients["dev"] | patients["test"])
    assert not patients["dev"] & patients["test"]
    sizes = [sum(one.split == name for one in done) for name in ("train", "dev", "test")]
    assert sum(sizes) == 300
    assert [round(size / 300, 1) for size in sizes] == [0.6, 0.2, 0.2]


CXR = """                                 FINAL REPORT
 EXAMINATION:  Chest radiograph

 INDICATION:  Cough.

 FINDINGS:

 The lungs are clear.  The heart
 is normal.

 IMPRESSION:

 No acute process.
"""


def test_cxr_sections() -> None:
    assert cxr.sections(CXR) == ("The lungs are clear. The heart is normal.", "No acute process.")
    assert cxr.sections("x\n CONCLUSION: Normal.") == ("", "Normal.")
    assert cxr.sections("x\n CHEST, PA AND LATERAL: Clear.\n IMPRESION: Normal.") == ("Clear.", "Normal.")
    assert cxr.sections("x\n FINDINGS: First.\n FINDINGS: Second.\n IMPRESSION: y") == ("Second.", "y")
    assert cxr.sections("x\n FINDINGS: First.\n IMPRESSION: y\n FINDINGS: \n ") == ("First.", "y")
    assert cxr.sections("no sections") == ("", "")


FLAWED_CXR = {
    "ndication": "x\n FINDINGS: Clear.\n NDICATION: Cough.",
    "pooled header": "x\n FINDINGS AND IMPRESSION: Normal.",
    "title as findings": "x\n CHEST RADIOGRAPH PERFORMED: yesterday\n IMPRESSION: Normal.",
}


def test_each_flaw_of_the_cxr_code_is_counted_alone() -> None:
    assert set(FLAWED_CXR) == set(cxr.FLAWS)
    for flaw, text in FLAWED_CXR.items():
        assert cxr.differences([("s1", text), ("s2", CXR)]) == dict.fromkeys(cxr.FLAWS, 0) | {flaw: 1}


def test_cxr_from_files_to_pairs(tmp_path: Path) -> None:
    for study, text in (("s50", CXR), ("s51", "x\n IMPRESSION: Normal.")):
        folder = tmp_path / "files" / "p10" / "p10000032"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{study}.txt").write_text(text)
    found = cxr.build(cxr.studies(tmp_path / "files"))
    cxr.write(found, tmp_path / "mimic_cxr_sectioned.csv")
    loaded = mimic_cxr.load_sections(tmp_path / "mimic_cxr_sectioned.csv")
    (tmp_path / "split.csv").write_bytes(samples.csv_bytes(samples.SPLITS))
    pairs = mimic_cxr.pairs(loaded, mimic_cxr.load_splits(tmp_path / "split.csv"))
    assert [(pair.id, reveal(pair.impression)) for pair in pairs] == [("s50", "No acute process.")]
    with pytest.raises(FormatError, match="no report"):
        list(cxr.studies(tmp_path))
    with pytest.raises(FormatError, match="not written into the repository"):
        cxr.write(found, ROOT / "x.csv")
    assert not list(tmp_path.glob(".part-*"))
