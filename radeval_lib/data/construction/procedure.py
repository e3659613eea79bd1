"""Procedure selection from MIMIC-III's CT reports: reason for examination -> procedure code (RaLEs, App. A).

The mapping from titles to codes was made by hand and is private; :func:`title_counts` lists the titles.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.construction.notes import Note
from radeval_lib.data.construction.notes import differences as count_differences
from radeval_lib.data.errors import FormatError
from radeval_lib.data.records import Document
from radeval_lib.data.restricted import mark

NAME = "mimic3_procedure"
RARE = 100  # codes with fewer reports become OTHER (Appendix A; not in the released code)
OTHER = "Other"
SEED = 28102022
_FEWEST = 5  # one document each for development and testing, and three for training

# What the reference script does otherwise, and why it is not copied.
FLAWS = {
    "end offset": "cuts the text at an offset that was found before the text's beginning was removed",
    "last character": "drops the text's last character where the usual end marker is missing",
    "header words": "leaves the section's header in the text",
    "nibbled brackets": "removes from any bracket or asterisk to the next, not whole de-identification marks",
    "unsplit titles": "does not split titles at runs of blanks or tabs, for its patterns hold a stray space",
}

# Sections that hold the reason, in order of preference, with what follows each.
_REASON = "Reason:"
_RULE = "__________"
_SECTIONS = (
    ("MEDICAL CONDITION", _RULE),
    ("CLINICAL INFORMATION & QUESTIONS TO BE ANSWERED", _RULE),
    ("INDICATION", "COMPARISON"),
    ("HISTORY", "TECHNIQUE"),
)
_AFTER_REASON = ("\n", "Admitting Diagnosis:", "Field", "____")
_HEADER_ENDS = ("Reason:", "Admitting Diagnosis:", "Field of view:")


def is_ct(note: Note) -> bool:
    """Whether a note is a CT report by its examination's name."""
    return note.description.startswith("CT")


def _cut(text: str, end: int, flaws: Collection[str]) -> str:
    """``text`` up to ``end``; all of it where ``end`` is -1, for which the reference drops a character."""
    return text[:end] if end >= 0 or "last character" in flaws else text


def indication(text: str, flaws: Collection[str] = ()) -> str:
    """The reason for the examination; empty where none is given."""
    begin = text.find(_REASON)
    if begin >= 0:
        after = text[begin + len(_REASON) :]
        ends = (after.find(marker) for marker in _AFTER_REASON)
        return _cut(after, next((end for end in ends if end >= 0), -1), flaws).strip()
    for header, end_marker in _SECTIONS:
        begin = text.find(header)
        if begin < 0:
            continue
        after = text[begin:]
        # The rule of underscores is looked up in the remaining text by the reference too.
        searched = text if "end offset" in flaws and end_marker != _RULE else after
        end = searched.find(end_marker)
        found = _cut(after, end, flaws)
        return (found if "header words" in flaws else _without_header(found, header)).strip()
    return ""


def _without_header(text: str, header: str) -> str:
    return re.sub(r"^\s*(\(S\))?\s*:?\s*", "", text[len(header) :])


def titles(text: str, flaws: Collection[str] = ()) -> frozenset[str]:
    """Procedure titles in the report's header: pieces that begin with CT and hold no digit."""
    begin = text.find("CT")
    if begin < 0:
        return frozenset()
    end = text.find("_____")
    for marker in _HEADER_ENDS:
        at = text.find(marker)
        if at >= 0 and (at < end or (end < 0 and "last character" not in flaws)):
            end = at
    header = _cut(text, end, flaws)[begin:].replace("Clip #", "")
    mark_of_removal = r"[\[**].*?[**\]]" if "nibbled brackets" in flaws else r"\[\*\*.*?\*\*\]"
    header = re.sub(mark_of_removal, ";", header)
    separator = r"\n" if "unsplit titles" in flaws else r"\n|\s{2,}|\t+"
    pieces = (piece.strip() for piece in re.split(rf";|{separator}", header))
    return frozenset(piece for piece in pieces if piece.startswith("CT") and not re.search(r"\d", piece))


def load(path: Path) -> list[Document]:
    """Documents of ``annotated_dataset.csv``: reason and code."""
    rows = reading.read_csv(path, ("ROW_ID", "indication", "procedure_label"))
    return reading.records(rows, _document, name="ROW_ID")


