"""MIMIC-III reports to findings/impression pairs per modality and anatomy (MIMIC-RRS, Section 2.1).

Which examinations belong to a pair and which headers hold findings is decided by rules.
:class:`PatternRules` follows the paper's description (examples of headers included). :func:`load_rules` reads
exact lists instead, for those who want the authors' own: they stand in the preprocessing notebook of the
ViLMedic repository.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from radeval_lib.data import reading
from radeval_lib.data.construction.notes import Note, Section, is_like, mask_deidentified, split
from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import mark

NAME = "mimic3_rrs"
# The paper's pairs; the trained ones have three splits, in the order in which the reference shuffles.
TRAINED = ("CT_head", "CT_spine", "CT_chest", "CT_abdomen-pelvis", "MR_head", "CT_neck")
TEST_ONLY = ("CT_sinus", "MR_pelvis", "MR_neck", "MR_abdomen", "MR_spine")
PAIRS = (*TRAINED, *TEST_ONLY)

# What the reference script does otherwise, and why it is not copied.
FLAWS = {
    "shifted": "takes the text of the section before for findings that stand after the impression",
    "empty impressions": "keeps reports whose impression is empty",
    "pooled header": "takes the header 'findings and impression' for findings",
    "joined lines": "deletes line ends, which joins words where a line does not begin with a space",
}


class Rules(Protocol):
    """Which pair an examination belongs to, and which sections may hold its findings."""

    def pair(self, description: str) -> str | None:
        """The modality-anatomy pair of an examination's name, or None."""

    def findings(self, pair: str, names: Sequence[str]) -> list[int]:
        """Indices of the section names that may hold findings, best first."""


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
_OTHER_SECTION = re.compile(r"technique|indication|history|comparison|reason|impression|protocol|conclusion")


@dataclass(frozen=True)
class PatternRules:
    """Rules after the paper's description: an examination names one modality and one anatomy of the pairs."""

    def pair(self, description: str) -> str | None:
        name = description.upper()
        modalities = [key for key, pattern in _MODALITIES.items() if pattern.search(name)]
        anatomies = [key for key, pattern in _ANATOMIES.items() if pattern.search(name)]
        if len(modalities) != 1 or _INTERVENTION.search(name):
            return None
        if modalities == ["CT"] and anatomies and set(anatomies) <= {"abdomen", "pelvis"}:
            return "CT_abdomen-pelvis"
        found = f"{modalities[0]}_{anatomies[0]}" if len(anatomies) == 1 else None
        return found if found in PAIRS else None

    def findings(self, pair: str, names: Sequence[str]) -> list[int]:
        modality, _, anatomy = pair.partition("_")
        patterns = [_ANATOMIES[part] for part in anatomy.split("-")]
        ranked: list[tuple[int, int]] = []
        for index, name in enumerate(names):
            about = any(pattern.search(name.upper()) for pattern in patterns)
            if is_like(name, "findings"):
                ranked.append((0, index))
            elif _OTHER_SECTION.search(name) or not about:
                continue
            elif name.startswith("finding"):
                ranked.append((1, index))
            elif _MODALITIES[modality].search(name.upper()):
                ranked.append((2, index))
            else:
                ranked.append((3, index))
        return [index for _, index in sorted(ranked)]


@dataclass(frozen=True)
class ListRules:
    """Rules as exact lists: examinations and findings headers of each pair, headers in order of priority."""

    descriptions: dict[str, str]
    headers: dict[str, tuple[str, ...]]

    def pair(self, description: str) -> str | None:
        return self.descriptions.get(description)

    def findings(self, pair: str, names: Sequence[str]) -> list[int]:
        return [index for header in self.headers[pair] for index, name in enumerate(names) if name == header]


def load_rules(path: Path) -> ListRules:
    """Exact lists from JSON: {pair: {descriptions: [...], headers: [...]}}."""
    descriptions: dict[str, str] = {}
    headers: dict[str, tuple[str, ...]] = {}
    for number, (pair, item) in enumerate(reading.read_json(path, dict).items(), start=1):
        where = f"{path.name}, pair {number}"
        if pair not in PAIRS:
            raise reading.FormatError("unknown pair", where, f"Pairs: {', '.join(PAIRS)}.")
        for description in reading.text_list(item, "descriptions", where):
            if descriptions.setdefault(description, pair) != pair:
                raise reading.FormatError("an examination stands under another pair too", where)
        headers[pair] = reading.text_list(item, "headers", where)
    return ListRules(descriptions, headers)


@dataclass
class Built:
    """The pairs that were built and why the other notes of the same examinations gave none."""

    pairs: list[ReportPair] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def final_report(text: str) -> str:
    """The text from FINAL REPORT on, without the breaks between pages; empty where there is none."""
    begin = text.find("FINAL REPORT")
    return re.sub(r"\(Over\).*?\(Cont\)", "", text[begin:], flags=re.DOTALL) if begin >= 0 else ""


