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
from radeval_lib.rules.report_text import tokenize

FILE = Path(__file__).with_name("reading.yml")
#: Matches the ending of an adjective that names an organ, such as "renal".
_ORGAN_ADJECTIVE = re.compile(r"(?:al|ac|ic|an|ary)$")
# Words with such an ending, or in the place of such a word, that name no organ outside the chest.
_NOT_ORGANS = frozenset(
    ["pathologic", "marginal", "prophylactic", "surgical", "metastatic", "posterior", "anterior", "small",
     "cell", "suspicious", "total", "atrial", "midline", "hip", "knee",
     "cardiac", "aortic", "vertebral", "cervical", "subcutaneous"]
)  # fmt: skip
# Words in normal statements that do not show which structure they mean.
_NO_SUBJECTS = frozenset(
    ["visualized portions", "left", "right", "anterior", "posterior", "frontal", "lateral"]
)
#: Kinds of cues that come before the words that they reach; a phrase of two kinds counts as the first.
_CUE_KINDS = ("no_negation", "hypothetical", "negation_before", "hedge_before", "stops")
# Observations that are calcifications, as are their hyponyms.
_CALCIFIED = frozenset(["calcification", "prior_granulomatous"])
# Places in the lungs; an observation that can be at one of them can have a side.
_LUNG_PLACES = frozenset(["lower_lobe", "upper_lobe", "lung_base", "lung_apex", "lung"])


