"""Reads the lexicon from ``grammar.yml``, ``protocols.yml`` and ``regions/*.yml``, and compiles it.

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
    """Return a mapping from side to the compiled forms of a place.

    If a form contains "@" (the side as a word) or "&" (the side as a letter), the keys are "left" and
    "right", else None. The forms in ``both``, if any, have the key "bilateral".
    """
    by_side: dict[str | None, list[str]] = {None: list(forms)}
    if any("@" in form or "&" in form for form in by_side[None]):
        templates = by_side.pop(None)
        for side, (word, letter) in _SIDE_WORDS.items():
            by_side[side] = [form.replace("@", word).replace("&", letter) for form in templates]
    by_side["bilateral"] = list(both)
    return {
        side: tuple(parse_name(form, anatomy=True) for form in side_forms)
        for side, side_forms in by_side.items()
        if side_forms
    }


def _compile_place(key: str, entry: Mapping[str, Any]) -> Place:
    """Build the place with this key from its entry in the file of a region."""
    distance = entry.get("distance")
    return Place(
        key,
        _compile_by_side(as_tuple(entry["name"]), as_tuple(entry.get("both"))),
        _compile_by_side(as_tuple(entry.get("short")), ()),
        _compile_by_side(as_tuple(entry.get("pre")), as_tuple(entry.get("both_pre"))),
        as_tuple(entry.get("prep", "in")),
        entry.get("the", True),
        entry.get("plural", False),
        frozenset(as_tuple(entry.get("near"))),
        tuple(distance) if distance else None,
        entry.get("part"),
    )


def _compile_name(markup: str, number: str) -> Name:
    """Compile a name of a finding, "noun" or "prefix | noun" in markup, in the singular and plural.

    ``number`` is the finding's ("count", "mass" or "plural"); a final "+" (plural) or "-" (mass noun) in the
    markup overrides it.
    """
    if markup[-1] in "+-":
        number = "plural" if markup[-1] == "+" else "mass"
        markup = markup[:-1]
    prefix = None
    if " | " in markup:
        prefix_markup, markup = markup.split(" | ", maxsplit=1)
        prefix = parse_name(prefix_markup)
    singular = parse_name(markup)
    plural = parse_name(pluralize_markup(markup)) if number == "count" else singular
    return Name(prefix, singular, plural, number, singular.words | (prefix.words if prefix else frozenset()))


def _compile_denial(markup: str, number: str) -> tuple[Phrase, bool]:
    """Compile a phrase that denies a finding; return it, and whether it is a plural."""
    is_plural = markup[-1] == "+" or (number == "plural" and markup[-1] != "-")
    return parse_name(markup.rstrip("+-").replace(" | ", " ")), is_plural


def _compile_state(markup: str) -> State:
    """Compile a state from markup, "place|<subject>+: adjective", where the place and "+" (plural) are
    optional.

    Raises
    ------
    LexiconError
        If the markup does not have this form, or the subject or the adjective is not a valid name.
    """
    place, bar, remainder = markup.partition("|")
    subject, _, adjective = (remainder if bar else markup).partition(":")
    match = re.fullmatch(r"<([^>]+)>(\+?)", subject.strip())
    if match is None or not adjective:
        remedy = "Find it in the YAML files of the lexicon and write it as '<subject>: adjective'."
        raise LexiconError(f"malformed state {markup!r}", "", remedy)
    subjects = {side: phrases[0] for side, phrases in _compile_by_side([match[1]], []).items()}
    forms: dict[str | None, str] = {None: adjective.strip()}
    if "@" in adjective:
        forms = {side: adjective.strip().replace("@", word) for side, (word, _) in _SIDE_WORDS.items()}
    adjectives = {side: parse_name(form) for side, form in forms.items()}
    return State(place if bar else None, subjects, adjectives, match[2] == "+")


def _split_descriptors(descriptors: Any) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return a mapping from modality, or "any", to groups of descriptors of appearance; the descriptors of a
    group, such as "solid/part-solid", exclude each other."""
    by_modality = {"any": descriptors} if isinstance(descriptors, list) else descriptors or {}
    return {
        key: tuple(tuple(group.split("/")) for group in as_tuple(texts)) for key, texts in by_modality.items()
    }


