"""The findings in a student's sentence, read by the report parser after everyday phrases are replaced.

The parser knows how radiologists deny a finding. Students also write that a finding cannot be found, or that
there is no doubt about it; these phrases are replaced by phrases that the parser knows.
"""

from __future__ import annotations

import re

from radeval_lib.rules.reader import read
from radeval_lib.rules.reader.records import Finding
from radeval_lib.rules.report_text.words import to_plain_text

_SEEN = r"seen|found|identified|noticed|shown|confirmed|reported|observed|detected|discernible|there|the case"
_REPLACEMENTS = (  # (pattern, replacement), applied in this order
    (r"\b(?:can(?:not|'t)|(?:am|are|is|was|were) unable to)\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"n't\b", " not"),
    (r"(?<!-)\b(?:zero|nil)\b(?= ?\w)", "no"),
    (r"\b(are|is|were|was) 0(?= [a-z])(?! (?:mm|cm)\b)", r"\1 no"),
    (r",? without (?:an?y? )?doubt\b,?", ""),
    (r"\b(?:there is )?no (?:longer any |reason to )?(?:doubt|question)\b(?: (?:that|about|of))?[:,]?", ""),
    (r"\b(?:I|we) doubt\b(?: that)?(?: there (?:is|are))?", "there is no"),
    (r"\bno (?:absence|lack) of\b", ""),
    (r"\bnot (?:absent|missing|gone)\b", "seen"),
    (r"\b(?:can|could|will|would) not (?:be missed|miss|overlook)\b", "see"),
    (r"\b(can|could) not rule out\b", r"\1 not exclude"),
    (r"\b(?:can|could|will|would) not (see|find|identify)\b", r"do not \1"),
    (rf"\b(?:is|are|was|were|has|can|could|will|would) not (?:been |be )?(?:{_SEEN})\b", "is not seen"),
    (rf"\b(?:do|does|did) not (?:seem|appear) (?:to be )?(?:present|likely|{_SEEN})\b", "is not seen"),
    (rf"\bnot (?:{_SEEN})\b", "not seen"),
    (r"\b(?:does|did) not (?:appear|exist)(?=\W*$)", "is not seen"),
    (r"\bis (?:missing|gone|lacking|unseen|out of the question)\b", "is absent"),
    (r"\b(?:negative|none)(?=\W*$)", "is absent"),
)


def find_findings(sentence: str) -> list[Finding]:
    """Return the findings that a sentence states or denies, in order.

    Their offsets refer to the sentence after the replacements.
    """
    sentence = to_plain_text(sentence).text
    for pattern, replacement in _REPLACEMENTS:
        sentence = re.sub(pattern, replacement, sentence, flags=re.IGNORECASE)
    return list(read(sentence).findings)