@dataclass(frozen=True)
class Vocabulary:
    """The phrases that the reader knows, with their meanings.

    Attributes
    ----------
    observations, subjects, spots : names of findings, structures and places, each with all its possible
        meanings.
    states : words for a state, each with "normal", "abnormal" or a word of ``abnormal_states``.
    abnormal_states : a mapping from (structure, state) to the observation that they express; a structure is
        given by its key or by its name.
    entry_states : a mapping from the key of a normal statement to the words that call its structure normal.
    no_abnormality : a mapping from the key of a structure to the observation that "no acute abnormality" of
        the structure denies.
    placeless : observations whose places are not read.
    normal : words for "normal" that fit every structure.
    normal_if_stable : keys of structures for which "stable" counts as normal.
    degrees : words of degree, each with its step of severity, from 0.
    changes : words of change, each with the kind of change.
    qualities : words for mutually exclusive qualities, each with the quality; None for phrases that contain
        such a word but state no quality.
    compounds : a mapping from a compound observation to its component observations.
    forward_cues : cues before a finding, and words that end the scope of a cue, each with its kind.
    possible : words of hedges that call a finding merely possible.
    backward_cues : cues after a finding, each with "negation" or "hedge".
    links : hedges that link a finding to the diagnosis of which it is a sign.
    sides : words for sides, each with "left", "right" or "bilateral".
    sided : places that can have a side.
    paired : observations that have a side and no place.
    places : a mapping from an observation to the places where it can be.
    devices : observations that are devices.
    spelling : the corrector of misspelt words.
    passed_over : words without meaning for the reader.
    descriptors : words for the appearance of a finding, which are ignored next to a finding.
    calcified : observations that are calcifications.
    unscaled : words of degree without a step of severity.
    relatives : words for people other than the patient.
    rarely_denied : observations that a comma alone does not make part of a list of denials.
    no_findings : phrases that take modifiers but are not findings.
    neighbours : a mapping from a vertebra or rib to the places next to it.
    malpositions : a mapping from a device to the places where its tip must not be.
    related : pairs of closely related observations.
    hyponyms : (coarser, finer) pairs of observations.
    limits : structures, each with the least size in millimetres that is too large and the observation that
        such a size means.
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
    descriptors: frozenset[str]
    calcified: frozenset[str]
    unscaled: frozenset[str]
    relatives: frozenset[str]
    rarely_denied: frozenset[str]
    no_findings: frozenset[str]
    neighbours: Mapping[str, frozenset[str]]
    malpositions: Mapping[str, frozenset[str]]
    related: frozenset[frozenset[str]]
    hyponyms: frozenset[tuple[str, str]]
    limits: Phrases[tuple[float, str]]

    def takes_side(self, observation: str) -> bool:
        """Return whether an observation can have a side: it is in ``paired``, or one of its places is a lung
        or a part of a lung."""
        return observation in self.paired or bool(_LUNG_PLACES & self.places.get(observation, frozenset()))


def _list_lexicon_names(lexicon: Lexicon) -> Iterator[tuple[str, Sense]]:
    """Yield the names of the lexicon's findings, each with its sense.

    A name with a prefix is yielded twice: with the prefix, and without it but with a sense that requires the
    prefix somewhere before the name.
    """
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


def _list_reading_names(parts: Mapping[str, Any]) -> Iterator[tuple[str, Sense]]:
    """Yield the names of findings in ``reading.yml``, each with its sense; "calcified | lymph node" requires
    "calcified" somewhere before "lymph node"."""
    yield from ((name, Sense(IGNORED, HOME)) for name in (*parts["ignored"], *parts["no_findings"]))
    for part in ("observations", "names"):
        for key, entries in parts[part].items():
            for prefix, _, name in (entry.rpartition(" | ") for entry in entries):
                yield name, Sense(key, HOME, tuple(prefix.split()))


def _list_lexicon_places(lexicon: Lexicon) -> Iterator[tuple[str, Spot]]:
    """Yield the names of the lexicon's places with their meanings, once for each region that has a finding at
    the place."""
    regions: dict[str, set[str]] = {}
    for concept in lexicon.concepts.values():
        for key in concept.places:
            regions.setdefault(key, set()).add(concept.region)
    for site in lexicon.places.values():
        for phrases_by_side in (site.nouns, site.shorts, site.premodifiers):
            for side, phrases in phrases_by_side.items():
                for phrase in phrases:
                    # As in "deviated to the left", "left" and "right" are sides, not places.
                    if phrase.text in ("left", "right"):
                        continue
                    for region in regions.get(site.key, {HOME}):
                        yield phrase.text, Spot(Location(site.key, side), region)


def _list_reading_places(entries: Mapping[str, list[str]], lexicon: Lexicon) -> Iterator[tuple[str, Spot]]:
    """Yield the names of places in ``reading.yml`` with their meanings, with "@" replaced by each side.

    ``entries`` maps the key of a place to its names.
    """
    two_sided = {"bibasilar", "biapical", "bibasal", "bihilar"}
    for key, names in entries.items():
        for name in names:
            if "@" in name:
                for named_side in ("left", "right", "bilateral"):
                    yield name.replace("@", named_side), Spot(Location(key, named_side), HOME)
            else:
                on_both_sides = (
                    name in two_sided or name.startswith(("both ", "bilateral ")) or "bilaterally" in name
                )
                side: str | None = "bilateral" if on_both_sides else None
                if key == "middle_lobe" or name.startswith("right "):
                    side = "right"
                elif key == "lingula" or name.startswith("left "):
                    side = "left"
                if key in lexicon.places and not lexicon.places[key].sided:
                    side = None
                yield name, Spot(Location(key, side), HOME)


def _group_values(pairs: Iterable[tuple[str, Any]]) -> Phrases[list[Any]]:
    """Return a mapping from each phrase to its distinct values."""
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
    """Return a mapping from each name to its senses; a name from another region that ends with a name from
    the chest also gets the senses of that ending.

    "Multilevel degenerative changes" is a name from the abdomen, and "degenerative changes" a name from the
    chest: in a report of the chest, the former means the latter. But an "adrenal nodule" is not a nodule of
    the chest.

    Parameters
    ----------
    pairs : names, each with a sense.
    spots : names of places, each with a meaning.
    usual : a mapping from an observation to the places where it can be.
    passed_over : words that are ignored.
    """
    pairs = list(pairs)
    anatomy: dict[str, set[str | None]] = {}  # the places that each word may name, None outside the chest
    for text, spot in spots:
        for word in normalize(text).split():
            anatomy.setdefault(word, set()).add(spot.location.place if spot.region == HOME else None)
    phrases = _group_values(pairs)
    for text, sense in pairs:
        words = normalize(text).split()
        senses = phrases.add(text, [])
        if sense.region == HOME or any(item.region == HOME for item in senses):
            continue
        for start in range(1, len(words)):
            ending_senses, modifier = phrases.get(words[start:]), words[start - 1]
            is_organ = _ORGAN_ADJECTIVE.search(modifier) and modifier not in passed_over
            places = None if modifier in _NOT_ORGANS else anatomy.get(modifier, set() if is_organ else None)
            in_chest = [item for item in ending_senses or () if item.region == HOME]
            if fits := [item for item in in_chest if places is None or places & usual.get(item.key, set())]:
                senses += fits
                break
    return phrases


def _list_structure_names(lexicon: Lexicon, names: Mapping[str, list[str]]) -> Iterator[tuple[str, Subject]]:
    """Yield names of structures with their meanings: first those in ``reading.yml``, then those in the
    lexicon's normal statements, beginning with the most common statements.

    ``names`` maps the key of a structure to its names in ``reading.yml``.
    """
    yield from ((text, Subject(key, HOME)) for key, texts in names.items() for text in texts)
    for entry in sorted(lexicon.normals.values(), key=lambda entry: -entry.weight):
        for text in _find_labelled_parts(entry, "Anatomy"):
            if text.lower() not in _NO_SUBJECTS:
                yield text, Subject(entry.key, entry.region)


def _find_labelled_parts(entry: NormalEntry, label: str) -> Iterator[str]:
    """Yield the parts of a normal statement's wordings that have the given label, such as "Anatomy"."""
    for wordings in entry.wordings.values():
        for phrase in wordings:
            yield from (phrase.text[start:end] for start, end, kind in phrase.spans if kind == label)


