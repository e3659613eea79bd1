"""MIMIC-III reports to findings/impression pairs per modality and anatomy (MIMIC-RRS, Section 2.1).

Patterns decide which pair an examination's name belongs to, and which sections may hold its findings. They
follow the paper's description and its examples of headers; the authors' own lists are in the preprocessing
notebook of the ViLMedic repository.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.readers import Find
from radeval_lib.data.records import Document, ReportPair
from radeval_lib.data.restricted import mark, reveal

NAME = "mimic3_rrs"
# The paper's pairs; the trained ones have three splits, in the order in which the reference shuffles.
TRAINED = ("CT_head", "CT_spine", "CT_chest", "CT_abdomen-pelvis", "MR_head", "CT_neck")
TEST_ONLY = ("CT_sinus", "MR_pelvis", "MR_neck", "MR_abdomen", "MR_spine")
PAIRS = (*TRAINED, *TEST_ONLY)

# A newline, one space, capitals, a colon: the header rule of the MIMIC-CXR code, which MIMIC-RRS shares.
_HEADER = re.compile(r"\n ([A-Z ()/,-]+):\s")
_MODALITIES = {"CT": re.compile(r"\bCTA?\b"), "MR": re.compile(r"\bMR[AIV]?\b|\bMRCP\b")}
_ANATOMIES = {
    "head": re.compile(r"\b(HEAD|BRAIN)\b"),
    "neck": re.compile(r"\bNECK\b"),
    "sinus": re.compile(r"\b(SINUS(ES)?|MAX\w*FACIAL|MANDIBLE)\b"),
    "spine": re.compile(r"\b(SPINE|CERVICAL|THORACIC|LUMBAR)\b"),
    "chest": re.compile(r"\bCHEST\b"),
    "abdomen": re.compile(r"\b(ABD(OMEN|OMINAL)?|MRCP)\b"),
    "pelvis": re.compile(r"\b(PELVIS|PELVIC)\b"),
}
# Interventions have reports of another kind.
_INTERVENTION = re.compile(r"\b(GUID\w*|BIOPSY|DRAIN\w*|NEEDLE|ABLATION|ASPIR\w*|INJ\w*|STEREOTA\w*)\b")
# A heading with one of these words holds no findings: "chest ct technique".
_OTHER_SECTION = re.compile(r"technique|indication|history|comparison|reason|impression|protocol|conclusion")


def radiology_notes(path: Path) -> Iterator[Document]:
    """Yield notes of category Radiology of ``NOTEEVENTS.csv`` or ``.csv.gz``, in the file's order; the label
    is the examination's name."""
    rows = reading.read_csv(path, ("ROW_ID", "SUBJECT_ID", "CATEGORY", "DESCRIPTION", "TEXT"))
    of_radiology = (row for row in rows if row.text("CATEGORY") == "Radiology")
    for row in reading.distinct(of_radiology, "ROW_ID"):
        row_id, patient = (row.take(key, reading.Count) for key in ("ROW_ID", "SUBJECT_ID"))
        name, text = " ".join(row["DESCRIPTION"].split()), mark(row["TEXT"], "mimic3", True)
        yield Document(str(row_id), text, label=name, patient=str(patient))


def split_sections(text: str) -> list[tuple[str, str]]:
    """Return the sections of a report in order, each as its header in lower case and its text. The text
    before the first header has an empty one.

    The line on which a section begins is not searched for another header, as in the reference code: it may
    hold a phrase that looks like one, such as ``CHEST, PA AND LATERAL:``.
    """
    header = _HEADER.search(text)
    sections = [("", text[: header.start()] if header else text)]
    while header:
        begin = header.end()
        line_end = text.find("\n", begin)
        following = _HEADER.search(text, line_end) if line_end >= 0 else None
        sections.append((header[1].lower().strip(), text[begin : following.start() if following else None]))
        header = following
    return sections


def is_like(name: str, wanted: str) -> bool:
    """Return whether a header is ``wanted`` or a misspelling of it, such as ``findigns`` or ``impresion``.

    At least 85 % of the letters agree in order (Ratcliff-Obershelp), which keeps ``complications`` apart from
    ``comparison``.
    """
    return SequenceMatcher(None, name, wanted).ratio() >= 0.85


