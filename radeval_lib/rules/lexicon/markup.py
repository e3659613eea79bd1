"""The small markup in which the lexicon writes phrases, compiled to text with annotations.

Names of findings, places and descriptors (:func:`parse_name`)::

    {pleural} effusion        words in braces are anatomy, the others observation
    *loss of {disc} height    * marks the head; without it the head is the last word of its kind
    within_normal_limits      _ joins words to one RadGraph entity

Each word is one RadGraph entity that modifies the head of its kind; the observation head is located at the
anatomy head. Function words ("of", "the") are not entities.

Sentences of normality, remarks and conclusions (:func:`parse_sentence`)::

    the <lungs> are (clear)            <> anatomy, () normal state
    no ~acute {osseous} abnormality~   ~~ denied abnormality; ~d:...~ a denied disease
    [!not clear]                       [] abnormal state; ! marks that it is a denied normal one

A state is located at the anatomy that stands before it (else at the one after it).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from radeval_lib.errors import LexiconError

_TOKEN = re.compile(r"[/,:.!?()]|[^\s/,:.!?()]+")
FUNCTION_WORDS = frozenset([
    "of", "the", "in", "and", "with", "to", "for", "from", "at", "or", "by", "a", "an", "per", "than", "on",
    "into", "not", "as", "its",
])  # fmt: skip
_GROUP = re.compile(r"<([^>]*)>|\(([^)]*)\)|\[([^\]]*)\]|~([^~]*)~")
_SIGNS = re.compile(r"[{}*<>()\[\]~|@&]")  # that must not be left when markup is compiled


@lru_cache(maxsize=65536)
def tokenize(text: str) -> tuple[str, ...]:
    """RadGraph's tokens: split at white space, each of ``/ , : . ! ? ( )`` being a token of its own.

    Hyphens and semicolons do not split and decimals do ("2.5" gives 2 . 5), as in the pre-tokenisation of the
    released RadGraph model.
    """
    return tuple(_TOKEN.findall(text))


@dataclass(frozen=True, slots=True)
class Mark:
    """A RadGraph entity inside a phrase: character span, token span (inclusive), tokens, label.

    The label "" stands for an observation whose polarity is decided where the phrase is used.
    """

    start: int
    end: int
    first: int
    last: int
    tokens: str
    label: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """Compiled markup; ``head`` and ``anatomy`` index ``marks`` (-1: none), ``spans`` are RaTE entities."""

    text: str
    ntokens: int
    marks: tuple[Mark, ...]
    relations: tuple[tuple[int, str, int], ...]
    head: int = -1
    anatomy: int = -1
    spans: tuple[tuple[int, int, str], ...] = ()
    words: frozenset[str] = frozenset()


@cache  # the lexicon has most of its names in several places
def parse_name(markup: str, *, anatomy: bool = False, observation: str = "") -> Phrase:
    """Compile the name of a finding, place or descriptor.

    One pass over the words: ``inside`` says whether a brace is open, ``position`` and ``token`` count
    characters and tokens of the text so far. ``heads`` and ``starred`` hold the index of the last word, and
    of the last word with a star, of each kind (True: anatomy).

    Parameters
    ----------
    anatomy : whether every word is anatomy.
    observation : the label of words that are not anatomy.

    Raises
    ------
    LexiconError
        If a brace is not closed, or closed or opened where it must not be, a kind of word has two stars, a
        sign of other markup is left, or no word is a content word.
    """
    marks: list[Mark] = []
    pieces: list[str] = []
    heads: dict[bool, int] = {}
    starred: dict[bool, int] = {}
    inside, broken, position, token = False, False, 0, 0
    for raw in markup.split():
        word, star = raw.removeprefix("*"), raw.startswith("*")
        if word.startswith("{"):
            broken = broken or inside
            inside, word = True, word[1:]
            star = star or word.startswith("*")
            word = word.removeprefix("*")
        closes = word.endswith("}")
        broken = broken or (closes and not inside)
        word = word.removesuffix("}").replace("_", " ")
        count = len(tokenize(word))
        if word not in FUNCTION_WORDS:
            kind = inside or anatomy
            heads[kind] = len(marks)
            if star:
                broken = broken or kind in starred
                starred[kind] = len(marks)
            label = "ANAT-DP" if kind else observation
            tokens = " ".join(tokenize(word))
            marks.append(Mark(position, position + len(word), token, token + count - 1, tokens, label))
        pieces.append(word)
        position, token = position + len(word) + 1, token + count
        if closes:
            inside = False
    if broken or inside or not marks or _SIGNS.search("".join(pieces)):
        raise LexiconError(f"phrase {markup!r} has broken markup or no content word")
    heads.update(starred)
    governed = ((index, heads[mark.label == "ANAT-DP"]) for index, mark in enumerate(marks))
    relations = [(index, "modify", head) for index, head in governed if index != head]
    if True in heads and False in heads:
        relations.append((heads[False], "located_at", heads[True]))
    return Phrase(
        " ".join(pieces),
        token,
        tuple(marks),
        tuple(relations),
        heads.get(False, -1),
        heads.get(True, -1),
        words=frozenset(" ".join(pieces).replace("-", " ").split()) - FUNCTION_WORDS,
    )


_STATES = {1: ("Non-Abnormality", "OBS-DP"), 2: ("Abnormality", "OBS-DP"), 3: ("Non-Abnormality", "OBS-DA")}


def parse_sentence(markup: str) -> Phrase:
    """Compile a sentence, which has no final period; the first letter is made a capital.

    One pass over the groups: ``places`` are the anatomy heads since the last state, ``waiting`` the states
    that found none before them, and ``fresh`` says that a state has just ended the list of places.

    Raises
    ------
    LexiconError
        If it is empty, or a group is not closed or not opened.
    """
    text, token, at = "", 0, 0
    marks: list[Mark] = []
    relations: list[tuple[int, str, int]] = []
    spans: list[tuple[int, int, str]] = []
    places: list[int] = []  # anatomy heads since the last state
    waiting: list[int] = []  # states that found no anatomy before them
    fresh = True
    if not markup.strip() or _SIGNS.search(_GROUP.sub("", markup)):
        raise LexiconError(f"sentence {markup!r} is empty or has broken markup")
    for match in _GROUP.finditer(markup):
        before = markup[at : match.start()]
        text, token, at = text + before, token + len(tokenize(before)), match.end()
        kind, inner = next((i, g) for i, g in enumerate(match.groups()) if g is not None)
        rate, label = _STATES.get(kind, ("Anatomy", "ANAT-DP"))
        if inner.startswith("d:"):
            inner, rate = inner[2:], rate.replace("Abnormality", "Disease")
        if inner.startswith("!"):
            inner, label = inner[1:], "OBS-DA"
        part = parse_name(inner, anatomy=kind == 0, observation=label)
        base, offset = len(marks), len(text)
        marks += [
            Mark(m.start + offset, m.end + offset, m.first + token, m.last + token, m.tokens, m.label)
            for m in part.marks
        ]
        relations += [(base + i, name, base + j) for i, name, j in part.relations]
        spans.append((offset, offset + len(part.text), rate))
        if kind == 0:
            if fresh:
                places, fresh = [], False
            places.append(base + part.anatomy)
            relations += [(state, "located_at", base + part.anatomy) for state in waiting]
            waiting = []
        else:
            head = base + part.head
            if part.anatomy < 0:
                relations += [(head, "located_at", place) for place in places]
                waiting += [] if places else [head]
            fresh = True
        text, token = text + part.text, token + part.ntokens
    text, token = text + markup[at:], token + len(tokenize(markup[at:]))
    if marks and marks[0].start == 0:
        first = marks[0]
        tokens = first.tokens[0].upper() + first.tokens[1:]
        marks[0] = Mark(0, first.end, first.first, first.last, tokens, first.label)
    return Phrase(text[0].upper() + text[1:], token, tuple(marks), tuple(relations), spans=tuple(spans))
