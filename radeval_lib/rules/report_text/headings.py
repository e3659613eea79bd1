"""Headings of a report, and which of its sections are about this study.

A heading opens a section, which ends at the next heading. What a statement is:
:mod:`radeval_lib.rules.report_text.statements`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

FINDINGS = "findings"
"""The kind of a section that says what this study shows; so does a text without a heading."""

# What may stand before "history": "past medical history".
_CLINICAL = (
    r"(?:(?:brief|relevant|pertinent|patient|past|family|social|medical|surgical|clinical"
    r"|oncologic(?:al)?)\s)*"
)
# What a report is of: "reason for study".
_STUDY = r"(?:exam(?:ination)?s?|stud(?:y|ies)|procedures?|tests?|visit|scan|imaging|radiographs?|x-?rays?)"
_NAMES = {
    "history": rf"{_CLINICAL}(?:history(?:\sof\spresent\sillness)?|indications?|hx)"
    rf"(?:\s?(?:/|and|&)\s?(?:{_CLINICAL}(?:history|indications?|reason\sfor\s{_STUDY})))?"
    r"|clinical(?:\s(?:information|info|details?|data|statement|background|context|notes?|question|concern"
    r"|presentation|summary|diagnosis|symptoms?|problem))?"
    rf"|(?:{_CLINICAL})?reasons?(?:\sfor\s(?:the\s)?(?:{_STUDY}|referral|consult(?:ation)?|request))?"
    r"|chief\scomplaint|(?:pre-?op(?:erative)?|admitting|ordering|working)\sdiagnos[ie]s|presenting\scomplaint"
    r"|symptoms?|review\sof\ssystems|physical\sexam(?:ination)?|allergies|patient\sinformation",
    "comparison": rf"comparisons?(?:\s{_STUDY})?(?:\sdates?)?|(?:prior|previous)\s{_STUDY}"
    r"|compared\s(?:to|with)",
    "technique": r"(?:exam(?:ination)?\s)?techni(?:que|cal)s?(?:\s(?:factors?|details?|notes?))?|protocol"
    r"|(?:iv\s)?contrast|(?:number\sof\s)?views?|methods?|(?:radiation\s)?dose|medications?",
    "exam": rf"(?:type\sof\s|name\sof\s)?{_STUDY}(?:\s(?:type|date|description|name|performed|title|code))?"
    r"|modality|accession(?:\snumber)?|date(?:\sof\s\w+)?|time|mrn|patient(?:\sname|\sid)?|name|age|sex|dob",
    "wet read": r"wet\s?read(?:ing)?s?|prelim(?:inary)?\s(?:read(?:ing)?|interpretation)|resident\sread",
    "addendum": r"addend(?:um|a)(?:\s(?:\d+|#\d+))?",
    "signature": r"(?:electronically\s)?(?:signed|verified|approved|authenticated|dictated|transcribed"
    r"|reported|reviewed|interpreted|read)(?:\s(?:electronically|by|on|and))+|(?:attending|reading|interpreting|staff)"
    r"?\s?(?:radiologist|physician)|notifications?|cc|critical\sresults?\scommunication",
    "recommendation": r"recommendations?|advice|plan|follow-?\s?up",
    FINDINGS: r"(?:final\s|radiology\s|radiographic\s|imaging\s|chest\s|additional\s|other\s|pertinent\s)*"
    r"(?:findings?|impressions?|report|read|results?)(?:\s?(?:/|and|&)\s?(?:findings?|impressions?"
    r"|conclusions?|recommendations?))?(?:\stext|\sbody)?"
    r"|conclusions?|opinion|interpretation|observations?|assessment|summary|description|narrative|comments?"
    r"|diagnosis|bottom\sline",
}
_ANY = "|".join(f"(?P<{kind.replace(' ', '_')}>{names})" for kind, names in _NAMES.items())
# At the start of a statement with a colon (or a dash); or alone on its line, in capitals.
_HEADING = re.compile(
    rf"(?:(?<![^\s.;,!?>*•])(?i:{_ANY})[ \t]*(?::|(?P<dash>[ \t]-+(?=\s))))"
    r"|^[ \t]*(?P<alone>[A-Z][A-Z /&]{3,40})[ \t]*(?=\n|$)",
    re.MULTILINE,
)
# What every text with a heading has: a colon or line end, a dash behind a word, or nothing but capitals.
_MAY_BE = re.compile(r"[:\n]|[a-zA-Z][ \t]-+\s|^[A-Z /&]{4,}$")
_ALONE = re.compile(rf"(?i:{_ANY})")
# How a signature without a heading begins: "Electronically signed by", "I personally reviewed".
_SIGNED = re.compile(
    r"(?i)(?:electronically|digitally)\s(?:signed|verified|approved)|(?:signed|dictated|transcribed)"
    r"\s(?:by|on|electronically)\b|i\s(?:have\s)?personally\sreviewed|attending\sradiologist\b"
    r"|this\sreport\swas\s(?:electronically|finali[sz]ed|dictated)"
)
# What stands before a heading in lower case: the beginning, a full stop, a bullet, "1)".
_BEFORE_INLINE = re.compile(r"(?:^|[.;!?>*•\n]|\d\))\s*$")


class Heading(NamedTuple):
    """A heading: its kind, its first character, and where its section's text begins."""

    kind: str
    start: int
    end: int


def headings(text: str) -> list[Heading]:
    """The headings of a text, in order.

    One in the middle of a line needs a capital; one in lower case must begin a statement.
    """
    found: list[Heading] = []
    if not _MAY_BE.search(text):
        return found
    for match in _HEADING.finditer(text):
        kind = next(name for name, said in match.groupdict().items() if said is not None and name != "dash")
        if match["dash"] and not _dashed(kind, text, match):
            continue
        if kind == "alone":
            named = _ALONE.fullmatch(match["alone"].strip())
            if named is None or len(match["alone"].strip()) < 4:
                continue
            kind = named.lastgroup or ""
        start = match.start() + len(match.group()) - len(match.group().lstrip())
        if not text[start].isupper() and not _BEFORE_INLINE.search(text[max(0, start - 4) : start]):
            continue
        found.append(Heading(kind.replace("_", " "), start, match.end()))
    return found


def _dashed(kind: str, text: str, match: re.Match[str]) -> bool:
    """Whether what stands before a dash is a heading: in capitals, or where a statement begins."""
    said = match.group()[: -len(match["dash"])]
    begins = _BEFORE_INLINE.search(text[max(0, match.start() - 4) : match.start()]) is not None
    return said[-1:].isupper() or (
        begins and said[:1].isupper() and kind in ("history", "comparison", FINDINGS)
    )


def is_signature(statement: str) -> bool:
    """Whether a statement is a signature without a heading."""
    return _SIGNED.match(statement) is not None