def group_of(examination: str) -> str | None:
    """Return the modality-anatomy pair that an examination's name refers to; None if it is none of the pairs
    or several."""
    name = examination.upper()
    modalities = [key for key, pattern in _MODALITIES.items() if pattern.search(name)]
    anatomies = [key for key, pattern in _ANATOMIES.items() if pattern.search(name)]
    if len(modalities) != 1 or _INTERVENTION.search(name):
        return None
    if modalities == ["CT"] and anatomies and set(anatomies) <= {"abdomen", "pelvis"}:
        return "CT_abdomen-pelvis"
    group = f"{modalities[0]}_{anatomies[0]}" if len(anatomies) == 1 else None
    return group if group in PAIRS else None


def findings_sections(group: str, headers: Sequence[str]) -> list[int]:
    """Return the indices of the headers whose sections may hold the findings, best first.

    ``group`` is one of :data:`PAIRS`; ``headers`` are in lower case.
    """
    modality, _, anatomy = group.partition("_")
    patterns = [_ANATOMIES[part] for part in anatomy.split("-")]

    def rank(header: str) -> int | None:
        if is_like(header, "findings"):
            return 0
        if _OTHER_SECTION.search(header) or not any(pattern.search(header.upper()) for pattern in patterns):
            return None
        return 1 if header.startswith("finding") else 2 if _MODALITIES[modality].search(header.upper()) else 3

    ranks = [(rank(header), index) for index, header in enumerate(headers)]
    return [index for _, index in sorted((rank, index) for rank, index in ranks if rank is not None)]


def _clean(text: str) -> str:
    """Return ``text`` in lower case on one line, each ``[**...**]`` mark of de-identification as ``___``."""
    return " ".join(re.sub(r"\[\*\*.*?\*\*\]", "___", text.lower(), flags=re.DOTALL).split())


def extract(text: str, group: str) -> tuple[str, str] | None:
    """Return the findings and impression of a note's final report; None if one of them is missing or empty,
    or if there are several impressions."""
    _, final, report = text.partition("FINAL REPORT")
    if not final:
        return None
    without_breaks = re.sub(r"\(Over\).*?\(Cont\)", "", report, flags=re.DOTALL)
    headers, texts = zip(*split_sections(without_breaks), strict=True)
    concluding = [is_like(header, "impression") or header == "impression and plan" for header in headers]
    if sum(concluding) != 1:
        return None
    impression = _clean(texts[concluding.index(True)])
    others = ["impression" if last else header for header, last in zip(headers, concluding, strict=True)]
    findings = next(filter(None, (_clean(texts[index]) for index in findings_sections(group, others))), "")
    return (findings, impression) if findings and impression else None


def build(notes: Iterable[Document]) -> list[ReportPair]:
    """Return report pairs from radiology notes, with their ids and patients."""
    built = []
    for note in notes:
        group = group_of(note.label)
        if group and (sections := extract(reveal(note.text), group)):
            findings, impression = (mark(section, NAME, True) for section in sections)
            built.append(ReportPair(note.id, findings, impression, patient=note.patient, group=group))
    return built


def report_split(pairs: Sequence[ReportPair]) -> list[ReportPair]:
    """Return the paper's split: 80/10/10 by report for the trained pairs, the others for testing only.

    One generator shuffles the trained pairs in a fixed order, as the reference does. Reports of one patient
    may be in several splits.
    """
    generator = random.Random(42)
    result: list[ReportPair] = []
    for group in TRAINED:
        members = [pair for pair in pairs if pair.group == group]
        generator.shuffle(members)
        train, tenth = int(0.8 * len(members)), int(0.1 * len(members))
        splits = ["train"] * train + ["dev"] * tenth + ["test"] * (len(members) - train - tenth)
        result += [replace(pair, split=name) for pair, name in zip(members, splits, strict=True)]
    return result + [replace(pair, split="test") for pair in pairs if pair.group in TEST_ONLY]


def read(find: Find) -> list[ReportPair]:
    path = find("NOTEEVENTS.csv.gz")
    return report_split(build(radiology_notes(path))) if path else []
