"""Reads the lexicon of ``grammar.yml``, ``protocols.yml`` and ``regions/*.yml``, once, and compiles it.

``lexicon/README.md`` describes the files. They are part of the package and are not validated here:
``tests/rules/lexicon/test_files.py`` checks their keys, values and references.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from radeval_lib import own_yaml
from radeval_lib.errors import LexiconError
from radeval_lib.rules.lexicon.entries import (
    FUNCTION_WORDS,
    Concept,
    Indication,
    Lexicon,
    Name,
    NormalEntry,
    Phrase,
    Place,
    Procedure,
    Protocol,
    Region,
    RemarkEntry,
    Scope,
    State,
    parse_name,
    parse_sentence,
)

FOLDER = Path(__file__).parent
_SIDE_WORDS = {"left": ("left", "L"), "right": ("right", "R")}
_STYLES = ("hospital", "encyclopaedic")


def as_tuple(value: Any) -> tuple[str, ...]:
    """Return a YAML value as a tuple: the items of a list, a single value, or nothing for None."""
    return tuple(value) if isinstance(value, list) else () if value is None else (value,)


def _compile_by_side(forms: Iterable[str], both: Iterable[str]) -> dict[str | None, tuple[Phrase, ...]]:
    """Return the compiled forms of a place by side: left and right if a form has "@", which is replaced
    by the side, or "&", which is replaced by its letter, else None; and bilateral for the forms in
    ``both``. A side without forms is left out."""
    by_side: dict[str | None, list[str]] = {None: list(forms)}
    if any("@" in form or "&" in form for form in by_side[None]):
        plain = by_side.pop(None)
        for side, (word, letter) in _SIDE_WORDS.items():
            by_side[side] = [form.replace("@", word).replace("&", letter) for form in plain]
    by_side["bilateral"] = list(both)
    return {
        side: tuple(parse_name(form, anatomy=True) for form in of_side)
        for side, of_side in by_side.items()
        if of_side
    }


def _compile_place(key: str, raw: Mapping[str, Any]) -> Place:
    """Return the place with this key from its entry in the file of a region."""
    distance = raw.get("distance")
    return Place(
        key,
        _compile_by_side(as_tuple(raw["name"]), as_tuple(raw.get("both"))),
        _compile_by_side(as_tuple(raw.get("short")), ()),
        _compile_by_side(as_tuple(raw.get("pre")), as_tuple(raw.get("both_pre"))),
        as_tuple(raw.get("prep", "in")),
        raw.get("the", True),
        raw.get("plural", False),
        frozenset(as_tuple(raw.get("near"))),
        tuple(distance) if distance else None,
        raw.get("part"),
    )


def _compile_name(markup: str, number: str) -> Name:
    """Return a name of a finding from its markup, "noun" or "prefix | noun", with its plural.

    ``number`` is the finding's; a final "+" (plural) or "-" (mass noun) in the markup overrides it.
    """
    if markup[-1] in "+-":
        number = "plural" if markup[-1] == "+" else "mass"
        markup = markup[:-1]
    prefix = None
    if " | " in markup:
        before, markup = markup.split(" | ", maxsplit=1)
        prefix = parse_name(before)
    singular = parse_name(markup)
    plural = parse_name(pluralize_markup(markup)) if number == "count" else singular
    return Name(prefix, singular, plural, number, singular.words | (prefix.words if prefix else frozenset()))


def _compile_denial(markup: str, number: str) -> tuple[Phrase, bool]:
    """Return the phrase in which a finding is denied, from its markup, and whether the phrase is a plural."""
    plural_form = markup[-1] == "+" or (number == "plural" and markup[-1] != "-")
    return parse_name(markup.rstrip("+-").replace(" | ", " ")), plural_form


def _compile_state(markup: str) -> State:
    """Return a state from its markup, "place|<subject>+: adjective", in which the place and "+" (plural) are
    optional.

    Raises
    ------
    LexiconError
        If the markup has another form.
    """
    site, has_place, after_bar = markup.partition("|")
    subject, _, adjective = (after_bar if has_place else markup).partition(":")
    match = re.fullmatch(r"<([^>]+)>(\+?)", subject.strip())
    if match is None or not adjective:
        raise LexiconError(f"malformed state {markup!r}", "", "Write it as '<subject>: adjective'.")
    subjects = {side: phrases[0] for side, phrases in _compile_by_side([match[1]], []).items()}
    forms: dict[str | None, str] = {None: adjective.strip()}
    if "@" in adjective:
        forms = {side: adjective.strip().replace("@", word) for side, (word, _) in _SIDE_WORDS.items()}
    adjectives = {side: parse_name(form) for side, form in forms.items()}
    return State(site if has_place else None, subjects, adjectives, match[2] == "+")


def _split_looks(raw: Any) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return groups of descriptors of appearance by modality, or by "any"; of a group, such as
    "solid/part-solid", only one descriptor can be true."""
    by_modality = {"any": raw} if isinstance(raw, list) else raw or {}
    return {
        key: tuple(tuple(words.split("/")) for words in as_tuple(names)) for key, names in by_modality.items()
    }


