"""Compiles the reader's vocabulary, which maps phrases to meanings, from the lexicon and ``reading.yml``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from radeval_lib import own_yaml
from radeval_lib.rules.lexicon.entries import Lexicon, NormalEntry
from radeval_lib.rules.lexicon.loading import load_lexicon
from radeval_lib.rules.reader.phrases import Phrases, Quality, Spelling
from radeval_lib.rules.reader.records import HOME, IGNORED, Location, Sense, Spot, Subject, normalize
from radeval_lib.rules.report_text import tokens

FILE = Path(__file__).with_name("reading.yml")
#: Endings of adjectives of organs.
_OF_ORGANS = re.compile(r"(?:al|ac|ic|an|ary)$")
# Words with such an ending, or in such a position, that are not adjectives of organs.
_NO_ORGANS = frozenset(
    ["pathologic", "marginal", "prophylactic", "surgical", "metastatic", "posterior", "anterior", "small",
     "cell", "suspicious", "total", "atrial", "midline", "hip", "knee",
     "cardiac", "aortic", "vertebral", "cervical", "subcutaneous"]
)  # fmt: skip
# Words in normal statements that do not say which structure they mean.
_NO_SUBJECTS = frozenset(
    ["visualized portions", "left", "right", "anterior", "posterior", "frontal", "lateral"]
)
#: Kinds of cues that come before the words that they reach; a phrase of two kinds has the first one.
_CUES = ("no_negation", "hypothetical", "negation_before", "hedge_before", "stops")
# Observations that are calcifications, as are those with a finer or coarser name of theirs.
_CALCIFIED = frozenset(["calcification", "prior_granulomatous"])
# A finding that can be at one of these places can have a side.
_OF_LUNGS = frozenset(["lower_lobe", "upper_lobe", "lung_base", "lung_apex", "lung"])


@dataclass(frozen=True)
class Vocabulary:
    """The phrases that the reader knows, by kind, and what they mean.

    Attributes
    ----------
    observations, subjects, spots : names of findings, structures and places, with all possible meanings.
    states : words for a state: normal, abnormal or a word of ``abnormal_states``.
    abnormal_states : observation by structure (its key or its words) and state.
    entry_states : words with which a normal statement calls its structure normal.
    no_abnormality : by structure, the observation that "no acute abnormality" of it denies.
    placeless : observations whose places are not read.
    normal : words for normal that fit every structure.
    normal_if_stable : keys of structures for which "stable" counts as normal.
    degrees : words of degree, with their step of severity from 0.
    changes : words of change, with their kind.
    qualities : words for qualities that exclude each other, as in a :class:`Finding`; None for phrases with
        such a word that state no quality.
    compounds : findings that consist of several others, with these.
    forward_cues : cues before a finding, and words that end the scope of a cue, with their kind.
    possible : words of a hedge that calls a finding merely possible.
    backward_cues : cues behind a finding, with their kind: ``negation`` or ``hedge``.
    links : hedges that link a finding to the diagnosis that it is read as.
    sides : left, right or bilateral.
    sided : places that may have a side.
    paired : observations that have a side and no place.
    places : places where an observation may be.
    devices : observations that are devices.
    spelling : corrections of misspelt words.
    passed_over : words without meaning for the reader.
    looks : words for the appearance of a finding, which are ignored next to one.
    calcified : observations that are calcifications.
    unscaled : words of degree without a step.
    relatives : words for people other than the patient.
    seldom_denied : observations that are not taken as part of a list of denials after a comma alone.
    no_findings : phrases that take modifiers and are not findings.
    neighbours : by numbered place (vertebra or rib), the places next to it.
    malpositions : by device, the places where its tip must not be.
    related : pairs of observations that are near relatives.
    hyponyms : pairs of a coarser and a finer observation.
    limits : structures, with the size in millimetres from which on they are an observation, and that
        observation.
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
    normal_if_stable: frozenset[str]
    degrees: Phrases[int]
    changes: Phrases[str]
    qualities: Phrases[Quality | None]
    compounds: Mapping[str, list[str]]
    forward_cues: Phrases[str]
    possible: frozenset[str]
    backward_cues: Phrases[str]
    links: Phrases[bool]
    sides: Phrases[str]
    sided: frozenset[str]
    paired: frozenset[str]
    places: Mapping[str, frozenset[str]]
    devices: frozenset[str]
    spelling: Spelling
    passed_over: frozenset[str]
    looks: frozenset[str]
    calcified: frozenset[str]
    unscaled: frozenset[str]
    relatives: frozenset[str]
    seldom_denied: frozenset[str]
    no_findings: frozenset[str]
    neighbours: Mapping[str, frozenset[str]]
    malpositions: Mapping[str, frozenset[str]]
    related: frozenset[frozenset[str]]
    hyponyms: frozenset[tuple[str, str]]
    limits: Phrases[tuple[float, str]]

    def takes_side(self, observation: str) -> bool:
        """Return whether the observation can have a side: it is in ``paired``, or one of its places is a lung
        or a part of one."""
        return observation in self.paired or bool(_OF_LUNGS & self.places.get(observation, frozenset()))


