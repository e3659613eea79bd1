"""The lexicon of ``lexicon/*.yml``, read once, checked and compiled.

``lexicon/README.md`` describes the files. Every reference between entries is checked on loading; a mistake
raises :class:`LexiconError` naming the file and the key.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from radeval_lib import own_yaml
from radeval_lib.errors import LexiconError
from radeval_lib.lexicon.entries import (
    CHEXPERT,
    Concept,
    Indication,
    Lexicon,
    Name,
    NormalEntry,
    Place,
    Procedure,
    Protocol,
    Region,
    RemarkEntry,
    Scope,
    State,
)
from radeval_lib.lexicon.markup import Phrase, parse_name, parse_sentence
from radeval_lib.lexicon.plurals import plural_markup

FOLDER = Path(__file__).parent
_SIDE_WORDS = {"left": ("left", "L"), "right": ("right", "R")}


def _texts(value: Any) -> tuple[str, ...]:
    """A string or a list of strings as a tuple."""
    if value is None:
        return ()
    return (str(value),) if isinstance(value, str) else tuple(str(v) for v in value)


def _by_side(forms: Iterable[str], both: Iterable[str]) -> dict[str | None, tuple[Phrase, ...]]:
    """Compile place forms; "@" stands for the side, "&" for its letter."""
    said: dict[str | None, list[str]] = {None: list(forms)}
    if any("@" in form or "&" in form for form in said[None]):
        plain = said.pop(None)
        for side, (word, letter) in _SIDE_WORDS.items():
            said[side] = [form.replace("@", word).replace("&", letter) for form in plain]
    said["bilateral"] = list(both)
    return {side: tuple(parse_name(form, anatomy=True) for form in own) for side, own in said.items() if own}


def _known(raw: Mapping[str, Any], entry: str, where: str, keys: str) -> None:
    if unknown := set(raw) - set(keys.split()):
        raise LexiconError(f"{entry} has unknown keys {sorted(unknown)}", where)


def _range(value: Any) -> tuple[int, int] | None:
    return (int(value[0]), int(value[1])) if value else None


def _place(key: str, raw: Mapping[str, Any]) -> Place:
    _known(
        raw, f"place {key!r}", "lexicon", "name short pre both both_pre prep the plural near distance part"
    )
    return Place(
        key,
        _by_side(_texts(raw["name"]), _texts(raw.get("both"))),
        _by_side(_texts(raw.get("short")), ()),
        _by_side(_texts(raw.get("pre")), _texts(raw.get("both_pre"))),
        _texts(raw.get("prep", "in")),
        bool(raw.get("the", True)),
        bool(raw.get("plural", False)),
        frozenset(_texts(raw.get("near"))),
        _range(raw.get("distance")),
        raw.get("part"),
    )


def _name(markup: str, number: str) -> Name:
    """A name with its plural; a final "+" or "-" marks a plural or a mass noun against the entry's number."""
    if markup[-1] in "+-":
        number, markup = ("plural" if markup[-1] == "+" else "mass"), markup[:-1]
    before, bar, core = markup.partition(" | ")
    lead = parse_name(before) if bar else None
    core = core if bar else markup
    one = parse_name(core)
    many = parse_name(plural_markup(core)) if number == "count" else one
    return Name(lead, one, many, number, one.words | (lead.words if lead else frozenset()))


def _denied(markup: str, number: str) -> tuple[Phrase, bool]:
    """A name as it is denied, and whether it is plural."""
    plural_form = markup[-1] == "+" or (number == "plural" and markup[-1] != "-")
    return parse_name(markup.rstrip("+-").replace(" | ", " ")), plural_form


def _state(markup: str) -> State:
    place, bar, rest = markup.partition("|")
    subject, _, adjective = (rest if bar else markup).partition(":")
    match = re.fullmatch(r"<([^>]+)>(\+?)", subject.strip())
    if match is None or not adjective:
        raise LexiconError(f"state {markup!r} is not of the form '<subject>: adjective'", "lexicon")
    subjects = {side: phrases[0] for side, phrases in _by_side([match[1]], []).items()}
    adjectives: dict[str | None, Phrase] = {None: parse_name(adjective.strip())}
    if "@" in adjective:
        said = {side: adjective.strip().replace("@", word) for side, (word, _) in _SIDE_WORDS.items()}
        adjectives = {side: parse_name(form) for side, form in said.items()}
    return State(place if bar else None, subjects, adjectives, match[2] == "+")


_CONCEPT_KEYS = (
    "name short deny state number disease device tip minor rare scale steps side place vague size looks many "
    "change uncertain hint advice chexpert common deny_weight only clash system"
)