def _compile_concept(key: str, raw: Mapping[str, Any], region: str, system: str) -> Concept:
    """Return the finding with this key from its entry; ``system`` is the organ system under which the file of
    the region lists it."""
    number, names = raw.get("number", "count"), as_tuple(raw.get("name"))
    denied = as_tuple(raw["deny"]) if "deny" in raw else names
    size = raw.get("size")
    return Concept(
        key=key,
        region=region,
        system=raw.get("system", system),
        names=tuple(_compile_name(name, number) for name in names),
        shorts=tuple(_compile_name(name, number) for name in as_tuple(raw.get("short"))),
        denied=tuple(_compile_denial(name, number) for name in denied or names),
        states=tuple(_compile_state(state) for state in as_tuple(raw.get("state"))),
        major=not raw.get("minor", False),
        scale=raw.get("scale"),
        steps=tuple(raw.get("steps", (0, 3))),
        sided=raw.get("side", False),
        places=as_tuple(raw.get("place")),
        size=tuple(size) if size else None,
        looks=_split_looks(raw.get("looks")),
        **{flag: raw.get(flag, False) for flag in ("disease", "device", "tip", "rare", "vague", "many")},
        changes=raw.get("change", True),
        uncertain=raw.get("uncertain", True),
        hints=as_tuple(raw.get("hint")),
        advice=as_tuple(raw.get("advice")),
        chexpert=raw.get("chexpert"),
        common=float(raw.get("common", 1)),
        denials=float(raw.get("deny_weight", 1)) if denied else 0.0,
        scope=Scope.of(as_tuple(raw.get("only"))),
        clash=frozenset(as_tuple(raw.get("clash"))),
    )


def _invert(markup: str, antonyms: Mapping[str, str]) -> str:
    """Return the markup of a sentence of normality with each state replaced by its antonym or, without
    one, by its denial."""

    def invert_state(match: re.Match[str]) -> str:
        state = match[1]
        return f"[{antonyms[state]}]" if state in antonyms else f"[!not {state}]"

    return re.sub(r"\ba (\[[aeiou])", r"an \1", re.sub(r"\(([^)]*)\)", invert_state, markup))


def _group_by_style(raw: Any) -> dict[str, tuple[str, ...]]:
    """Return the markup of sentences by style. A text, a list, or the value of the key ``both`` is for both
    styles."""
    by_style = raw if isinstance(raw, dict) else {"both": raw}
    return {style: as_tuple(by_style.get(style)) + as_tuple(by_style.get("both")) for style in _STYLES}


def _compile_sentences(wordings: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[Phrase, ...]]:
    """Return the compiled sentences of each style."""
    return {style: tuple(parse_sentence(s) for s in sentences) for style, sentences in wordings.items()}


def _compile_remark(key: str, raw: Mapping[str, Any], wordings: Any, weight: float) -> RemarkEntry:
    """Return the remark with this key; ``raw`` has its scope, and whether it needs an earlier study."""
    scope = Scope.of(as_tuple(raw.get("only")))
    sentences = _compile_sentences(_group_by_style(wordings))
    return RemarkEntry(key, sentences, weight, scope, raw.get("prior", False))


def _compile_normal(
    key: str, raw: Mapping[str, Any], region: str, concepts: Iterable[Concept], antonyms: Mapping[str, str]
) -> NormalEntry:
    """Return the normal statement with this key from its entry; ``concepts`` are the findings of its
    region."""
    systems, wordings = as_tuple(raw["system"]), _group_by_style(raw["say"])
    keys = {concept.key for concept in concepts if concept.system in systems and not concept.device}
    return NormalEntry(
        key,
        region,
        systems[0],
        _compile_sentences(wordings),
        _compile_sentences(
            {style: tuple(_invert(s, antonyms) for s in sentences) for style, sentences in wordings.items()}
        ),
        frozenset(as_tuple(raw["excludes"]) if "excludes" in raw else keys - {*as_tuple(raw.get("allow"))}),
        as_tuple(raw.get("chexpert")),
        float(raw.get("weight", 1)),
        Scope.of(as_tuple(raw.get("only"))),
        raw.get("prior", False),
    )


def _compile_region(name: str, raw: Mapping[str, Any], antonyms: Mapping[str, str]) -> Region:
    """Return the region with this name from the content of its file; ``antonyms`` are those of
    ``grammar.yml``."""
    concepts = tuple(
        _compile_concept(key, entry, name, system)
        for system, entries in raw["findings"].items()
        for key, entry in entries.items()
    )
    bodies = {
        system: (parse_name(body.removesuffix("+"), anatomy=True), body.endswith("+"))
        for system, body in (raw.get("bodies") or {}).items()
    }
    return Region(
        name,
        tuple(raw["findings"]),
        bodies,
        concepts,
        tuple(_compile_normal(key, entry, name, concepts, antonyms) for key, entry in raw["normals"].items()),
        tuple(
            _compile_remark(key, entry, entry["say"], float(entry.get("weight", 1)))
            for key, entry in (raw.get("remarks") or {}).items()
        ),
        raw.get("chest", False),
    )


