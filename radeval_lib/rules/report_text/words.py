"""Splits text into words in the form that the vocabularies have: lower case, singular, abbreviations
written out, and one word for every mark of de-identification."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from unicodedata import category, normalize

from radeval_lib.placeholders import refuse_placeholders

#: The word that replaces every mark of de-identification (XXXX, ___, ____).
MASK = "xxxx"

# The alternatives match, in this order: a number ("2.5" of "2.5 cm", "12" of "12."), one without its zero
# (".5 cm"), shorthand with a slash ("w/o"), the x between sizes ("3 x 4"), a denied verb ("can't"), a word, a
# mask, a separator.
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
    "hrt": ("heart",), "nl": ("normal",), "nml": ("normal",), "clr": ("clear",), "enl": ("enlarged",),
    "incr": ("increased",), "decr": ("decreased",), "nod": ("nodule",), "sil": ("silhouette",),
    "infil": ("infiltrate",), "infilt": ("infiltrate",), "opac": ("opacity",), "atelec": ("atelectasis",),
    "unch": ("unchanged",), "sev": ("severe",), "prob": ("probable",), "poss": ("possible",),
    "lwr": ("lower",), "upr": ("upper",), "chr": ("chronic",), "sl": ("slight",),
    "subcentimeter": ("sub", "centimeter"), "subcentimetre": ("sub", "centimeter"),
    "eff": ("effusion",), "effs": ("effusion",), "consol": ("consolidation",),
}  # fmt: skip
#: Verbs that change before "n't".
_FULL = {"can't": "can", "won't": "will"}
#: Words after which "CM" is not a unit of length.
_BEFORE_NAME = frozenset(
    ["", ",", "and", "with", "no", "mild", "moderate", "severe", "stable", "unchanged", "borderline"]
)
_IRREGULAR = {
    "apices": "apex", "hila": "hilum", "axillae": "axilla", "bullae": "bulla", "foci": "focus",
    "pneumothoraces": "pneumothorax", "metastases": "metastasis", "diagnoses": "diagnosis",
    "calculi": "calculus", "thrombi": "thrombus", "emboli": "embolus", "vertebrae": "vertebra",
    "sulci": "sulcus",
    "bronchi": "bronchus", "diverticula": "diverticulum", "atelectases": "atelectasis", "xray": "radiograph",
    "pleurae": "pleura", "chf": "chf", "tumour": "tumor", "grey": "gray", "aetiology": "etiology",
    "fibre": "fiber", "fibres": "fiber", "centre": "center", "catheterisation": "catheterization",
    "visualised": "visualized", "localised": "localized", "calibre": "caliber", "oesophageal": "esophageal",
}  # fmt: skip


_BEFORE_MONTH = frozenset(["in", "since", "of", "from", "last", "early", "late", "until"])
#: Words before the name of a person.
_TITLES = frozenset(["dr", "doctor", "nurse", "mr", "mrs", "ms", "prof", "professor"])
_BEFORE_CAPITAL = _TITLES | _BEFORE_MONTH


class Token(NamedTuple):
    """A word in the form that the vocabularies have, with its (start, end) in the text."""

    word: str
    start: int
    end: int


@lru_cache(maxsize=65536)
def singular(word: str) -> str:
    """Return a lower-case word in the singular and in American spelling, as vocabularies have it; the
    rules are crude, but the vocabularies are built with the same function."""
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
    """Return the words and separators of a text, in order; hyphens and apostrophes separate words and are
    dropped.

    Abbreviations such as "b/l", "Rt" and "PNA" are written out; each of their words has the position of the
    abbreviation.
    """
    token_list: list[Token] = []
    last_word = ""
    for match in _TOKEN.finditer(text.lower()):
        previous_word, word, (start, end) = last_word, match.group(), match.span()
        last_word = word
        if previous_word in _BEFORE_CAPITAL and text[start].isupper():
            if previous_word in _TITLES:
                token_list.append(Token(MASK, start, end))  # "Dr. Small"
                continue
            word = "month" if word == "may" else word  # "in May"
        if len(word) > 3 and word[-1] == "s" and word[:-1] in _SHORTHAND:
            word = word[:-1]
        if word in _SHORTHAND:
            token_list += [Token(part, start, end) for part in _SHORTHAND[word]]
        elif word.endswith("n't"):
            token_list += [Token(_FULL.get(word, word[:-3]), start, end), Token("not", start, end)]
        elif word in ("r", "l") and _is_side_letter(token_list, text, match):
            token_list.append(Token("right" if word == "r" else "left", start, end))
        elif word == "cm" and (token_list[-1].word if token_list else "") in _BEFORE_NAME:
            token_list.append(Token("cardiomegaly", start, end))
        else:
            word = MASK if _MASKED.fullmatch(word) else singular(word)
            token_list.append(Token(word, start, end))
    return token_list


def _is_side_letter(earlier: list[Token], text: str, match: re.Match[str]) -> bool:
    """Return whether a lone "R" or "L" is a side, and not a unit ("2 L") or a part of "L-spine" or "T&L
    spine"."""
    previous_word = earlier[-1].word if earlier else ""
    neighbours = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    before_spine = text[match.end() + 1 : match.end() + 6].lower() == "spine"
    joined = bool({"&", "'"} & set(neighbours)) or neighbours[0] == "-"
    return not (previous_word[-1:].isdigit() or before_spine or joined)


