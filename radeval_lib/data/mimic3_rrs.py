"""MIMIC-III reports to findings/impression pairs per modality and anatomy (MIMIC-RRS, Section 2.1).

Rules decide which pair an examination's name belongs to, and which sections may hold its findings.
:class:`PatternRules` follows the paper's description (examples of headers included). :func:`load_rules` reads
exact lists instead, for those who want the authors' own: they are in the preprocessing notebook of the
ViLMedic repository.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.manifests import load_manifest
from radeval_lib.data.readers import Find, Reader
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


def split(text: str) -> list[tuple[str, str]]:
    """Return the sections of a report in order, each as its header and text. Headers are in lower case, and
    empty before the first.

    The line on which a section begins is not searched for another header, as in the reference code: it avoids
    taking a phrase such as ``CHEST, PA AND LATERAL:`` within it for one.
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


class PatternRules:
    """Rules after the paper's description: an examination names one modality and one anatomy of the pairs."""

    def pair(self, description: str) -> str | None:
        """Return the modality-anatomy pair of an examination's name, or None."""
        name = description.upper()
        modalities = [key for key, pattern in _MODALITIES.items() if pattern.search(name)]
        anatomies = [key for key, pattern in _ANATOMIES.items() if pattern.search(name)]
        if len(modalities) != 1 or _INTERVENTION.search(name):
            return None
        if modalities == ["CT"] and anatomies and set(anatomies) <= {"abdomen", "pelvis"}:
            return "CT_abdomen-pelvis"
        pair = f"{modalities[0]}_{anatomies[0]}" if len(anatomies) == 1 else None
        return pair if pair in PAIRS else None

    def findings(self, pair: str, names: Sequence[str]) -> list[int]:
        """Return the indices of the section names that may hold findings, best first."""
        modality, _, anatomy = pair.partition("_")
        patterns = [_ANATOMIES[part] for part in anatomy.split("-")]

        def rank(name: str) -> int | None:
            if is_like(name, "findings"):
                return 0
            if _OTHER_SECTION.search(name) or not any(pattern.search(name.upper()) for pattern in patterns):
                return None
            return 1 if name.startswith("finding") else 2 if _MODALITIES[modality].search(name.upper()) else 3

        ranks = [(rank(name), index) for index, name in enumerate(names)]
        return [index for _, index in sorted((rank, index) for rank, index in ranks if rank is not None)]


@dataclass(frozen=True)
class ListRules:
    """Rules as exact lists: examinations and findings headers of each pair, headers in order of priority."""

    descriptions: dict[str, str]
    headers: dict[str, list[str]]

    def pair(self, description: str) -> str | None:
        """Return the modality-anatomy pair that lists an examination's name, or None."""
        return self.descriptions.get(description)

    def findings(self, pair: str, names: Sequence[str]) -> list[int]:
        """Return the indices of the section names listed for the pair, in the order of the list."""
        return [index for header in self.headers[pair] for index, name in enumerate(names) if name == header]


Rules = PatternRules | ListRules


def load_rules(path: Path) -> ListRules:
    """Return exact lists from JSON: {pair: {descriptions: [...], headers: [...]}}."""
    content = reading.read_json(path, dict)
    if not content.keys() <= {*PAIRS}:
        raise FormatError("unknown pair of modality and anatomy", path.name, f"Name only {', '.join(PAIRS)}.")
    lists = {pair: reading.Entry(item, f"{path.name}, {pair}") for pair, item in content.items()}
    descriptions = {name: pair for pair in lists for name in lists[pair].take("descriptions", list[str])}
    return ListRules(descriptions, {pair: lists[pair].take("headers", list[str]) for pair in lists})


def _clean(text: str) -> str:
    """Return ``text`` in lower case on one line, each ``[**...**]`` mark of de-identification as ``___``."""
    return " ".join(re.sub(r"\[\*\*.*?\*\*\]", "___", text.lower(), flags=re.DOTALL).split())


def extract(text: str, pair: str, rules: Rules) -> tuple[str, str] | str:
    """Return the findings and impression of a note, or the reason in words why it gives none."""
    if (begin := text.find("FINAL REPORT")) < 0:
        return "no final report"
    without_breaks = re.sub(r"\(Over\).*?\(Cont\)", "", text[begin:], flags=re.DOTALL)
    headers, texts = zip(*split(without_breaks), strict=True)
    concluding = [is_like(name, "impression") or name == "impression and plan" for name in headers]
    names = ["impression" if is_last else name for name, is_last in zip(headers, concluding, strict=True)]
    if sum(concluding) != 1:
        return "several impressions" if any(concluding) else "no impression"
    impression = _clean(texts[concluding.index(True)])
    findings = next(filter(None, (_clean(texts[index]) for index in rules.findings(pair, names))), "")
    if not findings:
        return "no findings"
    return (findings, impression) if impression else "empty impression"


def build(notes: Iterable[Document], rules: Rules) -> list[ReportPair]:
    """Return report pairs from radiology notes, with their ids and patients."""
    built = []
    for note in notes:
        if (pair := rules.pair(note.label)) is None:
            continue
        result = extract(reveal(note.text), pair, rules)
        if not isinstance(result, str):
            findings, impression = (mark(part, NAME, True) for part in result)
            built.append(ReportPair(note.id, findings, impression, patient=note.patient, group=pair))
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


def _read(find: Find) -> list[ReportPair]:
    path, listed = (find(file.path) for file in load_manifest(NAME).files)
    if path is None:
        return []
    rules = load_rules(listed) if listed else PatternRules()
    return report_split(build(radiology_notes(path), rules))


READER = Reader(_read)