def _compile_procedure(code: str, raw: Mapping[str, Any], sex: str | None) -> Procedure:
    """Return the procedure with this code from its entry; ``sex`` is its protocol's."""
    return Procedure(
        code,
        raw["title"],
        _group_by_style(raw["technique"]),
        tuple(Indication(as_tuple(r["complaint"]), as_tuple(r["question"])) for r in raw["reasons"]),
        float(raw.get("weight", 1)),
        raw.get("sex", sex),
        frozenset(as_tuple(raw.get("parts"))),
    )


def _compile_protocol(raw: Mapping[str, Any], regions: Mapping[str, Region]) -> Protocol:
    """Return the protocol in an entry of ``protocols.yml``; ``regions`` are the compiled regions by name."""
    return Protocol(
        raw["modality"],
        raw["anatomy"],
        tuple(regions[name] for name in as_tuple(raw["regions"])),
        tuple(_compile_procedure(code, entry, raw.get("sex")) for code, entry in raw["procedures"].items()),
        float(raw.get("weight", 1)),
        tuple(raw.get("ages", (18, 92))),
        float(raw.get("findings", 1)),
        float(raw.get("normals", 1)),
        raw.get("earlier", "prior"),
    )


@lru_cache(maxsize=1)
def load_lexicon() -> Lexicon:
    """Return the lexicon from the packaged files, which are read and compiled at the first call."""
    grammar = own_yaml.read(FOLDER / "grammar.yml")
    remarks = {key: _compile_remark(key, {}, raw, 0.0) for key, raw in grammar["remarks"].items()}
    places: dict[str, Place] = {}
    regions: dict[str, Region] = {}
    for path in sorted((FOLDER / "regions").glob("*.yml")):
        raw = own_yaml.read(path)
        places |= {key: _compile_place(key, entry) for key, entry in (raw.get("places") or {}).items()}
        regions[path.stem] = region = _compile_region(path.stem, raw, grammar["antonyms"])
        remarks |= {remark.key: remark for remark in region.remarks}
        for kind, wordings in raw["conclusions"].items():
            remarks[f"{path.stem}.{kind}"] = _compile_remark(f"{path.stem}.{kind}", {}, wordings, 0.0)
    raw_protocols = own_yaml.read(FOLDER / "protocols.yml")["protocols"]
    protocols = [_compile_protocol(raw, regions) for raw in raw_protocols]
    concepts = {concept.key: concept for region in regions.values() for concept in region.concepts}
    # Clashes are mutual, although only one of two findings declares them.
    declared_clashes = {key: concept.clash for key, concept in concepts.items()}
    for key, concept in concepts.items():
        others = {other for other, clash in declared_clashes.items() if key in clash}
        object.__setattr__(concept, "clash", concept.clash | others)
    look_groups = (words for c in concepts.values() for groups in c.looks.values() for words in groups)
    return Lexicon(
        concepts,
        places,
        {normal.key: normal for region in regions.values() for normal in region.normals},
        remarks,
        {word: parse_name(word) for words in look_groups for word in words},
        {(protocol.modality, protocol.anatomy): protocol for protocol in protocols},
        {procedure.code: procedure for protocol in protocols for procedure in protocol.procedures},
        grammar,
    )


# English plurals of the nouns of the lexicon.


_IRREGULAR = {"focus": "foci", "thrombus": "thrombi", "diverticulum": "diverticula", "bronchus": "bronchi"}


def pluralize(word: str) -> str:
    """Return the English plural of a singular noun of the lexicon: "masses" for "mass", "metastases" for
    "metastasis"."""
    stem, _, last_word = word.rpartition(" ")
    prefix = stem + " " if stem else ""
    if last_word in _IRREGULAR:
        return prefix + _IRREGULAR[last_word]
    for ending, change in (("thorax", "thoraces"), ("sis", "ses"), ("ysts", "ysts"), ("fe", "ves")):
        if last_word.endswith(ending):
            return prefix + last_word[: -len(ending)] + change
    if re.search(r"(s|x|ch|sh)$", last_word):
        return prefix + last_word + "es"
    if re.search(r"[^aeiou]y$", last_word):
        return prefix + last_word[:-1] + "ies"
    return prefix + last_word + "s"


def pluralize_markup(markup: str) -> str:
    """Return the markup of a name with its head in the plural: the word with a star or, without one, the last
    content word outside braces. The markup must not be empty."""
    words, inside, at = markup.split(), False, -1
    for index, word in enumerate(words):
        inside = inside or word.startswith("{")
        if word.startswith("*"):
            at = index
            break
        if not inside and word not in FUNCTION_WORDS:
            at = index
        inside = inside and not word.endswith("}")
    star = "*" if words[at].startswith("*") else ""
    words[at] = star + pluralize(words[at].removeprefix("*"))
    return " ".join(words)
