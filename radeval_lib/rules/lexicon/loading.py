"""The lexicon of ``lexicon/*.yml``, read once, checked and compiled.

``lexicon/README.md`` describes the files. Every key of an entry, and every name by which it refers to another
entry, is checked on loading; a mistake raises :class:`LexiconError` naming the file and the entry.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from radeval_lib.errors import LexiconError
from radeval_lib.rules.lexicon.entries import (
    CHEXPERT,
    MODALITIES,
    SEXES,
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
from radeval_lib.rules.lexicon.entry import Entry, read_entry
from radeval_lib.rules.lexicon.markup import Phrase, parse_name, parse_sentence
from radeval_lib.rules.lexicon.plurals import plural_markup

FOLDER = Path(__file__).parent
_SIDE_WORDS = {"left": ("left", "L"), "right": ("right", "R")}
_STYLES = ("hospital", "encyclopaedic")
_CHANGES = "new unchanged increased decreased"
_WORDING_KEYS = "hospital encyclopaedic both"
_GRAMMAR = {
    **dict.fromkeys(("finding", "disease", "changed", "uncertain", "device", "denial"), " ".join(_STYLES)),
    "state": "hospital encyclopaedic denied uncertain",
    "again": _CHANGES,
    "impression_hospital": "plain uncertain",
    "impression_encyclopaedic": "plain uncertain",
    "joined": "finding denial_after_normal denial_after_finding",
    "comparison": "none prior recent",
    "indication": " ".join(_STYLES),
    "lists": "seen show show_normal since many measure cause due tip",
    "change": "pre post verb state sized",
}
"""The parts of ``grammar.yml`` whose keys are fixed, with these."""
_PLACE_KEYS = "short pre both both_pre prep the plural near distance part"
_NORMAL_KEYS = "allow excludes chexpert weight only prior"
_CONCEPT_KEYS = (
    "name short deny state number disease device tip minor rare scale steps side place vague size looks many "
    "change uncertain hint advice chexpert common deny_weight only clash system"
)


def _by_side(forms: Iterable[str], both: Iterable[str]) -> dict[str | None, tuple[Phrase, ...]]:
    """Compile place forms; "@" stands for the side, "&" for its letter."""
    said: dict[str | None, list[str]] = {None: list(forms)}
    if any("@" in form or "&" in form for form in said[None]):
        plain = said.pop(None)
        for side, (word, letter) in _SIDE_WORDS.items():
            said[side] = [form.replace("@", word).replace("&", letter) for form in plain]
    said["bilateral"] = list(both)
    return {side: tuple(parse_name(form, anatomy=True) for form in own) for side, own in said.items() if own}


def _place(key: str, entry: Entry) -> Place:
    return Place(
        key,
        _by_side(entry.texts("name"), entry.texts("both")),
        _by_side(entry.texts("short"), ()),
        _by_side(entry.texts("pre"), entry.texts("both_pre")),
        entry.texts("prep", "in"),
        entry.flag("the", True),
        entry.flag("plural"),
        frozenset(entry.texts("near")),
        entry.range("distance"),
        entry.text("part"),
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
        raise LexiconError(f"state {markup!r} is not of the form '<subject>: adjective'")
    subjects = {side: phrases[0] for side, phrases in _by_side([match[1]], []).items()}
    forms: dict[str | None, str] = {None: adjective.strip()}
    if "@" in adjective:
        forms = {side: adjective.strip().replace("@", word) for side, (word, _) in _SIDE_WORDS.items()}
    adjectives = {side: parse_name(form) for side, form in forms.items()}
    return State(place if bar else None, subjects, adjectives, match[2] == "+")


def _looks(entry: Entry) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Descriptors by modality, or for any; "solid/part-solid" is a choice of which only one can be true."""
    raw = entry.raw.get("looks") or {}
    raw = {"any": raw} if isinstance(raw, list) else raw
    looks = Entry(raw, f"{entry.name}, looks", entry.where, may=" ".join(("any", *MODALITIES)))
    return {key: tuple(tuple(words.split("/")) for words in looks.texts(key)) for key in looks.raw}