def _get_entry_states(lexicon: Lexicon) -> dict[str, frozenset[str]]:
    """Return a mapping from the key of each normal statement in the lexicon to the words that call its
    structure normal."""
    return {
        entry.key: frozenset(map(normalize, _find_labelled_parts(entry, "Non-Abnormality")))
        for entry in lexicon.normals.values()
    }


def _collect_abnormal_states(
    lexicon: Lexicon,
    states_by_structure: Mapping[str, Mapping[str, list[str]]],
    names_by_observation: Mapping[str, list[str]],
    enlarged: list[str],
) -> dict[tuple[str, str], str]:
    """Return a mapping from (structure, state) to the observation that they express; a structure is given by
    its key or by its name.

    Parameters
    ----------
    lexicon : the lexicon, whose findings have states.
    states_by_structure : a mapping from a structure to a mapping from observations to words for states.
    names_by_observation : a mapping from an observation to its names, such as "enlarged heart".
    enlarged : the words for "enlarged".
    """
    table: dict[tuple[str, str], str] = {}
    for structure, states in states_by_structure.items():
        for observation, words in states.items():
            for word in words + (enlarged if "enlarged" in words else []):
                table.setdefault((structure, normalize(word)), observation)
    for observation, names in names_by_observation.items():
        for name in names:
            state_word, _, structure = name.partition(" ")
            if state_word in ("enlarged", "dilated", "widened", "elevated") and "xxxx" not in name:
                for word in (state_word, *(enlarged if state_word != "elevated" else [])):
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
    parts: Mapping[str, Any], lexicon: Lexicon, abnormal: Iterable[tuple[str, str]]
) -> Phrases[str]:
    """Return the words for states, each with its kind; a word that is abnormal for one structure is normal
    for none.

    ``parts`` are the parts of ``reading.yml``, and ``abnormal`` the (structure, state) pairs that express a
    finding.
    """
    phrases: Phrases[str] = Phrases((word, "abnormal") for word in parts["abnormal"])
    for _, word in abnormal:
        phrases.add(word, word)
    normals = (word for words in _get_entry_states(lexicon).values() for word in words if word != "stable")
    for word in (*parts["normal"], *normals):
        phrases.add(word, "normal")
    return phrases


def _list_degree_words(parts: Mapping[str, Any], lexicon: Lexicon) -> Iterator[tuple[str, int]]:
    """Yield words of degree with their step of severity: first those in ``reading.yml``, then those of the
    lexicon's scales."""
    yield from ((word, int(step)) for step, words in parts["severity"].items() for word in words)
    for scale in lexicon.grammar["scales"].values():
        for kind in ("adjectives", "adverbs"):
            yield from ((word, step) for step, words in enumerate(scale[kind]) for word in words)