def _compile_concept(key: str, entry: Mapping[str, Any], region: str, system: str) -> Concept:
    """Build the finding with this key from its entry; ``system`` is the organ system under which the file of
    the region lists it."""
    number, names = entry.get("number", "count"), as_tuple(entry.get("name"))
    denied = as_tuple(entry["deny"]) if "deny" in entry else names
    size = entry.get("size")
    return Concept(
        key=key,
        region=region,
        system=entry.get("system", system),
        names=tuple(_compile_name(name, number) for name in names),
        shorts=tuple(_compile_name(name, number) for name in as_tuple(entry.get("short"))),
        denied=tuple(_compile_denial(name, number) for name in denied or names),
        states=tuple(_compile_state(state) for state in as_tuple(entry.get("state"))),
        major=not entry.get("minor", False),
        scale=entry.get("scale"),
        steps=tuple(entry.get("steps", (0, 3))),
        sided=entry.get("side", False),
        places=as_tuple(entry.get("place")),
        size=tuple(size) if size else None,
        descriptors=_split_descriptors(entry.get("looks")),
        **{flag: entry.get(flag, False) for flag in ("disease", "device", "tip", "rare", "vague", "many")},
        changes=entry.get("change", True),
        uncertain=entry.get("uncertain", True),
        hints=as_tuple(entry.get("hint")),
        advice=as_tuple(entry.get("advice")),
        chexpert=entry.get("chexpert"),
        common=float(entry.get("common", 1)),
        denials=float(entry.get("deny_weight", 1)) if denied else 0.0,
        scope=Scope.from_tags(as_tuple(entry.get("only"))),
        clash=frozenset(as_tuple(entry.get("clash"))),
    )


def _invert(markup: str, antonyms: Mapping[str, str]) -> str:
    """Return the markup of a normal statement with each state replaced by its antonym or, if it has none, by
    its denial."""

    def invert_state(match: re.Match[str]) -> str:
        state = match[1]
        return f"[{antonyms[state]}]" if state in antonyms else f"[!not {state}]"

    return re.sub(r"\ba (\[[aeiou])", r"an \1", re.sub(r"\(([^)]*)\)", invert_state, markup))


def _group_by_style(wordings: Any) -> dict[str, tuple[str, ...]]:
    """Return a mapping from style to the markup of its sentences. A string, a list, or the value of the key
    ``both`` applies to both styles."""
    by_style = wordings if isinstance(wordings, dict) else {"both": wordings}
    return {style: as_tuple(by_style.get(style)) + as_tuple(by_style.get("both")) for style in _STYLES}


def _compile_sentences(wordings: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[Phrase, ...]]:
    """Compile the sentences of each style from markup."""
    return {style: tuple(parse_sentence(s) for s in sentences) for style, sentences in wordings.items()}


def _compile_remark(key: str, entry: Mapping[str, Any], wordings: Any, weight: float) -> RemarkEntry:
    """Build the remark with this key; ``entry`` gives its scope and whether it requires an earlier study."""
    scope = Scope.from_tags(as_tuple(entry.get("only")))
    sentences = _compile_sentences(_group_by_style(wordings))
    return RemarkEntry(key, sentences, weight, scope, entry.get("prior", False))


def _compile_normal(
    key: str, entry: Mapping[str, Any], region: str, concepts: Iterable[Concept], antonyms: Mapping[str, str]
) -> NormalEntry:
    """Build the normal statement with this key from its entry.

    ``concepts`` are the findings of its region, and ``antonyms`` maps normal states to abnormal ones.
    """
    systems, wordings = as_tuple(entry["system"]), _group_by_style(entry["say"])
    keys = {c.key for c in concepts if c.system in systems and not c.device} - {*as_tuple(entry.get("allow"))}
    return NormalEntry(
        key,
        region,
        systems[0],
        _compile_sentences(wordings),
        _compile_sentences(
            {style: tuple(_invert(s, antonyms) for s in sentences) for style, sentences in wordings.items()}
        ),
        frozenset(as_tuple(entry["excludes"]) if "excludes" in entry else keys),
        as_tuple(entry.get("chexpert")),
        float(entry.get("weight", 1)),
        Scope.from_tags(as_tuple(entry.get("only"))),
        entry.get("prior", False),
    )


def _compile_region(name: str, data: Mapping[str, Any], antonyms: Mapping[str, str]) -> Region:
    """Build the region with this name from the ``data`` in its file; ``antonyms`` maps normal states to
    abnormal ones."""
    concepts = tuple(
        _compile_concept(key, entry, name, system)
        for system, entries in data["findings"].items()
        for key, entry in entries.items()
    )
    bodies = {
        system: (parse_name(body.removesuffix("+"), anatomy=True), body.endswith("+"))
        for system, body in (data.get("bodies") or {}).items()
    }
    return Region(
        name,
        tuple(data["findings"]),
        bodies,
        concepts,
        tuple(_compile_normal(k, entry, name, concepts, antonyms) for k, entry in data["normals"].items()),
        tuple(
            _compile_remark(key, entry, entry["say"], float(entry.get("weight", 1)))
            for key, entry in (data.get("remarks") or {}).items()
        ),
        data.get("chest", False),
    )


