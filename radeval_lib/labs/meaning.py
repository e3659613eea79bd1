"""What a sentence of a student's own says: the reader of findings, for everyday wording too.

The reader knows how radiologists deny. Students also write that a finding cannot be found or that there is
no doubt about it; such phrases are put into the reader's words first.
"""

from __future__ import annotations

import re

from radeval_lib.rules.reader import read
from radeval_lib.rules.reader.records import Finding
from radeval_lib.rules.report_text.words import plain_text

_SEEN = (
    r"(?:seen|found|identified|noticed|recogni[sz]ed|diagnosed|shown|confirmed|indicated|suggested|reported|"
    r"recorded|perceived|observed|detected|discern(?:ed|ible)|there|the case|[io]n the \w+)"
)
_MODAL = r"(?:can|could|will|would|do|does|did|must|should|shall|may)"
_UNSEEN = (
    r"(?:miss|overlook|deny|dispute|doubt|question|ignore|lack|be (?:missing|lacking|without)|"
    r"fail to (?:see|find|notice|identify|recogni[sz]e|show))"
)
_SAID = r"(?: to (?:say|claim|state))?(?: that)?"
# One after the other, so that a rule sees what those before it wrote: what is denied twice comes before what
# is denied once.
_IN_READERS_WORDS = (
    (r"\bcan(?:not|'t)\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"n't\b", " not"),
    (r"\b(it|that)'s\b", r"\1 is"),
    (r"(?<!-)\b(?:zero|nil)\b(?= ?\w)", "no"),
    (r"\b(are|is|were|was) 0(?= [a-z])(?! (?:mm|cm)\b)", r"\1 no"),
    # "It is not false that", "it is false that there is no" and "it is false that there is"
    (rf"\bit (?:is|was) not (?:false|untrue|wrong|incorrect){_SAID}", ""),
    (
        r"\bit (?:is|was) (?:false|untrue|wrong|incorrect|not (?:true|correct|right|so|the case))" + _SAID,
        "it is false that",
    ),
    (r"\bit is false that there (is|are|was|were) no(?: evidence of)?\b", r"there \1"),
    (r"\bit is false that(?: there (?:is|are|was|were))?\b", "no"),
    # "You cannot miss it", "nobody can deny it"
    (rf"\b{_MODAL} (?:not|never) {_UNSEEN}\b", "see"),
    (rf"\b(?:nobody|none|no[ -]one|no \w+) {_MODAL} (?:ever )?{_UNSEEN}\b", "we see"),
    (r"\b(?:never lacks?|(?:are|is) never (?:lacking|without))\b", "show"),
    (r"\b(can|could) not rule out\b", r"\1 not exclude"),
    (r"\b(?:is|are|was|were) negative for\b", "shows no"),
    # The verb, not "a lack of"; "effusions are lacking in the lungs" says it of the effusions.
    (r"\blacks?\b(?! of)", "shows no"),
    (r"\bare lacking\b(?= (?!in\b|from\b)\w)", "shows no"),
    (r"\bnothing like\b", "no"),
    (r",? without (?:an?y? )?doubt\b,?", ""),
    (
        r"\b(?:there is )?no (?:longer any )?(?:doubt|question|denying|mistaking)\b"
        r"(?: (?:that|about|of))?[:,]?",
        "",
    ),
    (r"\bno (?:absence|lack) of\b", ""),
    (r"\bnot (?:absent|missing|lacking|gone)\b", "seen"),
    (r"\b(?:can|could|will|would) not (see|find|identify)\b", r"do not \1"),
    (
        rf"\b(?:is|are|was|were|has|have|had|can|could|will|would) not (?:to be |been |be )?{_SEEN}\b",
        "is not seen",
    ),
    (rf"\bnot (?:to be )?{_SEEN}\b", "not seen"),
    (r"\b(?:does|did|will|would) not (?:appear|exist)(?=\W*$)", "is not seen"),
    (
        r"\bis (?:out of the question|missing|gone|lacking|non-?existent|negative|false|unseen|undetected|"
        r"nowhere to be \w+)\b",
        "is absent",
    ),
    (r"\b(?:negative|none)(?=\W*$)", "is absent"),
    (r"^\W*(?:nil|zero|absent|exclud\w+|rul\w+ out|nothing suggests|fails to show)\b", "no"),
)
_PATTERNS = [(re.compile(pattern, re.IGNORECASE), words) for pattern, words in _IN_READERS_WORDS]


def findings_of(sentence: str) -> list[Finding]:
    """The findings that one sentence states or denies; none where it names none."""
    sentence = plain_text(sentence).text
    for pattern, words in _PATTERNS:
        sentence = pattern.sub(words, sentence)
    return list(read(sentence).findings)
