"""Sections of MIMIC-CXR reports: findings and impression of each study (MIMIC-RRS, Section 2.1).

The reference code has hand-made corrections for 54 studies, none of which has both sections, so none enters a
summarization set; they are not copied.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from radeval_lib import atomic
from radeval_lib.data import reading
from radeval_lib.data.construction import notes
from radeval_lib.data.construction.notes import is_like, split
from radeval_lib.data.errors import FormatError
from radeval_lib.data.mimic_cxr import NAME, Study
from radeval_lib.data.restricted import mark, reveal
from radeval_lib.paths import DATA, ROOT

# What the reference code does otherwise, and why it is not copied.
FLAWS = {
    "ndication": "takes the misspelt header 'ndication' for the impression",
    "pooled header": "takes the header 'findings and impression' for the impression alone",
    "title as findings": "takes an examination's title, such as 'chest radiograph performed', for findings",
}
_SPELLED_OUT = {"conclusion": "impression", "reference findings": "findings"}
_POOLED = re.compile(r"findings (and|/)?\s*impressions?|findings\s*/\s*impressions?")
_VIEWS = re.compile(
    r"chest|portable|pa and lat|lateral and|(ap|frontal) and|(one|two) views?|(frontal|pa|ap|lateral) view"
    r"|frontal |ribs"
)
# A title names how or that pictures were taken; a heading of findings names only views.
_TITLE = re.compile(r"performed|radiograph|examination|exam\b|study|technique|history|indication|comparison")


def section_name(header: str, flaws: Collection[str] = ()) -> str:
    """What a header stands for: ``findings``, ``impression``, or itself."""
    if header == "ndication":
        return "impression" if "ndication" in flaws else "indication"
    if _POOLED.fullmatch(header):
        return "impression" if "pooled header" in flaws else header
    if header in _SPELLED_OUT:
        return _SPELLED_OUT[header]
    for name in ("impression", "findings", "history", "comparison", "addendum", "indication"):
        if name in header or is_like(header, name):
            return name
    if _VIEWS.search(header) and ("title as findings" in flaws or not _TITLE.search(header)):
        return "findings"
    return header


def sections(text: str, flaws: Collection[str] = ()) -> tuple[str, str]:
    """Findings and impression of a report, white space collapsed; each empty where the report has none.

    Of several sections of a name the last that is not empty counts, as in the reference.
    """
    found = {"findings": "", "impression": ""}
    for section in split(text):
        name = section_name(section.name, flaws)
        if name in found and (content := " ".join(section.text.split())):
            found[name] = content
    return found["findings"], found["impression"]


def studies(folder: Path) -> Iterator[tuple[str, str]]:
    """(study, text) of every report below ``files/p1x/p1xxxxxxx/`` of MIMIC-CXR, in order of name."""
    paths = sorted(folder.glob("p[0-9][0-9]/p*/s*.txt"))
    if not paths:
        raise FormatError("no report s<study>.txt", folder.name, "Give the folder that holds p10 to p19.")
    for path in paths:
        yield path.stem, reading.read_text(path)


def build(reports: Iterable[tuple[str, str]]) -> list[Study]:
    """The sections of each report."""
    return [Study(study, *(mark(part, NAME, True) for part in sections(text))) for study, text in reports]


def differences(reports: Iterable[tuple[str, str]]) -> dict[str, int]:
    """How many reports come out otherwise with each flaw of the reference code alone."""
    return notes.differences((text for _, text in reports), FLAWS, sections)


def write(found: Iterable[Study], path: Path) -> None:
    """Write ``mimic_cxr_sectioned.csv``, which :func:`radeval_lib.data.mimic_cxr.load_sections` reads.

    The file holds restricted text: it belongs under the data root.
    """
    place = path.resolve()
    if place.is_relative_to(ROOT) and not place.is_relative_to(DATA):
        raise FormatError(
            "restricted text is not written into the repository", path.name, "Use the data root."
        )
    with atomic.new_file(path) as new, new.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["study", "impression", "findings"])
        for study in found:
            writer.writerow([study.id, reveal(study.impression), reveal(study.findings)])