def _concept(key: str, raw: Mapping[str, Any], region: str, system: str) -> Concept:
    _known(raw, f"finding {key!r}", f"lexicon/{region}.yml", _CONCEPT_KEYS)
    number = str(raw.get("number", "count"))
    names = _texts(raw.get("name"))
    denied = _texts(raw["deny"]) if "deny" in raw else names
    looks = raw.get("looks") or {}
    looks = {"any": looks} if isinstance(looks, list) else looks
    # "solid/part-solid" is a choice: the two never describe the same finding
    choices = {
        modality: tuple(tuple(words.split("/")) for words in _texts(raw)) for modality, raw in looks.items()
    }
    chexpert = raw.get("chexpert")
    if chexpert is not None and chexpert not in CHEXPERT:
        raise LexiconError(f"finding {key!r}: {chexpert!r} is not one of the 14", f"lexicon/{region}.yml")
    return Concept(
        key=key,
        region=region,
        system=str(raw.get("system", system)),
        names=tuple(_name(name, number) for name in names),
        shorts=tuple(_name(name, number) for name in _texts(raw.get("short"))),
        denied=tuple(_denied(name, number) for name in denied or names),
        states=tuple(_state(state) for state in _texts(raw.get("state"))),
        major=not raw.get("minor", False),
        scale=raw.get("scale"),
        steps=_range(raw.get("steps")) or (0, 3),
        sided=bool(raw.get("side", False)),
        places=_texts(raw.get("place")),
        size=_range(raw.get("size")),
        looks=choices,
        **{key: bool(raw.get(key, False)) for key in ("disease", "device", "tip", "rare", "vague", "many")},
        changes=bool(raw.get("change", True)),
        uncertain=bool(raw.get("uncertain", True)),
        hints=_texts(raw.get("hint")),
        advice=_texts(raw.get("advice")),
        chexpert=chexpert,
        common=float(raw.get("common", 1)),
        denials=float(raw.get("deny_weight", 1)) if denied else 0.0,
        scope=Scope.of(_texts(raw.get("only"))),
        clash=frozenset(_texts(raw.get("clash"))),
    )


def _opposite(markup: str, antonyms: Mapping[str, str]) -> str:
    """A normal sentence inverted: its states become their antonyms, or are denied."""

    def turn(match: re.Match[str]) -> str:
        state = match[1]
        return f"[{antonyms[state]}]" if state in antonyms else f"[!not {state}]"

    return re.sub(r"\ba (\[[aeiou])", r"an \1", re.sub(r"\(([^)]*)\)", turn, markup))


def _wordings(raw: Any) -> dict[str, tuple[str, ...]]:
    """Sentences by style: a list serves both."""
    given = raw if isinstance(raw, Mapping) else {"both": raw}
    return {
        style: _texts(given.get(style)) + _texts(given.get("both")) for style in ("hospital", "encyclopaedic")
    }


def _compiled(wordings: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[Phrase, ...]]:
    return {style: tuple(parse_sentence(s) for s in sentences) for style, sentences in wordings.items()}


def _read(path: Path) -> dict[str, Any]:
    try:
        content = own_yaml.read(path)
    except yaml.YAMLError as error:
        raise LexiconError(f"not valid YAML: {error}", f"lexicon/{path.name}") from error
    if not isinstance(content, dict):
        raise LexiconError("is not a mapping", f"lexicon/{path.name}")
    return content