def _list_quality_words(parts: Mapping[str, Any]) -> Iterator[tuple[str, Quality | None]]:
    """Yield each word for a quality with the quality, and with None each phrase that contains such a word but
    states no quality ("lateral view")."""
    for category, kinds in parts["qualities"].items():
        for kind, qualities in kinds.items():
            for quality, words in qualities.items():
                yield from ((word, (category, kind, quality)) for word in words)
    yield from ((phrase, None) for phrase in parts["no_qualities"])


def _split_words(texts: Iterable[str]) -> frozenset[str]:
    """Return the set of the normalized words in all texts."""
    return frozenset(token.word for text in texts for token in tokenize(text))


def _list_values(part: Any) -> Iterator[str]:
    """Yield every single value within a part of ``reading.yml`` as text."""
    if isinstance(part, Mapping):
        for value in part.values():
            yield from _list_values(value)
    elif isinstance(part, list):
        for value in part:
            yield from _list_values(value)
    else:
        yield str(part)


def _list_hyponyms(finer_by_coarse: Mapping[str, list[str]]) -> frozenset[tuple[str, str]]:
    """Return all (coarser, finer) pairs of observations: those in ``finer_by_coarse``, a mapping from an
    observation to finer observations, and those that follow by transitivity."""
    pairs = {(coarse, fine) for coarse, finer in finer_by_coarse.items() for fine in finer}
    while new_pairs := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs |= new_pairs
    return frozenset(pairs)


@lru_cache(maxsize=1)
def load_vocabulary() -> Vocabulary:
    """Return the reader's vocabulary, which the first call compiles and later calls share."""
    lexicon = load_lexicon()
    parts = own_yaml.read(FILE)
    concepts = lexicon.concepts
    abnormal = _collect_abnormal_states(lexicon, parts["states"], parts["names"], parts["enlarged"])
    backward_cues = [(word, "hedge") for word in parts["hedge_after"]]
    backward_cues += [(word, "negation") for word in parts["negation_after"]]
    bones = ((text, Spot(location, HOME)) for text, location in list_numbered_names())
    spots = [*bones, *_list_reading_places(parts["places"], lexicon), *_list_lexicon_places(lexicon)]
    observations = [*_list_reading_names(parts), *_list_lexicon_names(lexicon)]
    hyponyms = _list_hyponyms(parts["kinds"])
    passed_over = _split_words(parts["passed_over"])
    descriptors = _split_words(phrase.text for phrase in lexicon.descriptors.values())
    places = {
        key: add_bones(frozenset(concept.places) | frozenset(parts["usual_places"].get(key, ())))
        for key, concept in concepts.items()
    }
    subjects = [*_list_structure_names(lexicon, parts["structures"])]
    subjects += [(words, Subject(words, "")) for words, _ in abnormal if words not in parts["structures"]]
    return Vocabulary(
        observations=_group_observation_names(observations, spots, places, passed_over | descriptors),
        subjects=_group_values(subjects),
        spots=_group_values(spots),
        states=_build_state_phrases(parts, lexicon, abnormal),
        abnormal_states=abnormal,
        entry_states=_get_entry_states(lexicon),
        no_abnormality=parts["no_abnormality"],
        placeless=frozenset(parts["placeless"]),
        normal=frozenset(map(normalize, parts["normal"])),
        normal_if_stable=frozenset(parts["stable"]),
        degrees=Phrases(_list_degree_words(parts, lexicon)),
        changes=Phrases((word, kind) for kind, words in parts["change"].items() for word in words),
        qualities=Phrases(_list_quality_words(parts)),
        compounds=parts["compounds"],
        forward_cues=Phrases((word, kind) for kind in _CUE_KINDS for word in parts[kind]),
        possible=frozenset(parts["possible"]),
        backward_cues=Phrases(backward_cues),
        links=Phrases((word, True) for word in parts["links"]),
        sides=Phrases((word, side) for side, words in parts["sides"].items() for word in words),
        sided=frozenset(
            spot.location.place for _, spot in spots if spot.location.side and spot.location.place
        ),
        paired=frozenset(key for key, concept in concepts.items() if concept.sided and not concept.places),
        places=places,
        devices=frozenset(key for key, concept in concepts.items() if concept.device),
        spelling=Spelling(
            _split_words(text for text, _ in (*observations, *spots, *subjects)),
            _split_words(_list_values(parts)),
        ),
        passed_over=passed_over,
        descriptors=descriptors,
        calcified=frozenset(fine for pair in hyponyms if pair[0] in _CALCIFIED for fine in pair),
        unscaled=frozenset(parts["unscaled"]),
        relatives=frozenset(parts["relatives"]),
        rarely_denied=frozenset(parts["seldom_denied"]),
        no_findings=frozenset(map(normalize, parts["no_findings"])),
        neighbours=find_neighbours(parts["numbered"]),
        malpositions={key: frozenset(places) for key, places in parts["malpositions"].items()},
        related=frozenset(frozenset(pair) for group in parts["families"] for pair in combinations(group, 2)),
        hyponyms=hyponyms,
        limits=Phrases(
            (structure, (limit, observation))
            for observation, structures in parts["limits"].items()
            for structure, limit in structures.items()
        ),
    )