def _document(row: reading.Entry) -> Iterator[Document]:
    row_id, reason, code = row.whole("ROW_ID"), row.text("indication"), row.text("procedure_label")
    if not (reason and code):
        raise FormatError("a document needs an indication and a procedure_label", row.where)
    yield Document(str(row_id), mark(reason, NAME, True), label=code, patient=row.get("SUBJECT_ID", ""))


def load_mapping(path: Path) -> dict[frozenset[str], str]:
    """Codes by set of titles, from a CSV with ``procedure_titles`` (a Python list) and ``LOINC_NUM``."""
    rows = reading.read_csv(path, ("procedure_titles", "LOINC_NUM"))
    return dict(reading.records(rows, _mapped, itemgetter(0), "procedure_titles"))


def _mapped(row: reading.Entry) -> Iterator[tuple[frozenset[str], str]]:
    try:
        listed = ast.literal_eval(row["procedure_titles"])
    except (ValueError, SyntaxError):
        listed = None
    if not isinstance(listed, list | tuple | set) or not all(isinstance(title, str) for title in listed):
        raise FormatError("procedure_titles must be a list of titles", row.where)
    if not row.text("LOINC_NUM"):
        raise FormatError("no LOINC_NUM", row.where)
    yield frozenset(listed), row.text("LOINC_NUM")


def title_counts(notes: Iterable[Note]) -> Counter[frozenset[str]]:
    """How often each set of titles occurs in the CT reports that have a reason: what a mapping must cover."""
    texts = (note.text.reveal() for note in filter(is_ct, notes))
    return Counter(found for text in texts if (found := titles(text)) and indication(text))


def build(notes: Iterable[Note], mapping: Mapping[frozenset[str], str], rare: int = RARE) -> list[Document]:
    """Reasons with procedure codes of the CT reports that have both; rare codes are merged."""
    documents = []
    for note in filter(is_ct, notes):
        text = note.text.reveal()
        reason, code = indication(text), mapping.get(titles(text))
        if reason and code:
            documents.append(Document(note.id, mark(reason, NAME, True), label=code, patient=note.patient))
    frequency = Counter(document.label for document in documents)
    return [
        replace(document, label=document.label if frequency[document.label] >= rare else OTHER)
        for document in documents
    ]


def differences(notes: Iterable[Note]) -> dict[str, int]:
    """How many CT reports get another reason or other titles with each flaw of the reference script alone."""
    texts = (note.text.reveal() for note in filter(is_ct, notes))
    return count_differences(texts, FLAWS, lambda text, flaws: (indication(text, flaws), titles(text, flaws)))


def report_split(documents: Sequence[Document], seed: int = SEED) -> list[Document]:
    """The paper's split: 60/20/20 by report, stratified by code; patients may stand in several splits."""
    from sklearn.model_selection import train_test_split

    if not documents:
        return []
    rarest, count = min(Counter(document.label for document in documents).items(), key=itemgetter(1))
    if count < _FEWEST:
        raise FormatError(
            f"the code {rarest!r} has {count} documents, too few for a split by code",
            NAME,
            f"Merge codes of fewer than {_FEWEST} documents into {OTHER!r}.",
        )
    labels = [document.label for document in documents]
    rest, test = train_test_split(list(documents), test_size=0.2, random_state=seed, stratify=labels)
    labels = [document.label for document in rest]
    train, dev = train_test_split(rest, test_size=0.25, random_state=seed, stratify=labels)
    parts = {"train": train, "dev": dev, "test": test}
    return [replace(document, split=name) for name, part in parts.items() for document in part]


def patient_split(documents: Sequence[Document], seed: int = SEED) -> list[Document]:
    """About 60/20/20 by patient, stratified by code: no patient stands in two splits."""
    from sklearn.model_selection import StratifiedGroupKFold

    folds = StratifiedGroupKFold(n_splits=5, shuffle=True, random_state=seed)
    labels = [document.label for document in documents]
    patients = [document.patient for document in documents]
    of_index: dict[int, str] = {}
    for name, (_, members) in zip(("test", "dev"), folds.split(labels, labels, patients), strict=False):
        of_index.update(dict.fromkeys(members.tolist(), name))
    return [replace(document, split=of_index.get(index, "train")) for index, document in enumerate(documents)]
