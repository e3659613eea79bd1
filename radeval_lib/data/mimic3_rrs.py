"""Extract pairs of findings and impression, by modality and anatomy, from MIMIC-III (MIMIC-RRS, Section 2.1).

Patterns decide which group an examination's name belongs to, and which sections may hold its findings. They
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
from radeval_lib.data.restricted import mark_restricted, reveal

NAME = "mimic3_rrs"
# The paper's groups by modality and anatomy. Those for training have three splits; their order is that in
# which the reference code shuffles them.
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
# Reports on interventions, which are left out.
_INTERVENTION = re.compile(r"\b(GUID\w*|BIOPSY|DRAIN\w*|NEEDLE|ABLATION|ASPIR\w*|INJ\w*|STEREOTA\w*)\b")
# A section whose heading has one of these words holds no findings: "chest ct technique".
_OTHER_SECTION = re.compile(r"technique|indication|history|comparison|reason|impression|protocol|conclusion")


def read_radiology_notes(path: Path) -> Iterator[Document]:
    """Yield the notes of category Radiology in ``NOTEEVENTS.csv`` or ``.csv.gz``, in the file's order.

    The label is the examination's name (``DESCRIPTION``), the id is ``ROW_ID``.

    Raises
    ------
    FormatError
        If a column is missing, a ``ROW_ID`` or ``SUBJECT_ID`` is not a number, or a ``ROW_ID`` is repeated.
    """
    rows = reading.read_csv(path, ("ROW_ID", "SUBJECT_ID", "CATEGORY", "DESCRIPTION", "TEXT"))
    radiology_rows = (row for row in rows if row.text("CATEGORY") == "Radiology")
    for row in reading.require_distinct(radiology_rows, "ROW_ID"):
        row_id, patient = (row.take(key, reading.Count) for key in ("ROW_ID", "SUBJECT_ID"))
        name, text = " ".join(row["DESCRIPTION"].split()), mark_restricted(row["TEXT"], "mimic3")
        yield Document(str(row_id), text, label=name, patient=str(patient))


def split_sections(text: str) -> list[tuple[str, str]]:
    """Return (header, text) for each section of a report, in order.

    Headers are in lower case; the text before the first header has an empty header. As in the reference code,
    the line on which a section begins is not searched for another header: it may contain a phrase that looks
    like one, such as ``CHEST, PA AND LATERAL:``.
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


def is_spelling_of(header: str, word: str) -> bool:
    """Return whether a header is ``word`` or a misspelling of it, such as ``findigns`` or ``impresion``.

    The Ratcliff-Obershelp similarity must be 0.85 or more, which keeps ``complications`` apart from
    ``comparison``.
    """
    return SequenceMatcher(None, header, word).ratio() >= 0.85


def find_group(examination: str) -> str | None:
    """Return the group in :data:`PAIRS`, such as ``CT_head``, that an examination's name indicates.

    Returns None if the name fits no group or several groups, or names an intervention.
    """
    name = examination.upper()
    modalities = [key for key, pattern in _MODALITIES.items() if pattern.search(name)]
    anatomies = [key for key, pattern in _ANATOMIES.items() if pattern.search(name)]
    if len(modalities) != 1 or _INTERVENTION.search(name):
        return None
    if modalities == ["CT"] and anatomies and set(anatomies) <= {"abdomen", "pelvis"}:
        return "CT_abdomen-pelvis"
    group = f"{modalities[0]}_{anatomies[0]}" if len(anatomies) == 1 else None
    return group if group in PAIRS else None


def rank_findings_sections(group: str, headers: Sequence[str]) -> list[int]:
    """Return the indices of the headers whose sections may contain the findings, best first.

    The header *findings* comes first, then headers that name the group's anatomy: those that begin with
    *finding*, those that name the modality, and others. ``group`` is one of :data:`PAIRS`; headers are in
    lower case.
    """
    modality, _, anatomy = group.partition("_")
    patterns = [_ANATOMIES[part] for part in anatomy.split("-")]

    def rank(header: str) -> int | None:
        if is_spelling_of(header, "findings"):
            return 0
        if _OTHER_SECTION.search(header) or not any(pattern.search(header.upper()) for pattern in patterns):
            return None
        return 1 if header.startswith("finding") else 2 if _MODALITIES[modality].search(header.upper()) else 3

    ranks = [(rank(header), index) for index, header in enumerate(headers)]
    return [index for _, index in sorted((rank, index) for rank, index in ranks if rank is not None)]


def _normalize_text(text: str) -> str:
    """Return ``text`` in lower case on one line, with each de-identified part (``[**...**]``) as ``___``."""
    return " ".join(re.sub(r"\[\*\*.*?\*\*\]", "___", text.lower(), flags=re.DOTALL).split())


def extract_sections(text: str, group: str) -> tuple[str, str] | None:
    """Return (findings, impression) of a note's final report, both in lower case and on one line.

    ``text`` is the note, ``group`` the examination's group (one of :data:`PAIRS`). Returns None if the note
    has no final report, one of the two sections is missing or empty, or there are several impressions.
    """
    _, marker, report = text.partition("FINAL REPORT")
    if not marker:
        return None
    unbroken_report = re.sub(r"\(Over\).*?\(Cont\)", "", report, flags=re.DOTALL)
    headers, texts = zip(*split_sections(unbroken_report), strict=True)
    is_impression = [is_spelling_of(name, "impression") or name == "impression and plan" for name in headers]
    if sum(is_impression) != 1:
        return None
    impression = _normalize_text(texts[is_impression.index(True)])
    names = ["impression" if is_one else name for name, is_one in zip(headers, is_impression, strict=True)]
    candidates = (_normalize_text(texts[index]) for index in rank_findings_sections(group, names))
    findings = next(filter(None, candidates), "")
    return (findings, impression) if findings and impression else None


def build_pairs(notes: Iterable[Document]) -> list[ReportPair]:
    """Return the pairs of findings and impression in radiology notes of the paper's groups.

    Notes of other examinations, and those without both sections, are skipped.
    """
    pairs = []
    for note in notes:
        group = find_group(note.label)
        if group and (sections := extract_sections(reveal(note.text), group)):
            findings, impression = (mark_restricted(section, NAME) for section in sections)
            pairs.append(ReportPair(note.id, findings, impression, patient=note.patient, group=group))
    return pairs


def assign_splits(pairs: Sequence[ReportPair]) -> list[ReportPair]:
    """Return the pairs with the paper's split: 80/10/10 in groups for training, all ``test`` in others.

    As in the reference code, one random generator with seed 42 shuffles the groups in the order of
    :data:`TRAINED`. Reports of one patient may be in several splits.
    """
    generator = random.Random(42)
    split_pairs: list[ReportPair] = []
    for group in TRAINED:
        members = [pair for pair in pairs if pair.group == group]
        generator.shuffle(members)
        train_size, dev_size = int(0.8 * len(members)), int(0.1 * len(members))
        splits = ["train"] * train_size + ["dev"] * dev_size
        splits += ["test"] * (len(members) - len(splits))
        split_pairs += [replace(pair, split=name) for pair, name in zip(members, splits, strict=True)]
    return split_pairs + [replace(pair, split="test") for pair in pairs if pair.group in TEST_ONLY]


def read(find: Find) -> list[ReportPair]:
    """Return the pairs in MIMIC-III's notes with the paper's split; empty if the file is absent."""
    path = find("NOTEEVENTS.csv.gz")
    return assign_splits(build_pairs(read_radiology_notes(path))) if path else []