def _list_lexicon_names(lexicon: Lexicon) -> Iterator[tuple[str, Sense]]:
    """Yield the names of the lexicon's findings with their senses; a name with a prefix is yielded with
    it, and without it with a sense that requires the prefix somewhere before."""
    for concept in lexicon.concepts.values():
        for name in (*concept.names, *concept.shorts):
            for phrase in (name.one, name.many):
                if name.prefix is None:
                    yield phrase.text, Sense(concept.key, concept.region)
                else:
                    prefix = tuple(name.prefix.text.lower().replace("-", " ").split())
                    yield f"{name.prefix.text} {phrase.text}", Sense(concept.key, concept.region)
                    yield phrase.text, Sense(concept.key, concept.region, prefix)
        for phrase, _ in concept.denied:
            yield phrase.text, Sense(concept.key, concept.region)


def _list_reading_names(raw: Mapping[str, Any]) -> Iterator[tuple[str, Sense]]:
    """Yield the names in ``reading.yml`` with their senses; "calcified | lymph node" requires "calcified"
    somewhere before "lymph node"."""
    yield from ((name, Sense(IGNORED, HOME)) for name in (*raw["ignored"], *raw["no_findings"]))
    for part in ("observations", "names"):
        for key, names in raw[part].items():
            for prefix, _, rest in (name.rpartition(" | ") for name in names):
                yield rest, Sense(key, HOME, tuple(prefix.split()))


def _list_lexicon_places(lexicon: Lexicon) -> Iterator[tuple[str, Spot]]:
    """Yield the names of the lexicon's places with their meanings, once for each region with a finding
    there."""
    regions: dict[str, set[str]] = {}
    for concept in lexicon.concepts.values():
        for key in concept.places:
            regions.setdefault(key, set()).add(concept.region)
    for site in lexicon.places.values():
        for table in (site.nouns, site.shorts, site.premodifiers):
            for side, phrases in table.items():
                for phrase in phrases:
                    # As in "deviated to the left", these are sides and not places.
                    if phrase.text in ("left", "right"):
                        continue
                    for region in regions.get(site.key, {HOME}):
                        yield phrase.text, Spot(Location(site.key, side), region)


def _list_reading_places(raw: Mapping[str, list[str]], lexicon: Lexicon) -> Iterator[tuple[str, Spot]]:
    """Yield the names of places in ``reading.yml`` with their meanings; "@" is replaced by each side."""
    two_sided = {"bibasilar", "biapical", "bibasal", "bihilar"}
    for key, forms in raw.items():
        for form in forms:
            if "@" in form:
                for named_side in ("left", "right", "bilateral"):
                    yield form.replace("@", named_side), Spot(Location(key, named_side), HOME)
            else:
                on_both = (
                    form in two_sided or form.startswith(("both ", "bilateral ")) or "bilaterally" in form
                )
                side: str | None = "bilateral" if on_both else None
                if key == "middle_lobe" or form.startswith("right "):
                    side = "right"
                elif key == "lingula" or form.startswith("left "):
                    side = "left"
                if key in lexicon.places and not lexicon.places[key].sided:
                    side = None
                yield form, Spot(Location(key, side), HOME)


def _group_values(pairs: Iterable[tuple[str, Any]]) -> Phrases[list[Any]]:
    """Return a mapping from each phrase to the list of its distinct values."""
    phrases: Phrases[list[Any]] = Phrases()
    for text, value in pairs:
        values = phrases.add(text, [])
        if value not in values:
            values.append(value)
    return phrases


