"""English plurals of the nouns of the lexicon."""

from __future__ import annotations

import re

from radeval_lib.rules.lexicon.markup import FUNCTION_WORDS

_IRREGULAR = {"focus": "foci", "thrombus": "thrombi", "diverticulum": "diverticula", "bronchus": "bronchi"}


def plural(word: str) -> str:
    """English plural of a noun of the lexicon in the singular ("mass" -> "masses", "metastasis" ->
    "metastases"); a word in the plural gets another ending."""
    stem, _, last = word.rpartition(" ")
    lead = stem + " " if stem else ""
    if last in _IRREGULAR:
        return lead + _IRREGULAR[last]
    for ending, change in (("thorax", "thoraces"), ("sis", "ses"), ("ysts", "ysts"), ("fe", "ves")):
        if last.endswith(ending):
            return lead + last[: -len(ending)] + change
    if re.search(r"(s|x|ch|sh)$", last):
        return lead + last + "es"
    if re.search(r"[^aeiou]y$", last):
        return lead + last[:-1] + "ies"
    return lead + last + "s"


def plural_markup(markup: str) -> str:
    """The markup with its head in the plural: the starred word, else the last one outside braces; the markup
    has a word."""
    words, inside, at = markup.split(), False, -1
    for index, word in enumerate(words):
        inside = inside or word.startswith("{")
        if word.startswith("*"):
            at = index
            break
        if not inside and word not in FUNCTION_WORDS:
            at = index
        inside = inside and not word.endswith("}")
    star = "*" if words[at].startswith("*") else ""
    words[at] = star + plural(words[at].removeprefix("*"))
    return " ".join(words)
