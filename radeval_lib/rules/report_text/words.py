"""Words as a reader of reports sees them: lower case, singular, shorthand written out, masks kept apart."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

MASK = "xxxx"
"""The word that stands for any mark of de-identification (XXXX, ___, ____)."""

# In this order: a number ("2.5" of "2.5 cm", "12" of "12."), one without its zero (".5 cm"), shorthand with a
# slash ("w/o"), the x between sizes ("3 x 4"), a denied verb ("can't"), a word, a mask, a separator.
_TOKEN = re.compile(
    r"\d+(?:\.\d+)?(?=[^\w.]|\.\D|\.?$|mm|cm|x)|(?<![\w.])\.\d+(?=\s?[mc]m\b)"
    r"|(?<![a-z0-9/])(?:w/o|w/|b/l|s/p|c/w|r/o|h/o|c/b)(?![/])|(?<=\d)x(?=\s?\d)|[a-z]+n't\b|[a-z0-9]+|_{2,}|[,:/()\[\]&+;?=<>]"
)
# "xxxx", "____".
_MASKED = re.compile(r"x{3,}|_{2,}")
_SHORTHAND = {
    "w/o": ("without",), "w/": ("with",), "b/l": ("bilateral",), "s/p": ("status", "post"),
    "c/w": ("consistent", "with"), "r/o": ("rule", "out"), "h/o": ("history", "of"), "c/b": ("with",),
    "rt": ("right",), "lt": ("left",), "bilat": ("bilateral",), "bil": ("bilateral",), "pulm": ("pulmonary",),
    "ptx": ("pneumothorax",), "pna": ("pneumonia",), "ggo": ("ground", "glass", "opacity"),
    "groundglass": ("ground", "glass"),
    "ild": ("interstitial", "lung", "disease"), "hydroptx": ("hydropneumothorax",),
    "mod": ("moderate",), "sm": ("small",), "sml": ("small",), "lg": ("large",), "atx": ("atelectasis",),
    "bibasal": ("bibasilar",), "cardiomeg": ("cardiomegaly",), "neg": ("negative",), "unchg": ("unchanged",),
    "extubated": ("endotracheal", "tube", "removed"), "extubation": ("endotracheal", "tube", "removed"),
    "intubated": ("endotracheal", "tube"), "reintubated": ("endotracheal", "tube"),
    "eff": ("effusion",), "effs": ("effusion",), "consol": ("consolidation",),
}  # fmt: skip
_FULL = {"can't": "can", "won't": "will"}
"""The verbs that are not what is left without "n't"."""
_BEFORE_NAME = frozenset(
    [
        "",
        ",",
        "and",
        "with",
        "no",
        "mild",
        "moderate",
        "severe",
        "stable",
        "unchanged",
        "borderline",
    ]
)
"""Words after which "CM" is not a unit of length."""
_IRREGULAR = {
    "apices": "apex", "hila": "hilum", "axillae": "axilla", "bullae": "bulla", "foci": "focus",
    "pneumothoraces": "pneumothorax", "metastases": "metastasis", "diagnoses": "diagnosis",
    "thrombi": "thrombus", "emboli": "embolus", "vertebrae": "vertebra", "sulci": "sulcus",
    "bronchi": "bronchus", "diverticula": "diverticulum", "atelectases": "atelectasis", "xray": "radiograph",
    "pleurae": "pleura", "chf": "chf", "tumour": "tumor", "grey": "gray", "aetiology": "etiology",
    "fibre": "fiber", "fibres": "fiber", "centre": "center", "catheterisation": "catheterization",
    "visualised": "visualized", "localised": "localized", "calibre": "caliber", "oesophageal": "esophageal",
}  # fmt: skip


class Token(NamedTuple):
    """A word in its reading form, and where it stands in the text."""

    word: str
    start: int
    end: int


@lru_cache(maxsize=65536)
def singular(word: str) -> str:
    """The form under which vocabularies know a word; the same function reads the vocabularies."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.startswith(("oed", "oes")):
        word = word[1:]
    if word.startswith("haem"):
        word = f"hem{word[4:]}"
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1]


def tokens(text: str) -> list[Token]:
    """The words and separators of a text; hyphens and apostrophes part words and are dropped.

    Shorthand is written out ("b/l", "Rt", "PNA"), each of its words at the place of the whole.
    """
    found: list[Token] = []
    for match in _TOKEN.finditer(text.lower()):
        word, start, end = match.group(), match.start(), match.end()
        if len(word) > 3 and word[-1] == "s" and word[:-1] in _SHORTHAND:
            word = word[:-1]
        if word in _SHORTHAND:
            found += [Token(one, start, end) for one in _SHORTHAND[word]]
        elif word.endswith("n't"):
            found += [Token(_FULL.get(word, word[:-3]), start, end), Token("not", start, end)]
        elif word in ("r", "l") and _is_side(found, text, match):
            found.append(Token("right" if word == "r" else "left", start, end))
        elif word == "cm" and (found[-1].word if found else "") in _BEFORE_NAME:
            found.append(Token("cardiomegaly", start, end))
        else:
            word = MASK if _MASKED.fullmatch(word) else singular(word)
            found.append(Token(word, start, end))
    return found


def _is_side(before: list[Token], text: str, match: re.Match[str]) -> bool:
    """Whether a lone "R" or "L" is a side: no unit ("2 L"), no part of "L-spine" or "T&L spine"."""
    previous = before[-1].word if before else ""
    beside = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    spine = text[match.end() + 1 : match.end() + 6].lower() == "spine"
    return not (previous[-1:].isdigit() or spine or {"&", "'"} & set(beside) or beside[0] == "-")