def _group_observation_names(
    pairs: Iterable[tuple[str, Sense]],
    spots: Sequence[tuple[str, Spot]],
    usual: Mapping[str, frozenset[str]],
    passed_over: frozenset[str],
) -> Phrases[list[Sense]]:
    """Return the senses of each name; a name of another region also gets the senses of the chest's name that
    it ends with.

    "Multilevel degenerative changes" is a name of the abdomen and "degenerative changes" one of the chest: in
    a report of the chest the former means the latter. But an "adrenal nodule" is not a nodule of the chest.

    Parameters
    ----------
    pairs : names with their senses.
    spots : names of places with their meanings.
    usual : by observation, the places where it may be.
    passed_over : words that are ignored.
    """
    pairs = list(pairs)
    anatomy: dict[str, set[str | None]] = {}
    for text, spot in spots:
        for word in normalize(text).split():
            anatomy.setdefault(word, set()).add(spot.location.place if spot.region == HOME else None)
    phrases = _group_values(pairs)
    for text, sense in pairs:
        words = normalize(text).split()
        senses = phrases.add(text, [])
        if sense.region == HOME or any(each.region == HOME for each in senses):
            continue
        for start in range(1, len(words)):
            shorter, before = phrases.get(words[start:]), words[start - 1]
            organ = _OF_ORGANS.search(before) and before not in passed_over
            at = None if before in _NO_ORGANS else anatomy.get(before, set() if organ else None)
            in_chest = [each for each in shorter or () if each.region == HOME]
            if fitting := [each for each in in_chest if at is None or at & usual.get(each.key, frozenset())]:
                senses += fitting
                break
    return phrases


def _list_structure_names(lexicon: Lexicon, raw: Mapping[str, list[str]]) -> Iterator[tuple[str, Subject]]:
    """Yield names of structures with their meanings: those in ``reading.yml``, then those in the
    lexicon's normal statements, the most common statements first."""
    yield from ((word, Subject(key, HOME)) for key, words in raw.items() for word in words)
    for entry in sorted(lexicon.normals.values(), key=lambda entry: -entry.weight):
        for text in _find_labelled_parts(entry, "Anatomy"):
            if text.lower() not in _NO_SUBJECTS:
                yield text, Subject(entry.key, entry.region)


def _find_labelled_parts(entry: NormalEntry, label: str) -> Iterator[str]:
    """Yield the parts of the wordings of a normal statement that have a label, such as "Anatomy"."""
    for wordings in entry.wordings.values():
        for phrase in wordings:
            yield from (phrase.text[start:end] for start, end, kind in phrase.spans if kind == label)


def _get_entry_states(lexicon: Lexicon) -> dict[str, frozenset[str]]:
    """Return, by the key of each normal statement of the lexicon, the words that call its structure
    normal."""
    return {
        entry.key: frozenset(map(normalize, _find_labelled_parts(entry, "Non-Abnormality")))
        for entry in lexicon.normals.values()
    }


def _collect_abnormal_states(
    lexicon: Lexicon,
    raw: Mapping[str, Mapping[str, list[str]]],
    named: Mapping[str, list[str]],
    enlarged: list[str],
) -> dict[tuple[str, str], str]:
    """Return the observation that a structure in a state is, by the structure's key or words and the state.

    ``raw`` gives states by structure, ``named`` names of observations, such as "enlarged heart", and
    ``enlarged`` the words for that state.
    """
    table: dict[tuple[str, str], str] = {}
    for structure, states in raw.items():
        for observation, words in states.items():
            for word in words + (enlarged if "enlarged" in words else []):
                table.setdefault((structure, normalize(word)), observation)
    for observation, names in named.items():
        for name in names:
            first, _, structure = name.partition(" ")
            if first in ("enlarged", "dilated", "widened", "elevated") and "xxxx" not in name:
                for word in (first, *(enlarged if first != "elevated" else [])):
                    table.setdefault((normalize(structure), normalize(word)), observation)
    for concept in lexicon.concepts.values():
        for state in concept.states:
            for side, subject in state.subjects.items():
                for adjective in state.adjectives.values():
                    structure, word = normalize(subject.text), normalize(adjective.text)
                    table.setdefault((structure, word), concept.key)
                    if side is not None:
                        table.setdefault((structure.replace(f"{side} ", ""), word), concept.key)
    return table


def _build_state_phrases(
    raw: Mapping[str, Any], lexicon: Lexicon, abnormal: Iterable[tuple[str, str]]
) -> Phrases[str]:
    """Return the words for states with their kind; a word that is abnormal for one structure is normal for
    none."""
    phrases: Phrases[str] = Phrases((word, "abnormal") for word in raw["abnormal"])
    for _, word in abnormal:
        phrases.add(word, word)
    normals = (word for words in _get_entry_states(lexicon).values() for word in words if word != "stable")
    for word in (*raw["normal"], *normals):
        phrases.add(word, "normal")
    return phrases


