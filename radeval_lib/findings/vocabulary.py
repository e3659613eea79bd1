"""What the reader knows: the generator's lexicon turned round, words to meanings, and ``reading.yml``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from radeval_lib import own_yaml
from radeval_lib.findings.phrases import Phrases
from radeval_lib.findings.records import Location
from radeval_lib.lexicon.entries import Lexicon
from radeval_lib.lexicon.loading import load_lexicon
from radeval_lib.report_text import tokens

_FILE = Path(__file__).with_name("reading.yml")
_ORDINALS = (
    *("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th", "11th", "12th"),
    *("first", "second", "third", "fourth", "fifth", "sixth"),
    *("seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
)
_NO_SUBJECTS = frozenset(["left", "right", "anterior", "posterior"])
HOME = "chest"
"""The region that an ambiguous name falls to where the report does not tell its region."""


def plain(text: str) -> str:
    """Words as the reader sees them, joined by blanks."""
    return " ".join(token.word for token in tokens(text))


IGNORED = ""
"""The key of phrases that hold the name of a finding and name none."""


class Sense(NamedTuple):
    """One thing that a name may stand for: ``lead`` are words that must stand before it."""

    key: str
    region: str
    lead: tuple[str, ...] = ()


class Subject(NamedTuple):
    """A structure's reading as the subject of a normal statement: the entry's key and its region."""

    key: str
    region: str


class Spot(NamedTuple):
    """A place, the side it is said with, and its region."""

    location: Location
    region: str


@dataclass(frozen=True)
class Vocabulary:
    """Phrases of every kind.

    ``observations``, ``subjects`` and ``spots`` give every reading of a phrase; ``abnormal_states`` maps
    a structure (its key or its words) and a state to an observation; ``entry_states`` the words that a
    normal statement calls its structure normal with, ``normal`` those that fit every structure;
    ``no_abnormality`` what is denied of a structure by "no acute abnormality"; ``placeless`` are the
    observations whose places are not read; ``sided`` the places that may have a side, ``paired`` the
    observations that have a side and no place; ``places`` is where an observation may be; ``kin`` are pairs
    of near relatives, ``kinds`` pairs of a coarser and a finer name.
    """

    observations: Phrases[list[Sense]]
    subjects: Phrases[list[Subject]]
    spots: Phrases[list[Spot]]
    states: Phrases[str]
    abnormal_states: Mapping[tuple[str, str], str]
    entry_states: Mapping[str, frozenset[str]]
    no_abnormality: Mapping[str, str]
    placeless: frozenset[str]
    normal: frozenset[str]
    stable: frozenset[str]
    degrees: Phrases[int]
    changes: Phrases[str]
    cues: Phrases[str]
    after: Phrases[str]
    links: Phrases[bool]
    sides: Phrases[str]
    sided: frozenset[str]
    paired: frozenset[str]
    places: Mapping[str, frozenset[str]]
    devices: frozenset[str]
    kin: frozenset[frozenset[str]]
    kinds: frozenset[tuple[str, str]]


def _lexicon_names(lexicon: Lexicon) -> Iterator[tuple[str, Sense]]:
    for concept in lexicon.concepts.values():
        for name in (*concept.names, *concept.shorts):
            for phrase in (name.one, name.many):
                if name.lead is None:
                    yield phrase.text, Sense(concept.key, concept.region)
                else:
                    lead = tuple(name.lead.text.lower().replace("-", " ").split())
                    yield f"{name.lead.text} {phrase.text}", Sense(concept.key, concept.region)
                    yield phrase.text, Sense(concept.key, concept.region, lead)
        for phrase, _ in concept.denied:
            yield phrase.text, Sense(concept.key, concept.region)


def _our_names(key: str, name: str) -> Iterator[tuple[str, Sense]]:
    """A name of ``reading.yml``; "calcified | lymph node" needs "calcified" somewhere before "lymph node"."""
    lead, bar, rest = name.rpartition(" | ")
    yield (rest, Sense(key, HOME, tuple(lead.split()))) if bar else (name, Sense(key, HOME))


def _lexicon_places(lexicon: Lexicon, regions: Mapping[str, set[str]]) -> Iterator[tuple[str, Spot]]:
    for place in lexicon.places.values():
        for table in (place.nouns, place.shorts, place.premodifiers):
            for side, phrases in table.items():
                for phrase in phrases:
                    if phrase.text in ("left", "right"):  # "deviated to the left": a side, no place
                        continue
                    for region in regions.get(place.key, {HOME}):
                        yield phrase.text, Spot(Location(place.key, side), region)


def _our_places(raw: Mapping[str, list[str]], lexicon: Lexicon) -> Iterator[tuple[str, Spot]]:
    both = {"bibasilar", "biapical", "bibasal"}
    for key, forms in raw.items():
        for form in _numbered(forms):
            if "@" in form:
                for each in ("left", "right", "bilateral"):
                    yield form.replace("@", each), Spot(Location(key, each), HOME)
            else:
                paired = form in both or form.startswith(("both ", "bilateral ")) or "bilaterally" in form
                side: str | None = "bilateral" if paired else None
                if key == "middle_lobe" or form.startswith("right "):
                    side = "right"
                elif key == "lingula" or form.startswith("left "):
                    side = "left"
                if key in lexicon.places and not lexicon.places[key].sided:
                    side = None
                yield form, Spot(Location(key, side), HOME)


def _numbered(forms: Iterable[str]) -> Iterator[str]:
    """Also "left 7th rib" for "left rib"."""
    for form in forms:
        yield form
        if form.endswith(" rib"):
            for ordinal in _ORDINALS:
                yield f"{form.removesuffix('rib')}{ordinal} rib"


def _grouped(pairs: Iterable[tuple[str, Any]]) -> Phrases[list[Any]]:
    phrases: Phrases[list[Any]] = Phrases()
    for text, value in pairs:
        held = phrases.add(text, [])
        if value not in held:
            held.append(value)
    return phrases


def _observations(pairs: Iterable[tuple[str, Sense]]) -> Phrases[list[Sense]]:
    """The names; one that only another region has may also be the chest's name that it ends with.

    "Multilevel degenerative changes" is a name of the abdomen's lexicon, "degenerative changes" one of the
    chest's too: in a report of the chest the former is the latter.
    """
    pairs = list(pairs)
    phrases = _grouped(pairs)
    for text, sense in pairs:
        words = plain(text).split()
        held = phrases.add(text, [])
        if sense.region == HOME or any(one.region == HOME for one in held):
            continue
        for start in range(1, len(words)):
            shorter = phrases.get(words[start:])
            if home := [one for one in shorter or () if one.region == HOME]:
                held += home
                break
    return phrases


def _subjects(lexicon: Lexicon, raw: Mapping[str, list[str]]) -> Iterator[tuple[str, Subject]]:
    for key, words in raw.items():
        for word in words:
            yield word, Subject(key, HOME)
    for entry in sorted(lexicon.normals.values(), key=lambda one: -one.weight):
        for wordings in entry.wordings.values():
            for phrase in wordings:
                for start, end, label in phrase.spans:
                    if label == "Anatomy" and phrase.text[start:end].lower() not in _NO_SUBJECTS:
                        yield phrase.text[start:end], Subject(entry.key, entry.region)


def _entry_states(lexicon: Lexicon) -> dict[str, frozenset[str]]:
    """Of each normal statement the words that the lexicon calls its structure normal with."""
    return {
        entry.key: frozenset(
            plain(phrase.text[start:end])
            for wordings in entry.wordings.values()
            for phrase in wordings
            for start, end, label in phrase.spans
            if label == "Non-Abnormality"
        )
        for entry in lexicon.normals.values()
    }


def _abnormal(lexicon: Lexicon, raw: Mapping[str, Mapping[str, list[str]]]) -> dict[tuple[str, str], str]:
    """(structure key or words, state) -> observation."""
    table: dict[tuple[str, str], str] = {}
    for structure, states in raw.items():
        for observation, words in states.items():
            for word in words:
                table.setdefault((structure, plain(word)), observation)
    for concept in lexicon.concepts.values():
        for state in concept.states:
            for side, subject in state.subjects.items():
                for adjective in state.adjectives.values():
                    phrase, said = plain(subject.text), plain(adjective.text)
                    table.setdefault((phrase, said), concept.key)
                    if side is not None:
                        table.setdefault((phrase.replace(f"{side} ", ""), said), concept.key)
    return table


def _states(raw: Mapping[str, Any], lexicon: Lexicon, abnormal: Iterable[tuple[str, str]]) -> Phrases[str]:
    phrases: Phrases[str] = Phrases((word, "abnormal") for word in raw["abnormal"])
    for _, word in abnormal:
        phrases.add(word, word)
    for word in raw["normal"]:
        phrases.add(word, "normal")
    for words in _entry_states(lexicon).values():
        for word in words - {"stable"}:
            phrases.add(word, "normal")
    return phrases


def _degrees(raw: Mapping[str, Any], lexicon: Lexicon) -> Iterator[tuple[str, int]]:
    for step, words in raw["severity"].items():
        for word in words:
            yield word, int(step)
    for scale in lexicon.grammar["scales"].values():
        for kind in ("adjectives", "adverbs"):
            for step, words in enumerate(scale[kind]):
                for word in words:
                    yield word, step


def _cues(raw: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for kind in ("no_negation", "hypothetical", "negation_before", "hedge_before", "stops"):
        for word in raw[kind]:
            yield word, kind


def _kinds(raw: Mapping[str, list[str]]) -> frozenset[tuple[str, str]]:
    """(coarser, finer), also through names between them."""
    pairs = {(coarse, fine) for coarse, finer in raw.items() for fine in finer}
    while more := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs |= more
    return frozenset(pairs)


@lru_cache(maxsize=1)
def vocabulary() -> Vocabulary:
    """The vocabulary, compiled once."""
    raw = own_yaml.read(_FILE)
    lexicon = load_lexicon()
    concepts = lexicon.concepts
    ours = [(name, Sense(IGNORED, HOME)) for name in raw["ignored"]]
    for part in ("observations", "names"):
        for key, names in raw[part].items():
            ours += [sense for name in names for sense in _our_names(key, name)]
    regions: dict[str, set[str]] = {}
    for concept in concepts.values():
        for place in concept.places:
            regions.setdefault(place, set()).add(concept.region)
    abnormal = _abnormal(lexicon, raw["states"])
    changes = [(word, kind) for kind, words in raw["change"].items() for word in words]
    changes += [(word, "new") for word in raw["new_marks"]]
    after = [(word, "hedge") for word in raw["hedge_after"]]
    after += [(word, "negation") for word in raw["negation_after"]]
    spots = [*_our_places(raw["places"], lexicon), *_lexicon_places(lexicon, regions)]
    subjects = [*_subjects(lexicon, raw["structures"])]
    subjects += [(words, Subject(words, "")) for words, _ in abnormal if words not in raw["structures"]]
    return Vocabulary(
        _observations([*ours, *_lexicon_names(lexicon)]),
        _grouped(subjects),
        _grouped(spots),
        _states(raw, lexicon, abnormal),
        abnormal,
        _entry_states(lexicon),
        raw["no_abnormality"],
        frozenset(raw["placeless"]),
        frozenset(map(plain, raw["normal"])),
        frozenset(raw["stable"]),
        Phrases(_degrees(raw, lexicon)),
        Phrases(changes),
        Phrases(_cues(raw)),
        Phrases(after),
        Phrases((word, True) for word in raw["links"]),
        Phrases((word, side) for side, words in raw["sides"].items() for word in words),
        frozenset(spot.location.place for _, spot in spots if spot.location.side and spot.location.place),
        frozenset(key for key, concept in concepts.items() if concept.sided and not concept.places),
        {
            key: frozenset(concept.places) | frozenset(raw["usual_places"].get(key, ()))
            for key, concept in concepts.items()
        },
        frozenset(key for key, concept in concepts.items() if concept.device),
        frozenset(frozenset(pair) for family in raw["families"] for pair in combinations(family, 2)),
        _kinds(raw["kinds"]),
    )