# Conversion of a text to plain characters, with the position of each in the original.


#: The positions of the first character and behind the last one.
Span = tuple[int, int]

_LINE_FEEDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_DASHES = "\u00ad\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_BULLETS = "\u2022\u00b7\u25cf\u25aa\u25e6\u2023\u2043\u25a0\uf0b7"
_PLAIN = {
    **dict.fromkeys(_LINE_FEEDS, "\n"),
    **dict.fromkeys(_DASHES[1:], "-"),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u2033", '"'),
    **dict.fromkeys(_BULLETS, "\u2022"),
    "\u00d7": "x",
    "\t": " ",
}
_ENTITIES = {"nbsp": " ", "amp": "&", "lt": "<", "gt": ">", "quot": '"', "#39": "'", "#160": " "}
# Line ends, also typed ones ("\n") and tags ("<br>"); tags of letters ("<b>"); tabs; marks of
# de-identification ("[**Name**]", "[DATE 1]", "[redacted]"); entities ("&lt;"); what is not ASCII.
_SPECIAL = re.compile(
    r"(?P<feed>\r\n|(?:\\r)?\\n|\\r(?![a-z])|[\r\v\f\x1c-\x1e]"
    r"|(?i:</?(?:br|p|div|li|ul|ol|tr|td|table|h[1-6])\b[^<>\n]{0,80}>))"
    r"|(?P<nothing>(?i:</?(?:b|i|u|em|strong|span|font)\b[^<>\n]{0,80}>))"
    r"|(?P<blank>\\t|\t)"
    r"|(?P<mask>\[\*\*[^\]\n]{0,80}\*\*\]|\[(?:[A-Z][A-Z _-]{2,30}\d*)\]|<(?:[A-Z][A-Z _-]{2,30}\d*)>"
    r"|(?i:\[(?:redacted|removed|deidentified|de-identified)\]))"
    r"|&(?P<entity>nbsp|amp|lt|gt|quot|#39|#160);"
    r"|(?P<odd>[^\x00-\x7f])"
)
# A character that every match of ``_SPECIAL`` contains; searching for it first is faster.
_NEEDS = re.compile(r"[^\x00-\x7f]|[\r\v\f\t\x1c-\x1e\\<\[&]")
# "2,5 cm", "2'5 cm", "2·5 cm".
_DECIMAL_COMMA = re.compile(r"(?<=\d)[,'\u2022](?=\d{1,2}\s?(?:[cm]m|x|centi|milli))", re.IGNORECASE)


class PlainText(NamedTuple):
    """A text in plain characters; ``places`` has the position in the original of each character and of the
    end."""

    text: str
    places: Sequence[int]


@lru_cache(maxsize=4096)
def _to_plain_character(character: str) -> str:
    """Return plain characters for a character that is not ASCII; an empty text for accents and for invisible
    format characters."""
    if character in _PLAIN:
        return _PLAIN[character]
    kind = category(character)
    if kind in ("Mn", "Cf"):
        return ""
    if kind == "Zs":
        return " "
    return "".join(part for part in normalize("NFKD", character) if category(part) != "Mn") or character


def to_plain_text(text: str) -> PlainText:
    """Return a text with tags, entities, typographic signs and accents replaced by plain characters, and
    marks of de-identification by :data:`MASK` in capitals.

    Raises
    ------
    PlaceholderError
        If the text is the placeholder of a text that is stored only as numbers.
    """
    places: Sequence[int] = range(len(text) + 1)
    if _NEEDS.search(text):
        refuse_placeholders([text], "the reader of reports")
        text, places = _replace_special_characters(text)
    if _DECIMAL_COMMA.search(text):
        text = _DECIMAL_COMMA.sub(".", text)
    return PlainText(text, places)


def _replace_special_characters(text: str) -> tuple[str, list[int]]:
    """Return a text in plain characters, and the position in the original of each character and of the
    end."""
    parts: list[str] = []
    places: list[int] = []
    end = 0
    for match in _SPECIAL.finditer(text):
        start = match.start()
        parts.append(text[end:start])
        places += range(end, start)
        kind = match.lastgroup or ""
        if kind == "odd":
            replacement = _to_plain_character(match.group())
        elif kind == "entity":
            replacement = _ENTITIES[match.group(kind)]
        else:
            replacement = {"feed": "\n", "nothing": "", "blank": " ", "mask": "XXXX"}[kind]
        parts.append(replacement)
        places += [start] * len(replacement)
        end = match.end()
    parts.append(text[end:])
    places += range(end, len(text) + 1)
    return "".join(parts), places