def _list_degree_words(raw: Mapping[str, Any], lexicon: Lexicon) -> Iterator[tuple[str, int]]:
    """Yield words of degree with their step: those in ``reading.yml``, then those of the lexicon's scales."""
    yield from ((word, int(step)) for step, words in raw["severity"].items() for word in words)
    for scale in lexicon.grammar["scales"].values():
        for kind in ("adjectives", "adverbs"):
            yield from ((word, step) for step, words in enumerate(scale[kind]) for word in words)


def _list_quality_words(raw: Mapping[str, Any]) -> Iterator[tuple[str, Quality | None]]:
    """Yield each word for a quality with the quality, and each phrase with such a word that states no quality
    ("lateral view") with None."""
    for category, kinds in raw["qualities"].items():
        for kind, qualities in kinds.items():
            for quality, words in qualities.items():
                yield from ((word, (category, kind, quality)) for word in words)
    yield from ((phrase, None) for phrase in raw["no_qualities"])


def _split_words(texts: Iterable[str]) -> frozenset[str]:
    """Return all words of texts, in the form of the vocabularies."""
    return frozenset(token.word for text in texts for token in tokens(text))


def _list_values(part: Any) -> Iterator[str]:
    """Yield every single value within a part of ``reading.yml``, as text."""
    if isinstance(part, Mapping):
        for value in part.values():
            yield from _list_values(value)
    elif isinstance(part, list):
        for value in part:
            yield from _list_values(value)
    else:
        yield str(part)


def _list_kind_pairs(raw: Mapping[str, list[str]]) -> frozenset[tuple[str, str]]:
    """Return all pairs (coarser, finer) of observations: those listed in ``raw``, a dictionary from an
    observation to finer ones, and those that follow by transitivity."""
    pairs = {(coarse, fine) for coarse, finer in raw.items() for fine in finer}
    while new_pairs := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs |= new_pairs
    return frozenset(pairs)


@lru_cache(maxsize=1)
def load_vocabulary() -> Vocabulary:
    """Return the reader's vocabulary, which is compiled at the first call."""
    lexicon = load_lexicon()
    raw = own_yaml.read(FILE)
    concepts = lexicon.concepts
    abnormal = _collect_abnormal_states(lexicon, raw["states"], raw["names"], raw["enlarged"])
    after = [(word, "hedge") for word in raw["hedge_after"]]
    after += [(word, "negation") for word in raw["negation_after"]]
    numbered = ((text, Spot(site, HOME)) for text, site in list_numbered_names())
    spots = [*numbered, *_list_reading_places(raw["places"], lexicon), *_list_lexicon_places(lexicon)]
    observations = [*_list_reading_names(raw), *_list_lexicon_names(lexicon)]
    kinds = _list_kind_pairs(raw["kinds"])
    passed_over = _split_words(raw["passed_over"])
    looks = _split_words(phrase.text for phrase in lexicon.looks.values())
    places = {
        key: add_numbered(frozenset(concept.places) | frozenset(raw["usual_places"].get(key, ())))
        for key, concept in concepts.items()
    }
    subjects = [*_list_structure_names(lexicon, raw["structures"])]
    subjects += [(words, Subject(words, "")) for words, _ in abnormal if words not in raw["structures"]]
    return Vocabulary(
        observations=_group_observation_names(observations, spots, places, passed_over | looks),
        subjects=_group_values(subjects),
        spots=_group_values(spots),
        states=_build_state_phrases(raw, lexicon, abnormal),
        abnormal_states=abnormal,
        entry_states=_get_entry_states(lexicon),
        no_abnormality=raw["no_abnormality"],
        placeless=frozenset(raw["placeless"]),
        normal=frozenset(map(normalize, raw["normal"])),
        normal_if_stable=frozenset(raw["stable"]),
        degrees=Phrases(_list_degree_words(raw, lexicon)),
        changes=Phrases((word, kind) for kind, words in raw["change"].items() for word in words),
        qualities=Phrases(_list_quality_words(raw)),
        compounds=raw["compounds"],
        forward_cues=Phrases((word, kind) for kind in _CUES for word in raw[kind]),
        possible=frozenset(raw["possible"]),
        backward_cues=Phrases(after),
        links=Phrases((word, True) for word in raw["links"]),
        sides=Phrases((word, side) for side, words in raw["sides"].items() for word in words),
        sided=frozenset(
            spot.location.place for _, spot in spots if spot.location.side and spot.location.place
        ),
        paired=frozenset(key for key, concept in concepts.items() if concept.sided and not concept.places),
        places=places,
        devices=frozenset(key for key, concept in concepts.items() if concept.device),
        spelling=Spelling(
            _split_words(text for text, _ in (*observations, *spots, *subjects)),
            _split_words(_list_values(raw)),
        ),
        passed_over=passed_over,
        looks=looks,
        calcified=frozenset(fine for pair in kinds if pair[0] in _CALCIFIED for fine in pair),
        unscaled=frozenset(raw["unscaled"]),
        relatives=frozenset(raw["relatives"]),
        seldom_denied=frozenset(raw["seldom_denied"]),
        no_findings=frozenset(map(normalize, raw["no_findings"])),
        neighbours=find_neighbours(raw["numbered"]),
        malpositions={key: frozenset(places) for key, places in raw["malpositions"].items()},
        related=frozenset(frozenset(pair) for family in raw["families"] for pair in combinations(family, 2)),
        hyponyms=kinds,
        limits=Phrases(
            (structure, (limit, observation))
            for observation, structures in raw["limits"].items()
            for structure, limit in structures.items()
        ),
    )