def _clean(text: str, flaws: Collection[str]) -> str:
    lowered = text.strip().lower()
    return " ".join(
        mask_deidentified(lowered.replace("\n", "") if "joined lines" in flaws else lowered).split()
    )


def _is_impression(name: str) -> bool:
    return is_like(name, "impression") or name == "impression and plan"


def extract(text: str, pair: str, rules: Rules, flaws: Collection[str] = ()) -> tuple[str, str] | str:
    """Findings and impression of a report, or in words why it gives none.

    Parameters
    ----------
    text : a note.
    pair : key of the modality-anatomy pair.
    rules : which headers hold findings.
    flaws : keys of :data:`FLAWS` to reproduce.
    """
    report = final_report(text)
    if not report:
        return "no final report"
    sections = split(report)
    names = [_canonical(section, flaws) for section in sections]
    impressions = [index for index, name in enumerate(names) if name == "impression"]
    if len(impressions) != 1:
        return "no impression" if not impressions else "several impressions"
    impression = _clean(sections[impressions[0]].text, flaws)
    findings = ""
    for index in rules.findings(pair, names):
        taken = index
        if "shifted" in flaws and index > impressions[0]:
            # The reference drops the impression's name but not its text: later sections are read one early.
            taken = index - 1
        findings = _clean(sections[taken].text, flaws)
        if findings:
            break
    if not findings:
        return "no findings"
    if not impression and "empty impressions" not in flaws:
        return "empty impression"
    return findings, impression


def _canonical(section: Section, flaws: Collection[str]) -> str:
    if section.name == "findings and impression":
        return "findings" if "pooled header" in flaws else section.name
    return "impression" if _is_impression(section.name) else section.name


def build(notes: Iterable[Note], rules: Rules, flaws: Collection[str] = ()) -> Built:
    """Report pairs of radiology notes, with their ids and patients."""
    built = Built()
    for note in notes:
        pair = rules.pair(note.description)
        if pair is None:
            continue
        result = extract(note.text.reveal(), pair, rules, flaws)
        if isinstance(result, str):
            built.left_out[result] += 1
        elif not result[1]:
            built.left_out["empty impression"] += (
                1  # the reference writes an empty line; a record cannot hold it
            )
        else:
            findings, impression = (mark(part, NAME, True) for part in result)
            built.pairs.append(ReportPair(note.id, findings, impression, patient=note.patient, group=pair))
    return built


def differences(notes: Iterable[Note], rules: Rules) -> dict[str, int]:
    """How many reports come out otherwise with each flaw of the reference script alone."""
    changed = dict.fromkeys(FLAWS, 0)
    for note in notes:
        pair = rules.pair(note.description)
        if pair is None:
            continue
        text = note.text.reveal()
        ours = extract(text, pair, rules)
        for flaw in FLAWS:
            changed[flaw] += extract(text, pair, rules, (flaw,)) != ours
    return changed


def report_split(pairs: Sequence[ReportPair], seed: int = 42) -> list[ReportPair]:
    """The paper's split: 80/10/10 by report for the trained pairs, the others for testing only.

    One generator shuffles the trained pairs in a fixed order, as the reference does. Reports of one patient
    may stand in several splits: see :func:`patient_split`.
    """
    generator = random.Random(seed)
    result: list[ReportPair] = []
    for group in TRAINED:
        members = [pair for pair in pairs if pair.group == group]
        generator.shuffle(members)
        train, tenth = int(0.8 * len(members)), int(0.1 * len(members))
        for position, pair in enumerate(members):
            name = "train" if position < train else "dev" if position < train + tenth else "test"
            result.append(replace(pair, split=name))
    return result + [replace(pair, split="test") for pair in pairs if pair.group in TEST_ONLY]


def patient_split(pairs: Sequence[ReportPair], seed: int = 42) -> list[ReportPair]:
    """80/10/10 by patient: no patient of the development or test set is in the training set.

    Test-only pairs stay so; reports of their patients leave no trace in training, so a patient who has such a
    report is a test patient throughout.
    """
    test_only = {pair.patient for pair in pairs if pair.group in TEST_ONLY}
    others = sorted({pair.patient for pair in pairs} - test_only)
    random.Random(seed).shuffle(others)
    train, tenth = int(0.8 * len(others)), int(0.1 * len(others))
    of_patient = {
        patient: "train" if position < train else "dev" if position < train + tenth else "test"
        for position, patient in enumerate(others)
    }
    return [replace(pair, split=of_patient.get(pair.patient, "test")) for pair in pairs]
