"""The files of the lexicon and of the reader: their keys, the kinds of their values, and what they refer to.

They are part of the package and read without a check, so this is where a mistake in them shows.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from radeval_lib import own_yaml
from radeval_lib.rules.lexicon.entries import CHEXPERT, MODALITIES, SEXES
from radeval_lib.rules.lexicon.loading import FOLDER, as_tuple, load_lexicon
from radeval_lib.rules.reader.records import WHOLE
from radeval_lib.rules.reader.vocabulary import FILE, expand_region

Text = Annotated[str, Field(min_length=1, pattern=r"\S")]
Texts = Annotated[tuple[Text, ...], BeforeValidator(as_tuple)]
Weight = Annotated[float, Field(ge=0)]
Range = tuple[int, int]
Wordings = Annotated[
    dict[Literal["hospital", "encyclopaedic", "both"], Texts],
    BeforeValidator(lambda words_of: words_of if isinstance(words_of, dict) else {"both": words_of}),
]
CheXpert = Literal[CHEXPERT]


class Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


class PlaceEntry(Entry):
    name: Texts
    short: Texts = ()
    pre: Texts = ()
    both: Texts = ()
    both_pre: Texts = ()
    prep: Texts = ()
    the: bool = True
    plural: bool = False
    near: Texts = ()
    distance: Range | None = Field(None, strict=False)
    part: Text | None = None


class ConceptEntry(Entry):
    name: Texts = ()
    short: Texts = ()
    deny: Texts = ()
    state: Texts = ()
    number: Literal["count", "mass", "plural"] = "count"
    disease: bool = False
    device: bool = False
    tip: bool = False
    minor: bool = False
    rare: bool = False
    scale: Text | None = None
    steps: Range = Field((0, 3), strict=False)
    side: bool = False
    place: Texts = ()
    vague: bool = False
    size: Range | None = Field(None, strict=False)
    looks: dict[Literal["any", *MODALITIES], Texts] | list[Text] = []
    many: bool = False
    change: bool = True
    uncertain: bool = True
    hint: Texts = ()
    advice: Texts = ()
    chexpert: CheXpert | None = None
    common: Weight = 1
    deny_weight: Weight = 1
    only: Texts = ()
    clash: Texts = ()
    system: Text | None = None


class NormalEntry(Entry):
    system: Texts
    say: Wordings
    allow: Texts = ()
    excludes: Texts = ()
    chexpert: Annotated[tuple[CheXpert, ...], BeforeValidator(as_tuple)] = ()
    weight: Weight = 1
    only: Texts = ()
    prior: bool = False


class RemarkEntry(Entry):
    say: Wordings
    weight: Weight = 1
    only: Texts = ()
    prior: bool = False


class RegionFile(Entry):
    findings: dict[str, dict[str, ConceptEntry]]
    normals: dict[str, NormalEntry]
    conclusions: dict[Literal["clear", "acute"], Wordings]
    chest: bool = False
    bodies: dict[str, Text] = {}
    places: dict[str, PlaceEntry] = {}
    remarks: dict[str, RemarkEntry] = {}


class Reason(Entry):
    complaint: Texts
    question: Texts


class ProcedureEntry(Entry):
    title: Text
    technique: Wordings
    reasons: list[Reason]
    weight: Weight = 1
    sex: Literal[SEXES] | None = None
    parts: Texts = ()


class ProtocolEntry(Entry):
    modality: Literal[MODALITIES]
    anatomy: Annotated[str, Field(pattern=r"^[A-Z][A-Z -]*$")]
    regions: Texts
    procedures: dict[str, ProcedureEntry]
    weight: Weight = 1
    sex: Literal[SEXES] | None = None
    ages: Range = Field((18, 92), strict=False)
    findings: Weight = 1
    normals: Weight = 1
    earlier: Literal["none", "prior", "recent"] = "prior"


class ProtocolsFile(Entry):
    protocols: list[ProtocolEntry]


REGIONS = {path.stem: path for path in sorted((FOLDER / "regions").glob("*.yml"))}


def region_files() -> dict[str, RegionFile]:
    return {name: RegionFile.model_validate(own_yaml.read(path)) for name, path in REGIONS.items()}


def protocols() -> list[ProtocolEntry]:
    return ProtocolsFile.model_validate(own_yaml.read(FOLDER / "protocols.yml")).protocols


def test_keys_and_values() -> None:
    assert region_files()
    assert protocols()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("minor: true", "miner: true"),
        ("minor: true", 'minor: "no"'),
        ("size: [3, 8]", "size: [3]"),
        ("chexpert: Edema", "chexpert: Oedema"),
        ("name: [pneumonia]", "name: {a: pneumonia}"),
        ("prep: [at, in]", "prop: [at, in]"),
        ("common: 6", "common: often"),
    ],
)
def test_a_mistake_is_refused(old: str, new: str) -> None:
    text = REGIONS["chest"].read_text(encoding="utf-8")
    assert old in text
    with pytest.raises(ValidationError):
        RegionFile.model_validate(own_yaml.parse(text.replace(old, new, 1)))


def test_what_entries_refer_to() -> None:
    files, lexicon = region_files(), load_lexicon()
    for kind in ("places", "normals", "remarks"):
        keys = [key for file in files.values() for key in getattr(file, kind)]
        assert len(keys) == len(set(keys)), kind
    keys = [key for file in files.values() for system in file.findings.values() for key in system]
    assert len(keys) == len(set(keys))
    parts = {part for first in protocols() for of in first.procedures.values() for part in of.parts}
    tags = {*MODALITIES, *SEXES, *parts, *(first.anatomy for first in protocols())}
    scales = lexicon.grammar["scales"]
    for file in files.values():
        assert set(file.bodies) <= set(file.findings)
        for position in file.places.values():
            assert set(position.near) <= set(lexicon.places)
            assert {position.part} <= {None, *parts}
        for key, entry in (
            (key, first) for system in file.findings.values() for key, first in system.items()
        ):
            concept = lexicon.concepts[key]
            assert entry.name or entry.state, key
            assert not (entry.scale and entry.size), key
            assert concept.system in file.findings, key
            assert set(entry.place) <= set(lexicon.places), key
            assert {state.place for state in concept.states} <= {None, *entry.place}, key
            assert {*entry.hint, *entry.clash} <= set(lexicon.concepts), key
            assert set(entry.advice) <= set(lexicon.remarks), key
            assert set(entry.only) <= tags, key
            assert entry.scale is None or entry.steps[1] < len(scales[entry.scale]["adjectives"]), key
            assert entry.size is None or entry.size[0] <= entry.size[1], key
        for key, entry in file.normals.items():
            of_systems = {c.key for c in lexicon.concepts.values() if c.system in entry.system}
            assert set(entry.system) <= set(file.findings), key
            assert set(entry.excludes) <= set(lexicon.concepts), key
            assert set(entry.allow) <= of_systems, key
            assert set(entry.only) <= tags, key
        for entry in file.remarks.values():
            assert set(entry.only) <= tags
    for first in protocols():
        assert set(first.regions) <= set(REGIONS)
    assert len({(first.modality, first.anatomy) for first in protocols()}) == len(protocols())


def test_both_styles_have_wordings() -> None:
    lexicon = load_lexicon()
    for entry in (*lexicon.normals.values(), *lexicon.remarks.values()):
        assert all(entry.wordings.values()), entry.key


def test_scales_have_as_many_adverbs_as_adjectives() -> None:
    for name, scale in load_lexicon().grammar["scales"].items():
        assert scale.keys() == {"adjectives", "adverbs"}
        assert len(scale["adjectives"]) == len(scale["adverbs"]), name


OF_LISTS = TypeAdapter(dict[str, list[Text]])
KINDS = {
    **dict.fromkeys(("no_abnormality", "numbered"), TypeAdapter(dict[str, Text])),
    "qualities": TypeAdapter(dict[Literal["c", "d"], dict[str, dict[str, list[Text]]]]),
    **dict.fromkeys(("chexpert", "codes"), TypeAdapter(dict[str, dict[str, list[Text]]])),
    **dict.fromkeys(["compounds", "chexpert_normal"], OF_LISTS),
    "states": TypeAdapter(dict[str, dict[str, list[Text]]]),
    "families": TypeAdapter(list[list[Text]]),
    **dict.fromkeys(["names", "observations", "structures", "places", "malpositions"], OF_LISTS),
    **dict.fromkeys(["sides", "usual_places", "change", "kinds"], OF_LISTS),
    "limits": TypeAdapter(dict[str, dict[str, float]]),
    "severity": TypeAdapter(dict[Literal[0, 1, 2, 3], list[Text]]),
}
"""What the parts of ``reading.yml`` are; a list of texts where none is named."""


def test_the_words_of_the_reader() -> None:
    raw, lexicon = own_yaml.read(FILE), load_lexicon()
    for part, value in raw.items():
        KINDS.get(part, TypeAdapter(list[Text])).validate_python(value)
    observations = {*lexicon.concepts, *raw["observations"]}
    structures, places = {*lexicon.normals, WHOLE}, {*lexicon.places, *raw["places"]}
    pairs = [
        (raw["names"], lexicon.concepts),
        (raw["structures"], structures),
        (raw["stable"], structures),
        (raw["placeless"], observations),
        (raw["no_abnormality"], structures),
        (raw["no_abnormality"].values(), observations),
        (raw["states"], structures),
        (chain.from_iterable(raw["states"].values()), observations),
        (raw["malpositions"], observations),
        (chain.from_iterable(raw["malpositions"].values()), places),
        (raw["usual_places"], observations),
        (chain.from_iterable(raw["usual_places"].values()), places),
        (raw["numbered"], places),
        (raw["seldom_denied"], observations),
        (raw["kinds"], observations),
        (raw["limits"], observations),
        (chain.from_iterable(raw["kinds"].values()), observations),
        (chain.from_iterable(raw["families"]), observations),
        (chain.from_iterable(raw["chexpert"].values()), observations),
        (chain.from_iterable(raw["codes"].values()), observations),
        (raw["chexpert_normal"], structures),
        (chain.from_iterable(raw["chexpert_normal"].values()), raw["chexpert"]),
        (raw["compounds"], observations),
        (chain.from_iterable(raw["compounds"].values()), observations),
        (raw["sides"], ("left", "right", "bilateral")),
        (raw["change"], lexicon.grammar["change"]["pre"]),
    ]
    for names, settings in pairs:
        assert [name for name in names if name not in settings] == []
    assert all(expand_region(ends) for ends in raw["numbered"].values())


def test_the_weights_of_errors() -> None:
    table = own_yaml.read(FOLDER / "significance.yml")
    assert set(table) == {"weights", "classes", "otherwise", "factors", "context"}
    TypeAdapter(dict[str, Weight]).validate_python({**table["weights"], **table["factors"]})
    used = set(re.findall(r'factor\("(\w+)"', (FOLDER.parent / "judge" / "judge.py").read_text()))
    assert used <= set(table["factors"])
    counts = Counter(finding for entry in table["classes"] for finding in entry["findings"])
    assert max(counts.values()) == 1
    of_class = {entry["class"] for entry in (*table["classes"], *table["context"])}
    assert {*of_class, *table["otherwise"].values()} <= set(table["weights"])
    for rule in table["context"]:
        assert ("asks" in rule) != bool({"from", "below"} & rule.keys())