def _concept(key: str, entry: Entry, region: str, system: str) -> Concept:
    number = entry.one_of("number", ("count", "mass", "plural"), "count")
    names = entry.texts("name")
    denied = entry.texts("deny") if "deny" in entry.raw else names
    concept = Concept(
        key=key,
        region=region,
        system=entry.text("system") or system,
        names=tuple(_name(name, number) for name in names),
        shorts=tuple(_name(name, number) for name in entry.texts("short")),
        denied=tuple(_denied(name, number) for name in denied or names),
        states=tuple(_state(state) for state in entry.texts("state")),
        major=not entry.flag("minor"),
        scale=entry.text("scale"),
        steps=entry.range("steps") or (0, 3),
        sided=entry.flag("side"),
        places=entry.texts("place"),
        size=entry.range("size"),
        looks=_looks(entry),
        **{key: entry.flag(key) for key in ("disease", "device", "tip", "rare", "vague", "many")},
        changes=entry.flag("change", True),
        uncertain=entry.flag("uncertain", True),
        hints=entry.texts("hint"),
        advice=entry.texts("advice"),
        chexpert=entry.one_of("chexpert", CHEXPERT),
        common=entry.number("common"),
        denials=entry.number("deny_weight") if denied else 0.0,
        scope=Scope.of(entry.texts("only")),
        clash=frozenset(entry.texts("clash")),
    )
    if not (concept.names or concept.states):
        entry.fail("neither a name nor a state")
    if concept.scale and concept.size:
        entry.fail("both a scale and a size")
    return concept


def _opposite(markup: str, antonyms: Mapping[str, str]) -> str:
    """A normal sentence inverted: its states become their antonyms, or are denied."""

    def turn(match: re.Match[str]) -> str:
        state = match[1]
        return f"[{antonyms[state]}]" if state in antonyms else f"[!not {state}]"

    return re.sub(r"\ba (\[[aeiou])", r"an \1", re.sub(r"\(([^)]*)\)", turn, markup))


def _wordings(entry: Entry, raw: Any) -> dict[str, tuple[str, ...]]:
    """Sentences by style; a list, or what stands under ``both``, serves both styles."""
    given = raw if isinstance(raw, dict) else {"both": raw}
    by_style = Entry(given, entry.name, entry.where, may=_WORDING_KEYS)
    found = {style: by_style.texts(style) + by_style.texts("both") for style in _STYLES}
    if not all(found.values()):
        entry.fail("no wording for one of the styles")
    return found


def _compiled(wordings: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[Phrase, ...]]:
    return {style: tuple(parse_sentence(s) for s in sentences) for style, sentences in wordings.items()}