# Vertebrae and ribs: places that have numbers in reports, such as "T8" or "left 7th rib".


_THORACIC_COUNT = 12  # the number of thoracic vertebrae and of ribs on a side
# Parts of the spine: letter, name, number of vertebrae.
_VERTEBRAE = (("c", "cervical", 7), ("t", "thoracic", _THORACIC_COUNT), ("l", "lumbar", 5))
_ORDINALS = (
    *("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th", "11th", "12th"),
    *("first", "second", "third", "fourth", "fifth", "sixth"),
    *("seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
)
#: Keys of the vertebrae and of the ribs, from the upper to the lower end.
SPINE = tuple(f"{letter}{number}" for letter, _, count in _VERTEBRAE for number in range(1, count + 1))
RIBS = tuple(f"rib_{number}" for number in range(1, _THORACIC_COUNT + 1))


def list_numbered_names() -> Iterator[tuple[str, Location]]:
    """Yield names of vertebrae and ribs with their meanings: "T8", "eighth thoracic vertebra", "left 7th
    rib"."""
    for letter, name, count in _VERTEBRAE:
        for number in range(1, count + 1):
            location = Location(f"{letter}{number}", None)
            ordinals = _ORDINALS[number - 1 :: _THORACIC_COUNT]
            for form in (
                f"{letter}{number}",
                f"{letter} {number}",
                *(f"{ordinal_word} {name}" for ordinal_word in ordinals),
            ):
                for noun in ("", " vertebra", " vertebral body", " body"):
                    if noun or form[0] == letter:
                        yield f"{form}{noun}", location
    for number in range(1, _THORACIC_COUNT + 1):
        for ordinal in _ORDINALS[number - 1 :: _THORACIC_COUNT]:
            for side in (None, "left", "right", "bilateral"):
                location, side_word = Location(f"rib_{number}", side), side or ""
                for part in ("", "lateral ", "posterior ", "anterior "):
                    yield f"{side_word} {part}{ordinal} rib", location
                    yield f"{part}{side_word} {ordinal} rib", location
                    yield f"{ordinal} {part}{side_word} rib", location


def expand_region(region: str) -> tuple[str, ...]:
    """Return the keys of all vertebrae or ribs in a region, from the upper to the lower end.

    Parameters
    ----------
    region : the keys of the upper and the lower end with a hyphen between them: "t11-l2" gives t11, t12, l1
        and l2.

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
        raise ValueError(f"region {region!r}: {fault}. Write the upper and the lower end, as in 't11-l2'.")
    return members


def find_neighbours(regions: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Return a mapping from each vertebra and rib to its neighbours and the regions that include it.

    ``regions`` maps the name of a region to its ends, such as "t11-l2". Raises the errors of
    :func:`expand_region`.
    """
    table: dict[str, set[str]] = {key: set() for key in (*SPINE, *RIBS)}
    for series in (SPINE, RIBS):
        for key, next_key in pairwise(series):
            table[key].add(next_key)
            table[next_key].add(key)
    for region, ends in regions.items():
        for key in expand_region(ends):
            table[key].add(region)
    return {key: frozenset(neighbours) for key, neighbours in table.items()}


def add_bones(places: frozenset[str]) -> frozenset[str]:
    """Return a set of places, extended by all vertebrae if it contains the spine or a part of the spine, and
    by all ribs if it contains the ribs."""
    spine = {"spine", "thoracic_spine", "lumbar_spine", "cervical_spine"} & places
    return places | {*(RIBS if "ribs" in places else ()), *(SPINE if spine else ())}