# Vertebrae and ribs: places that reports number, "T8" or "left 7th rib".


_HIGHEST = 12  # the number of thoracic vertebrae and of ribs on a side
# Parts of the spine: letter, name, how many vertebrae it has.
_VERTEBRAE = (("c", "cervical", 7), ("t", "thoracic", _HIGHEST), ("l", "lumbar", 5))
_ORDINALS = (
    *("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th", "11th", "12th"),
    *("first", "second", "third", "fourth", "fifth", "sixth"),
    *("seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
)
SPINE = tuple(f"{letter}{number}" for letter, _, count in _VERTEBRAE for number in range(1, count + 1))
RIBS = tuple(f"rib_{number}" for number in range(1, _HIGHEST + 1))


def list_numbered_names() -> Iterator[tuple[str, Location]]:
    """Yield names of vertebrae and ribs with their meanings: "T8", "eighth thoracic vertebra", "left 7th
    rib"."""
    for letter, name, count in _VERTEBRAE:
        for number in range(1, count + 1):
            location = Location(f"{letter}{number}", None)
            ordinals = _ORDINALS[number - 1 :: _HIGHEST]
            for form in (
                f"{letter}{number}",
                f"{letter} {number}",
                *(f"{ordinal_word} {name}" for ordinal_word in ordinals),
            ):
                for noun in ("", " vertebra", " vertebral body", " body"):
                    if noun or form[0] == letter:
                        yield f"{form}{noun}", location
    for number in range(1, _HIGHEST + 1):
        for ordinal in _ORDINALS[number - 1 :: _HIGHEST]:
            for side in (None, "left", "right", "bilateral"):
                location, side_word = Location(f"rib_{number}", side), side or ""
                for part in ("", "lateral ", "posterior ", "anterior "):
                    yield f"{side_word} {part}{ordinal} rib", location
                    yield f"{part}{side_word} {ordinal} rib", location
                    yield f"{ordinal} {part}{side_word} rib", location


def expand_region(region: str) -> tuple[str, ...]:
    """Return the keys of all vertebrae or ribs of a region, from the upper to the lower end.

    Parameters
    ----------
    region : the keys of its upper and its lower end, joined by a hyphen: "t11-l2" gives t11, t12, l1 and l2.

    Raises
    ------
    ValueError
        If a key is unknown, one end is a rib and the other a vertebra, or the first end is below the last.
    """
    first, _, last = region.partition("-")
    series, kind = (RIBS, "rib") if first in RIBS else (SPINE, "vertebra")
    unknown = [key for key in (first, last) if key not in series]
    members = () if unknown else series[series.index(first) : series.index(last) + 1]
    if not members:
        fault = f"{unknown[0]!r} is not a {kind}" if unknown else f"{first!r} is below {last!r}"
        raise ValueError(f"region {region!r}: {fault}. Write its upper and its lower end, as in 't11-l2'.")
    return members


def find_neighbours(regions: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Return a dictionary from each vertebra and rib to its neighbours and the regions that include it.

    ``regions`` maps names of regions to their ends, written as for :func:`expand_region`.
    """
    table: dict[str, set[str]] = {key: set() for key in (*SPINE, *RIBS)}
    for row in (SPINE, RIBS):
        for first, other in pairwise(row):
            table[first].add(other)
            table[other].add(first)
    for region, ends in regions.items():
        for key in expand_region(ends):
            table[key].add(region)
    return {key: frozenset(near) for key, near in table.items()}


def add_numbered(places: frozenset[str]) -> frozenset[str]:
    """Return a set of places, extended by all vertebrae if it has the spine or a part of the spine, and by
    all ribs if it has the ribs."""
    spine = {"spine", "thoracic_spine", "lumbar_spine", "cervical_spine"} & places
    return places | {*(RIBS if "ribs" in places else ()), *(SPINE if spine else ())}