def _compile_procedure(code: str, entry: Mapping[str, Any], sex: str | None) -> Procedure:
    """Build the procedure with this code from its entry; ``sex`` is the protocol's default."""
    return Procedure(
        code,
        entry["title"],
        _group_by_style(entry["technique"]),
        tuple(Indication(as_tuple(r["complaint"]), as_tuple(r["question"])) for r in entry["reasons"]),
        float(entry.get("weight", 1)),
        entry.get("sex", sex),
        frozenset(as_tuple(entry.get("parts"))),
    )


def _compile_protocol(entry: Mapping[str, Any], regions: Mapping[str, Region]) -> Protocol:
    """Build a protocol from its entry in ``protocols.yml``; ``regions`` maps names to compiled regions."""
    return Protocol(
        entry["modality"],
        entry["anatomy"],
        tuple(regions[name] for name in as_tuple(entry["regions"])),
        tuple(_compile_procedure(code, p, entry.get("sex")) for code, p in entry["procedures"].items()),
        float(entry.get("weight", 1)),
        tuple(entry.get("ages", (18, 92))),
        float(entry.get("findings", 1)),
        float(entry.get("normals", 1)),
        entry.get("earlier", "prior"),
    )


@lru_cache(maxsize=1)
def load_lexicon() -> Lexicon:
    """Return the lexicon, which is read from the packaged files and compiled at the first call; raise
    LexiconError if the markup of a phrase is malformed."""
    grammar = own_yaml.read(FOLDER / "grammar.yml")
    remarks = {key: _compile_remark(key, {}, texts, 0.0) for key, texts in grammar["remarks"].items()}
    places: dict[str, Place] = {}
    regions: dict[str, Region] = {}
    for path in sorted((FOLDER / "regions").glob("*.yml")):
        data = own_yaml.read(path)
        places |= {key: _compile_place(key, entry) for key, entry in (data.get("places") or {}).items()}
        regions[path.stem] = region = _compile_region(path.stem, data, grammar["antonyms"])
        remarks |= {remark.key: remark for remark in region.remarks}
        for kind, wordings in data["conclusions"].items():
            remarks[f"{path.stem}.{kind}"] = _compile_remark(f"{path.stem}.{kind}", {}, wordings, 0.0)
    entries = own_yaml.read(FOLDER / "protocols.yml")["protocols"]
    protocols = [_compile_protocol(entry, regions) for entry in entries]
    concepts = {concept.key: concept for region in regions.values() for concept in region.concepts}
    # Clashes are mutual, even if only one of the two findings declares them.
    declared_clashes = {key: concept.clash for key, concept in concepts.items()}
    for key, concept in concepts.items():
        declared_by = {other for other, clash in declared_clashes.items() if key in clash}
        object.__setattr__(concept, "clash", concept.clash | declared_by)
    descriptor_groups = (g for c in concepts.values() for groups in c.descriptors.values() for g in groups)
    return Lexicon(
        concepts,
        places,
        {normal.key: normal for region in regions.values() for normal in region.normals},
        remarks,
        {descriptor: parse_name(descriptor) for group in descriptor_groups for descriptor in group},
        {(protocol.modality, protocol.anatomy): protocol for protocol in protocols},
        {procedure.code: procedure for protocol in protocols for procedure in protocol.procedures},
        grammar,
    )


# Plurals of English nouns in the lexicon.


_IRREGULAR = {"focus": "foci", "thrombus": "thrombi", "diverticulum": "diverticula", "bronchus": "bronchi"}


def pluralize(word: str) -> str:
    """Return the plural of an English noun in the lexicon, such as "metastases" for "metastasis"."""
    stem, _, last_word = word.rpartition(" ")
    prefix = stem + " " if stem else ""
    if last_word in _IRREGULAR:
        return prefix + _IRREGULAR[last_word]
    for ending, plural in (("thorax", "thoraces"), ("sis", "ses"), ("ysts", "ysts"), ("fe", "ves")):
        if last_word.endswith(ending):
            return prefix + last_word[: -len(ending)] + plural
    if re.search(r"(s|x|ch|sh)$", last_word):
        return prefix + last_word + "es"
    if re.search(r"[^aeiou]y$", last_word):
        return prefix + last_word[:-1] + "ies"
    return prefix + last_word + "s"


def pluralize_markup(markup: str) -> str:
    """Return the markup of a name with its head in the plural.

    The head is the starred word or, if there is none, the last word outside braces that is not a function
    word ("of", "the"). The markup must not be empty.
    """
    words, in_braces, head = markup.split(), False, -1
    for index, word in enumerate(words):
        in_braces = in_braces or word.startswith("{")
        if word.startswith("*"):
            head = index
            break
        if not in_braces and word not in FUNCTION_WORDS:
            head = index
        in_braces = in_braces and not word.endswith("}")
    star = "*" if words[head].startswith("*") else ""
    words[head] = star + pluralize(words[head].removeprefix("*"))
    return " ".join(words)
