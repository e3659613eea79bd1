"""Splits text into normalized words: in lower case, singular, with abbreviations expanded, and with one word
for every de-identification marker."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from unicodedata import category, normalize

from radeval_lib.placeholders import refuse_placeholders

#: The word that replaces every de-identification marker, such as "XXXX" or "___".
MASK = "xxxx"

# The alternatives match, in this order: a number ("2.5" in "2.5 cm", "12" in "12."), a number without its
# leading zero (".5 cm"), shorthand with a slash ("w/o"), the x between sizes ("3 x 4"), a negated verb
# ("can't"), a word, a de-identification marker, a separator.
_WORD_PATTERN = re.compile(
    r"\d+(?:\.\d+)?(?=[^\w.]|\.\D|\.?$|mm|cm|x)|(?<![\w.])\.\d+(?=\s?[mc]m\b)"
    r"|(?<![a-z0-9/])(?:w/o|w/|b/l|s/p|c/w|r/o|h/o|c/b)(?![/])|(?<=\d)x(?=\s?\d)|[a-z]+n't\b|[a-z0-9]+|_{2,}|[,:/()\[\]&+;?=<>]"
)
# Matches a de-identification marker, such as "xxxx" or "____".
_DEIDENTIFIED = re.compile(r"x{3,}|_{2,}")
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
#: Verbs that have another form before "n't", with their full form.
_FULL_VERBS = {"can't": "can", "won't": "will"}
#: Words after which "CM" means cardiomegaly and not centimetres; empty at the beginning of a text.
_BEFORE_CARDIOMEGALY = frozenset(
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
#: Words before a month, so that "May" is not the verb.
_BEFORE_MONTH = frozenset(["in", "since", "of", "from", "last", "early", "late", "until"])
#: Words that come before the name of a person.
_TITLES = frozenset(["dr", "doctor", "nurse", "mr", "mrs", "ms", "prof", "professor"])
_BEFORE_CAPITAL = _TITLES | _BEFORE_MONTH


class Token(NamedTuple):
    """A normalized word with its character positions in the text; ``end`` is exclusive."""

    word: str
    start: int
    end: int


@lru_cache(maxsize=65536)
def singular(word: str) -> str:
    """Return a lower-case word in the singular and in American spelling.

    The rules are approximate, but vocabularies are built with the same function, so that words match.
    """
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


def tokenize(text: str) -> list[Token]:
    """Return the normalized words and the punctuation tokens of a text, in order.

    Words are split at hyphens and apostrophes, which are dropped, as are full stops. Abbreviations such as
    "b/l", "Rt" and "PNA" are expanded; each resulting word has the position of the abbreviation. A
    capitalized word after a title ("Dr. Small") becomes :data:`MASK`.
    """
    token_list: list[Token] = []
    last_word = ""
    for match in _WORD_PATTERN.finditer(text.lower()):
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
            token_list += [Token(full_word, start, end) for full_word in _SHORTHAND[word]]
        elif word.endswith("n't"):
            token_list += [Token(_FULL_VERBS.get(word, word[:-3]), start, end), Token("not", start, end)]
        elif word in ("r", "l") and _is_side_letter(token_list, text, match):
            token_list.append(Token("right" if word == "r" else "left", start, end))
        elif word == "cm" and (token_list[-1].word if token_list else "") in _BEFORE_CARDIOMEGALY:
            token_list.append(Token("cardiomegaly", start, end))
        else:
            word = MASK if _DEIDENTIFIED.fullmatch(word) else singular(word)
            token_list.append(Token(word, start, end))
    return token_list


def _is_side_letter(earlier_tokens: list[Token], text: str, match: re.Match[str]) -> bool:
    """Return whether a lone "R" or "L" names a side, unlike the unit in "2 L" or the letter in "L-spine"
    and "T&L spine"."""
    previous_word = earlier_tokens[-1].word if earlier_tokens else ""
    neighbours = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    precedes_spine = text[match.end() + 1 : match.end() + 6].lower() == "spine"
    is_joined = bool({"&", "'"} & set(neighbours)) or neighbours[0] == "-"
    return not (previous_word[-1:].isdigit() or precedes_spine or is_joined)


# Conversion of a text to plain characters, keeping the position of each in the original.


#: The (start, end) of characters in a text, end exclusive.
Span = tuple[int, int]

_LINE_FEEDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_DASHES = "\u00ad\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_BULLETS = "\u2022\u00b7\u25cf\u25aa\u25e6\u2023\u2043\u25a0\uf0b7"
#: A mapping from characters to the plain characters that replace them.
_PLAIN_CHARACTERS = {
    **dict.fromkeys(_LINE_FEEDS, "\n"),
    **dict.fromkeys(_DASHES[1:], "-"),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u2033", '"'),
    **dict.fromkeys(_BULLETS, "\u2022"),
    "\u00d7": "x",
    "\t": " ",
}
_ENTITIES = {"nbsp": " ", "amp": "&", "lt": "<", "gt": ">", "quot": '"', "#39": "'", "#160": " "}
# Line ends, including typed ones ("\n") and tags ("<br>"); formatting tags ("<b>"); tabs; de-identification
# markers ("[**Name**]", "[DATE 1]", "[redacted]"); HTML entities ("&lt;"); characters that are not ASCII.
_SPECIAL = re.compile(
    r"(?P<line_end>\r\n|(?:\\r)?\\n|\\r(?![a-z])|[\r\v\f\x1c-\x1e]"
    r"|(?i:</?(?:br|p|div|li|ul|ol|tr|td|table|h[1-6])\b[^<>\n]{0,80}>))"
    r"|(?P<format_tag>(?i:</?(?:b|i|u|em|strong|span|font)\b[^<>\n]{0,80}>))"
    r"|(?P<tab>\\t|\t)"
    r"|(?P<mask>\[\*\*[^\]\n]{0,80}\*\*\]|\[(?:[A-Z][A-Z _-]{2,30}\d*)\]|<(?:[A-Z][A-Z _-]{2,30}\d*)>"
    r"|(?i:\[(?:redacted|removed|deidentified|de-identified)\]))"
    r"|&(?P<entity>nbsp|amp|lt|gt|quot|#39|#160);"
    r"|(?P<non_ascii>[^\x00-\x7f])"
)
# Matches a character that every match of ``_SPECIAL`` contains; searching for it first is faster.
_MAYBE_SPECIAL = re.compile(r"[^\x00-\x7f]|[\r\v\f\t\x1c-\x1e\\<\[&]")
# Matches the decimal separator in "2,5 cm", "2'5 cm" and "2·5 cm".
_DECIMAL_COMMA = re.compile(r"(?<=\d)[,'\u2022](?=\d{1,2}\s?(?:[cm]m|x|centi|milli))", re.IGNORECASE)


class PlainText(NamedTuple):
    """A text in plain characters, with the offset in the original of each character and of the end."""

    text: str
    offsets: Sequence[int]


@lru_cache(maxsize=4096)
def _to_plain_character(character: str) -> str:
    """Return plain characters for a character that is not ASCII; an empty text for a combining accent or an
    invisible format character."""
    if character in _PLAIN_CHARACTERS:
        return _PLAIN_CHARACTERS[character]
    kind = category(character)
    if kind in ("Mn", "Cf"):
        return ""
    if kind == "Zs":
        return " "
    return "".join(letter for letter in normalize("NFKD", character) if category(letter) != "Mn") or character


def to_plain_text(text: str) -> PlainText:
    """Return a text with tags, entities, typographic signs and accents replaced by plain characters, and
    de-identification markers in brackets by :data:`MASK` in capitals.

    Raises
    ------
    PlaceholderError
        If the text is the placeholder of a text that is stored only as numbers.
    """
    offsets: Sequence[int] = range(len(text) + 1)
    if _MAYBE_SPECIAL.search(text):
        refuse_placeholders([text], "the reader of reports")
        text, offsets = _replace_special_characters(text)
    if _DECIMAL_COMMA.search(text):
        text = _DECIMAL_COMMA.sub(".", text)
    return PlainText(text, offsets)


def _replace_special_characters(text: str) -> tuple[str, list[int]]:
    """Return a text with its special characters replaced, and the offset in the original of each character
    of the new text and of its end."""
    parts: list[str] = []
    offsets: list[int] = []
    end = 0
    for match in _SPECIAL.finditer(text):
        start = match.start()
        parts.append(text[end:start])
        offsets += range(end, start)
        kind = match.lastgroup or ""
        if kind == "non_ascii":
            replacement = _to_plain_character(match.group())
        elif kind == "entity":
            replacement = _ENTITIES[match.group(kind)]
        else:
            replacement = {"line_end": "\n", "format_tag": "", "tab": " ", "mask": "XXXX"}[kind]
        parts.append(replacement)
        offsets += [start] * len(replacement)
        end = match.end()
    parts.append(text[end:])
    offsets += range(end, len(text) + 1)
    return "".join(parts), offsets
