"""Frames and closed word classes of ``lexicon/grammar.yml``, compiled."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple, TypeVar

from radeval_lib.rules.lexicon.entries import Lexicon
from radeval_lib.rules.lexicon.loading import load_lexicon
from radeval_lib.rules.lexicon.markup import Phrase, parse_name

# "{np}", "[increased]", "[!not changed]".
_SLOT = re.compile(r"\{(\w+)\}|\[(!?)([^\]]+)\]")
_T = TypeVar("_T")


class Frame(NamedTuple):
    """A compiled template.

    ``operations`` are (slot name, "", None), ("word", text, None) and ("mark" or "denied", "", phrase), a
    denied phrase being one that is itself negated ("not changed"); ``slots`` are the names among them.
    """

    operations: tuple[tuple[str, str, Phrase | None], ...]
    slots: frozenset[str]


class Byte(IntEnum):
    """Which byte of a statement's wording decides what, in the order of its bytes from the lowest."""

    FRAME = 0
    NAME = 1
    SEVERITY = 2
    LIST = 3
    PLACE = 4
    SIZE = 5
    CHANGE = 6
    SINCE = 7
    CAUSE = 8
    COMMA = CAUSE  # of a denial, which has no cause
    VERB = 9
    MODE = 10
    EXTRA = 11


def byte(wording: int, which: int) -> int:
    """One byte of the wording, 0 to 255."""
    return (wording >> (8 * which)) & 255


def pick(options: Sequence[_T], wording: int, which: int) -> _T:
    """The option that this byte of the wording stands for."""
    return options[byte(wording, which) % len(options)]


@lru_cache(maxsize=4096)
def article(text: str) -> str:
    """ "a" or "an" before ``text``, by its sound: an opacity, a unilateral, an 8 mm, an NG tube."""
    word = text.split(" ", 1)[0]
    if word[0].isdigit():
        return "an" if re.match(r"8|1[18](\D|$)", word) else "a"
    if len(word) == 1 or word[:2].isupper() or re.match(r"[A-Z]\d", word):
        return "an" if word[0] in "AEFHILMNORSX" else "a"
    if re.match(r"(?i)uni|ure|uti|us[eu]|eu|one", word):
        return "a"
    return "an" if word[0].lower() in "aeiou" else "a"


@lru_cache(maxsize=16384)
def size_phrase(size_mm: tuple[int, ...], centimetres: bool) -> Phrase:
    """A size in words, one RadGraph entity: "8 mm", "2.3 x 1.8 cm"."""
    numbers = [f"{mm / 10:g}" if centimetres else str(mm) for mm in size_mm]
    return parse_name("_x_".join(numbers) + ("_cm" if centimetres else "_mm"))


def compile_frame(template: str) -> Frame:
    """Compile a template of ``grammar.yml``."""
    operations: list[tuple[str, str, Phrase | None]] = []
    at = 0
    for match in _SLOT.finditer(template):
        if literal := template[at : match.start()].strip():
            operations.append(("word", literal, None))
        if match[1]:
            operations.append((match[1], "", None))
        else:
            operations.append(("denied" if match[2] else "mark", "", parse_name(match[3])))
        at = match.end()
    if literal := template[at:].strip():
        operations.append(("word", literal, None))
    return Frame(tuple(operations), frozenset(name for name, _, _ in operations))


Table = dict[str, tuple[Frame, ...]]


def _frames(templates: dict[str, list[str]]) -> Table:
    return {key: tuple(compile_frame(t) for t in said) for key, said in templates.items()}


class Words:
    """What ``grammar.yml`` holds, ready for use."""

    def __init__(self, lexicon: Lexicon) -> None:
        raw = lexicon.grammar
        self._raw = raw
        self._filtered: dict[tuple[str, str, frozenset[str], frozenset[str]], tuple[Frame, ...]] = {}
        self.lists = raw["lists"]
        self.scales = {
            (name, kind): tuple(tuple(parse_name(word) for word in step) for step in scale[kind])
            for name, scale in raw["scales"].items()
            for kind in ("adjectives", "adverbs")
        }
        change, sized = raw["change"], raw["change"]["sized"]
        self.change: dict[tuple[str, bool], Table] = {
            (form, with_size): _frames(change[form] | (sized[form] if with_size else {}))
            for form in ("post", "verb")
            for with_size in (False, True)
        }
        self.change["state", False] = _frames(change["post"] | change["state"])
        self.before = {
            with_size: {
                key: tuple(parse_name(word) for word in said)
                for key, said in (change["pre"] | (sized["pre"] if with_size else {})).items()
            }
            for with_size in (False, True)
        }
        self.again = _frames(raw["again"])
        self.many = tuple(parse_name(word) for word in self.lists["many"])
        self.sides = {word: parse_name(word, anatomy=True) for word in ("left", "right", "bilateral")}
        regions = {
            region.key: region for protocol in lexicon.protocols.values() for region in protocol.regions
        }
        self.bodies = {
            (key, system): body for key, region in regions.items() for system, body in region.bodies.items()
        }

    def frames(
        self,
        kind: str,
        variant: str,
        needs: frozenset[str] = frozenset(),
        lacks: frozenset[str] = frozenset(),
    ) -> tuple[Frame, ...]:
        """Frames of ``kind`` that have the slots ``needs`` and none of ``lacks``."""
        key = (kind, variant, needs, lacks)
        if key not in self._filtered:
            frames = (compile_frame(template) for template in self._raw[kind][variant])
            fit = tuple(frame for frame in frames if needs <= frame.slots and not frame.slots & lacks)
            self._filtered[key] = fit
        return self._filtered[key]


@lru_cache(maxsize=1)
def load_words() -> Words:
    """The compiled grammar of the packaged lexicon."""
    return Words(load_lexicon())