class _Loader:
    """Collects the files, then checks what they say of each other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.grammar = _read(folder / "grammar.yml")
        self.concepts: dict[str, Concept] = {}
        self.places: dict[str, Place] = {}
        self.normals: dict[str, NormalEntry] = {}
        self.remarks: dict[str, RemarkEntry] = {
            key: RemarkEntry(key, _compiled(_wordings(raw))) for key, raw in self.grammar["remarks"].items()
        }
        self.regions: dict[str, Region] = {}

    def load(self) -> Lexicon:
        for path in sorted((self.folder / "regions").glob("*.yml")):
            self._region(path)
        self._check()
        self._close_clashes()
        choices = (words for c in self.concepts.values() for groups in c.looks.values() for words in groups)
        looks = {word: parse_name(word) for words in choices for word in words}
        protocols = self._protocols(_read(self.folder / "protocols.yml"))
        procedures = {procedure.code: procedure for p in protocols.values() for procedure in p.procedures}
        own = self.concepts, self.places, self.normals, self.remarks
        return Lexicon(*own, looks, protocols, procedures, self.grammar)

    def _region(self, path: Path) -> None:
        raw, name = _read(path), path.stem
        where = f"lexicon/regions/{path.name}"
        for key, entry in (raw.get("places") or {}).items():
            if key in self.places:
                raise LexiconError(f"place {key!r} is defined twice", where)
            self.places[key] = _place(key, entry)
        concepts = []
        for system, entries in raw["findings"].items():
            for key, entry in entries.items():
                if key in self.concepts:
                    raise LexiconError(f"finding {key!r} is defined twice", where)
                self.concepts[key] = _concept(key, entry, name, system)
                concepts.append(self.concepts[key])
        normals = [self._normal(key, entry, name, concepts, where) for key, entry in raw["normals"].items()]
        remarks = []
        for key, entry in (raw.get("remarks") or {}).items():
            scope, prior = Scope.of(_texts(entry.get("only"))), bool(entry.get("prior", False))
            said, weight = _compiled(_wordings(entry["say"])), float(entry.get("weight", 1))
            self.remarks[key] = RemarkEntry(key, said, weight, scope, prior)
            remarks.append(self.remarks[key])
        for kind in ("clear", "acute"):
            said = _compiled(_wordings(raw["conclusions"][kind]))
            self.remarks[f"{name}.{kind}"] = RemarkEntry(f"{name}.{kind}", said)
        bodies = {
            system: (parse_name(body.removesuffix("+"), anatomy=True), body.endswith("+"))
            for system, body in (raw.get("bodies") or {}).items()
        }
        entries_of = tuple(concepts), tuple(normals), tuple(remarks)
        chest = bool(raw.get("chest", False))
        self.regions[name] = Region(name, tuple(raw["findings"]), bodies, *entries_of, chest)

    def _normal(
        self, key: str, raw: Mapping[str, Any], region: str, concepts: list[Concept], where: str
    ) -> NormalEntry:
        if key in self.normals:
            raise LexiconError(f"normal {key!r} is defined twice", where)
        systems = _texts(raw["system"])
        allowed = set(_texts(raw.get("allow")))
        excluded = {c.key for c in concepts if c.system in systems and not c.device} - allowed
        said = _wordings(raw["say"])
        turned = {
            style: tuple(_opposite(sentence, self.grammar["antonyms"]) for sentence in sentences)
            for style, sentences in said.items()
        }
        self.normals[key] = NormalEntry(
            key,
            region,
            systems[0],
            _compiled(said),
            _compiled(turned),
            frozenset(_texts(raw["excludes"]) if "excludes" in raw else excluded),
            _texts(raw.get("chexpert")),
            float(raw.get("weight", 1)),
            Scope.of(_texts(raw.get("only"))),
            bool(raw.get("prior", False)),
        )
        return self.normals[key]

    def _references(self) -> Iterator[tuple[str, str, str, Iterable[str], Collection[str]]]:
        """(file, entry, kind, keys, what they may be) of every key by which an entry names another."""
        for concept in self.concepts.values():
            where, named = f"lexicon/regions/{concept.region}.yml", f"finding {concept.key!r}"
            yield where, named, "place", concept.places, self.places
            yield where, named, "hint", concept.hints, self.concepts
            yield where, named, "clash", concept.clash, self.concepts
            yield where, named, "advice", concept.advice, self.remarks
            yield where, named, "scale", filter(None, [concept.scale]), self.grammar["scales"]
        for place in self.places.values():
            yield "lexicon", f"place {place.key!r}", "near place", place.near, self.places
        for normal in self.normals.values():
            yield "lexicon", f"normal {normal.key!r}", "excluded", normal.excludes, self.concepts

    def _check(self) -> None:
        """Every key that an entry names must exist."""
        for where, named, kind, keys, known in self._references():
            for key in keys:
                if key not in known:
                    raise LexiconError(f"{named}: unknown {kind} {key!r}", where)

    def _close_clashes(self) -> None:
        """Make "clash" mutual, so that either side may declare it."""
        declared = {key: concept.clash for key, concept in self.concepts.items()}
        for key, concept in self.concepts.items():
            others = {other for other, clash in declared.items() if key in clash}
            object.__setattr__(concept, "clash", concept.clash | others)

    def _protocols(self, raw: Mapping[str, Any]) -> dict[tuple[str, str], Protocol]:
        protocols = {}
        for entry in raw["protocols"]:
            pair = (str(entry["modality"]), str(entry["anatomy"]))
            procedures = []
            for code, procedure in entry["procedures"].items():
                reasons = tuple(
                    Indication(_texts(r["complaint"]), _texts(r["question"])) for r in procedure["reasons"]
                )
                title, technique = str(procedure["title"]), _wordings(procedure["technique"])
                weight, sex = float(procedure.get("weight", 1)), procedure.get("sex", entry.get("sex"))
                parts = frozenset(_texts(procedure.get("parts")))
                procedures.append(Procedure(code, title, technique, reasons, weight, sex, parts))
            for name in entry["regions"]:
                if name not in self.regions:
                    raise LexiconError(f"{pair}: unknown region {name!r}", "lexicon/protocols.yml")
            protocols[pair] = Protocol(
                *pair,
                tuple(self.regions[name] for name in entry["regions"]),
                tuple(procedures),
                float(entry.get("weight", 1)),
                _range(entry.get("ages")) or (18, 92),
                float(entry.get("findings", 1)),
                float(entry.get("normals", 1)),
                str(entry.get("earlier", "prior")),
            )
        return protocols


@lru_cache(maxsize=1)
def load_lexicon() -> Lexicon:
    """The packaged lexicon."""
    return _Loader(FOLDER).load()