class _Loader:
    """Collects the entries of the files, then checks what they say of each other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.concepts: dict[str, Concept] = {}
        self.places: dict[str, Place] = {}
        self.normals: dict[str, NormalEntry] = {}
        self.remarks: dict[str, RemarkEntry] = {}
        self.regions: dict[str, Region] = {}
        self.protocols: dict[tuple[str, str], Protocol] = {}
        self.procedures: dict[str, Procedure] = {}
        self.tags = {*MODALITIES, *SEXES}  # what "only" may say: also anatomies, and parts of regions
        self.parts: set[str] = set()
        # An entry, what it refers to, by which names, and the names that there are when all is read.
        self.references: list[tuple[Entry, str, Iterable[str], Collection[str]]] = []
        needs = " ".join((*_GRAMMAR, "scales", "antonyms", "remarks"))
        grammar = read_entry(folder / "grammar.yml", "lexicon/grammar.yml", needs)
        self.grammar = grammar.raw
        for part, keys in _GRAMMAR.items():
            Entry(grammar.raw[part], part, grammar.where, keys)
        for key, raw in grammar.inner("scales").items():
            scale = Entry(raw, f"scale {key!r}", grammar.where, "adjectives adverbs")
            if len(raw["adjectives"]) != len(raw["adverbs"]):
                scale.fail("adjectives and adverbs have different numbers of steps")
        for key, raw in grammar.inner("remarks").items():
            entry = self._entry(key, "remark", raw, grammar.where, self.remarks, may=_WORDING_KEYS)
            self._remark(key, entry, raw, 0.0)

    def load(self) -> Lexicon:
        """The lexicon of the folder's files."""
        for path in sorted((self.folder / "regions").glob("*.yml")):
            self._region(path)
        protocols = read_entry(self.folder / "protocols.yml", "lexicon/protocols.yml", "protocols")
        needs, may = "modality anatomy regions procedures", "weight sex ages findings normals earlier"
        for entry in protocols.each("protocols", needs, may):
            self._protocol(entry)
        for entry, kind, names, known in self.references:
            for name in names:
                if name not in known:
                    entry.fail(f"unknown {kind} {name!r}")
        self._close_clashes()
        choices = (words for c in self.concepts.values() for groups in c.looks.values() for words in groups)
        looks = {word: parse_name(word) for words in choices for word in words}
        own = self.concepts, self.places, self.normals, self.remarks
        return Lexicon(*own, looks, self.protocols, self.procedures, self.grammar)

    def _entry(
        self, key: str, kind: str, raw: Any, where: str, held: Collection[str], needs: str = "", may: str = ""
    ) -> Entry:
        """An entry of a kind, of which ``held`` are there already."""
        entry = Entry(raw, f"{kind} {key!r}", where, needs, may)
        if key in held:
            entry.fail("defined twice")
        return entry

    def _region(self, path: Path) -> None:
        where, name = f"lexicon/regions/{path.name}", path.stem
        region = read_entry(path, where, "findings normals conclusions", "chest bodies places remarks")
        systems = Entry(region.raw["findings"], "findings", where, may=" ".join(region.inner("findings")))
        for key, raw in region.inner("places").items():
            self._place(key, self._entry(key, "place", raw, where, self.places, "name", _PLACE_KEYS))
        concepts, normals, remarks = [], [], []
        for system in systems.raw:
            for key, raw in systems.inner(system).items():
                entry = self._entry(key, "finding", raw, where, self.concepts, "", _CONCEPT_KEYS)
                concepts.append(self._finding(key, entry, name, system, systems.raw))
        for key, raw in region.inner("normals").items():
            entry = self._entry(key, "normal", raw, where, self.normals, "system say", _NORMAL_KEYS)
            normals.append(self._normal(key, entry, name, concepts))
        for key, raw in region.inner("remarks").items():
            entry = self._entry(key, "remark", raw, where, self.remarks, "say", "weight only prior")
            remarks.append(self._remark(key, entry, raw["say"], entry.number("weight")))
        conclusions = Entry(region.raw["conclusions"], "conclusions", where, "clear acute")
        for kind in ("clear", "acute"):
            self._remark(f"{name}.{kind}", conclusions, conclusions.raw[kind], 0.0)
        bodies = Entry(region.inner("bodies"), "bodies", where, may=" ".join(systems.raw))
        with bodies.naming():
            names = {system: bodies.text(system) for system in bodies.raw}
            said = {
                system: (parse_name(body.removesuffix("+"), anatomy=True), body.endswith("+"))
                for system, body in names.items()
            }
        entries_of = tuple(concepts), tuple(normals), tuple(remarks)
        self.regions[name] = Region(name, tuple(systems.raw), said, *entries_of, region.flag("chest"))

    def _place(self, key: str, entry: Entry) -> None:
        with entry.naming():
            self.places[key] = place = _place(key, entry)
        self.references += [
            (entry, "near place", place.near, self.places),
            (entry, "part", entry.texts("part"), self.parts),
        ]

    def _finding(self, key: str, entry: Entry, region: str, system: str, systems: Collection[str]) -> Concept:
        with entry.naming():
            self.concepts[key] = concept = _concept(key, entry, region, system)
        scales = self.grammar["scales"]
        self.references += [
            (entry, "system", [concept.system], systems),
            (entry, "place", concept.places, self.places),
            (entry, "place of a state", filter(None, (one.place for one in concept.states)), concept.places),
            (entry, "hint", concept.hints, self.concepts),
            (entry, "clash", concept.clash, self.concepts),
            (entry, "advice", concept.advice, self.remarks),
            (entry, "scale", entry.texts("scale"), scales),
            (entry, "tag", entry.texts("only"), self.tags),
        ]
        if concept.scale in scales and concept.steps[1] >= len(scales[concept.scale]["adjectives"]):
            entry.fail(f"steps go beyond the scale {concept.scale!r}")
        return concept

    def _remark(self, key: str, entry: Entry, said: Any, weight: float) -> RemarkEntry:
        with entry.naming():
            wordings = _compiled(_wordings(entry, said))
        tags = entry.texts("only")
        self.references.append((entry, "tag", tags, self.tags))
        self.remarks[key] = RemarkEntry(key, wordings, weight, Scope.of(tags), entry.flag("prior"))
        return self.remarks[key]

    def _normal(self, key: str, entry: Entry, region: str, concepts: Iterable[Concept]) -> NormalEntry:
        systems, tags, chexpert = entry.texts("system"), entry.texts("only"), entry.texts("chexpert")
        excluded = {c.key for c in concepts if c.system in systems and not c.device}
        said = _wordings(entry, entry.raw["say"])
        turned = {
            style: tuple(_opposite(sentence, self.grammar["antonyms"]) for sentence in sentences)
            for style, sentences in said.items()
        }
        self.references += [
            (entry, "system", systems, {concept.system for concept in concepts}),
            (entry, "allowed finding", entry.texts("allow"), set() if "excludes" in entry.raw else excluded),
            (entry, "excluded finding", entry.texts("excludes"), self.concepts),
            (entry, "observation of CheXpert", chexpert, CHEXPERT),
            (entry, "tag", tags, self.tags),
        ]
        with entry.naming():
            self.normals[key] = NormalEntry(
                key,
                region,
                systems[0],
                _compiled(said),
                _compiled(turned),
                frozenset(
                    entry.texts("excludes") if "excludes" in entry.raw else excluded - {*entry.texts("allow")}
                ),
                chexpert,
                entry.number("weight"),
                Scope.of(tags),
                entry.flag("prior"),
            )
        return self.normals[key]

    def _close_clashes(self) -> None:
        """Make "clash" mutual, so that either side may declare it."""
        declared = {key: concept.clash for key, concept in self.concepts.items()}
        for key, concept in self.concepts.items():
            others = {other for other, clash in declared.items() if key in clash}
            object.__setattr__(concept, "clash", concept.clash | others)

    def _protocol(self, entry: Entry) -> None:
        modality, anatomy = entry.one_of("modality", MODALITIES), entry.text("anatomy")
        entry.name = f"protocol {modality} {anatomy}"
        if (modality, anatomy) in self.protocols:
            entry.fail("defined twice")
        if not anatomy.isupper():
            entry.fail(f"anatomy {anatomy!r} is not in capitals")
        self.tags.add(anatomy)
        for name in entry.texts("regions"):
            if name not in self.regions:
                entry.fail(f"unknown region {name!r}")
        procedures = []
        for code, raw in entry.inner("procedures").items():
            needs, may = "title technique reasons", "weight sex parts"
            of_code = self._entry(code, "procedure", raw, entry.where, self.procedures, needs, may)
            procedures.append(self._procedure(code, of_code, entry.one_of("sex", SEXES)))
        self.protocols[modality, anatomy] = Protocol(
            modality,
            anatomy,
            tuple(self.regions[name] for name in entry.texts("regions")),
            tuple(procedures),
            entry.number("weight"),
            entry.range("ages") or (18, 92),
            entry.number("findings"),
            entry.number("normals"),
            entry.one_of("earlier", self.grammar["comparison"], "prior"),
        )

    def _procedure(self, code: str, entry: Entry, sex: str | None) -> Procedure:
        reasons = entry.each("reasons", "complaint question")
        parts = frozenset(entry.texts("parts"))
        self.parts |= parts
        self.tags |= parts
        self.procedures[code] = Procedure(
            code,
            entry.text("title"),
            _wordings(entry, entry.raw["technique"]),
            tuple(Indication(one.texts("complaint"), one.texts("question")) for one in reasons),
            entry.number("weight"),
            entry.one_of("sex", SEXES, sex),
            parts,
        )
        return self.procedures[code]


def read_lexicon(folder: Path) -> Lexicon:
    """The lexicon of a folder with ``grammar.yml``, ``protocols.yml`` and ``regions/*.yml``.

    Raises
    ------
    LexiconError
        If an entry has an unknown key, lacks one, holds broken markup or refers to what there is not.
    """
    return _Loader(folder).load()


@lru_cache(maxsize=1)
def load_lexicon() -> Lexicon:
    """The packaged lexicon."""
    return read_lexicon(FOLDER)
