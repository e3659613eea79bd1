"""The entries of the lexicon, read and compiled; ``lexicon/README.md`` describes their keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from radeval_lib.rules.lexicon.markup import Phrase

#: The 14 observations of CheXpert (Irvin et al. 2019), in the labeller's order.
CHEXPERT = (
    "Enlarged Cardiomediastinum", "Cardiomegaly", "Lung Opacity", "Lung Lesion", "Edema", "Consolidation",
    "Pneumonia", "Atelectasis", "Pneumothorax", "Pleural Effusion", "Pleural Other", "Fracture",
    "Support Devices", "No Finding",
)  # fmt: skip

SEXES = ("female", "male")
MODALITIES = ("CT", "CTA", "Fluoroscopy", "Mammography", "MRA", "MRI", "MRV", "Ultrasound", "X-Ray")


@dataclass(frozen=True, slots=True)
class Exam:
    """What kind of examination, of whom.

    ``modality`` is one of :data:`MODALITIES`, ``sex`` one of :data:`SEXES`, ``anatomy`` in capitals;
    ``parts`` are the parts of the region that it shows (none: all).
    """

    modality: str
    anatomy: str
    sex: str
    parts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an entry may be used; an empty set restricts nothing."""

    modalities: frozenset[str] = frozenset()
    anatomies: frozenset[str] = frozenset()
    sexes: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, tags: Iterable[str]) -> Scope:
        """Sort tags: modalities, "female" and "male", anatomies (in capitals); any other is taken for a part
        of a region."""
        tags = frozenset(tags)
        modalities, sexes = tags & set(MODALITIES), tags & set(SEXES)
        anatomies = frozenset(tag for tag in tags - modalities if tag.isupper())
        return cls(modalities, anatomies, sexes, tags - modalities - sexes - anatomies)

    def admits(self, exam: Exam) -> bool:
        """Whether the entry may be used in this examination."""
        return (
            (not self.modalities or exam.modality in self.modalities)
            and (not self.anatomies or exam.anatomy in self.anatomies)
            and (not self.sexes or exam.sex in self.sexes)
            and (not self.parts or not exam.parts or bool(self.parts & exam.parts))
        )


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A location.

    Attributes
    ----------
    key : its name in the lexicon.
    nouns, shorts, premodifiers : noun phrases, abbreviations of the hospital style, and what stands before
        a finding's noun, each by side: ``left``, ``right`` and ``bilateral``, or None for a place without
        sides.
    prepositions : which of them lead to the noun phrase.
    article : whether the noun takes "the".
    plural : whether the noun is a plural.
    near : keys of places so close that confusing them with it is not clinically significant.
    distance : smallest and largest distance of a device's tip from it in mm; None: no distance is given.
    part : the part of its region; None: it is shown with any.
    """

    key: str
    nouns: Mapping[str | None, tuple[Phrase, ...]]
    shorts: Mapping[str | None, tuple[Phrase, ...]]
    premodifiers: Mapping[str | None, tuple[Phrase, ...]]
    prepositions: tuple[str, ...]
    article: bool
    plural: bool
    near: frozenset[str]
    distance: tuple[int, int] | None
    part: str | None

    @property
    def sided(self) -> bool:
        """Whether the place exists on both sides."""
        return None not in self.nouns


@dataclass(frozen=True, slots=True, eq=False)
class Name:
    """A noun phrase for a finding; ``number`` is count, mass or plural.

    ``lead`` is what stands before a side or place: "healed | rib fractures" gives "healed left rib
    fractures".
    """

    lead: Phrase | None
    one: Phrase
    many: Phrase
    number: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A finding said as a predicate, "the heart is enlarged"; for findings at ``place`` only, where given."""

    place: str | None
    subjects: Mapping[str | None, Phrase]
    adjectives: Mapping[str | None, Phrase]
    plural: bool


@dataclass(frozen=True, slots=True, eq=False)
class Concept:
    """What can be found; ``lexicon/README.md`` describes the keys of its file.

    Attributes
    ----------
    key : its name in the lexicon.
    region : key of its body region.
    system : its organ system.
    names, shorts : noun phrases, and abbreviations of the hospital style.
    denied : phrases by which it is denied, and whether each is a plural.
    states : the same as predicates.
    disease : entity type Disease instead of Abnormality.
    device : a device, of entity type Anatomy.
    tip : a device whose tip is located.
    major : errors about it may be clinically significant.
    rare : hardly ever in hospital style, often in encyclopaedic style.
    scale : scale of severity in ``grammar.yml``; None: no severity.
    steps : lowest and highest step of the scale that is used.
    sided : takes a side when it has no place.
    places : keys of the places where it can be.
    vague : or nowhere in particular.
    size : smallest and largest diameter in mm; None: no size.
    looks : descriptors that exclude each other, in groups, by modality.
    many : may be several.
    changes, uncertain : may change; may be hedged.
    hints : keys of the diagnoses that it suggests.
    advice : keys of the remarks that recommend something.
    chexpert : its observation of CheXpert's 14; None: none.
    common : weight when findings are drawn.
    denials : weight when denials are drawn; 0: never denied by itself.
    scope : where it may be used.
    clash : keys of the findings that must not be denied beside it.
    """

    key: str
    region: str
    system: str
    names: tuple[Name, ...]
    shorts: tuple[Name, ...]
    denied: tuple[tuple[Phrase, bool], ...]
    states: tuple[State, ...]
    disease: bool
    device: bool
    tip: bool
    major: bool
    rare: bool
    scale: str | None
    steps: tuple[int, int]
    sided: bool
    places: tuple[str, ...]
    vague: bool
    size: tuple[int, int] | None
    looks: Mapping[str, tuple[tuple[str, ...], ...]]
    many: bool
    changes: bool
    uncertain: bool
    hints: tuple[str, ...]
    advice: tuple[str, ...]
    chexpert: str | None
    common: float
    denials: float
    scope: Scope
    clash: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True, eq=False)
class NormalEntry:
    """A statement of normality.

    Attributes
    ----------
    key, region, system : its name in the lexicon, its body region, and the first of its organ systems.
    wordings : sentences by style.
    opposites : of each wording, by style, the sentence with its normal states inverted.
    excludes : keys of the findings that it rules out.
    chexpert : the observations of CheXpert that it makes negative.
    weight : factor of the chance that it is said.
    scope : where it may be used.
    prior : only beside an earlier study.
    """

    key: str
    region: str
    system: str
    wordings: Mapping[str, tuple[Phrase, ...]]
    opposites: Mapping[str, tuple[Phrase, ...]]
    excludes: frozenset[str]
    chexpert: tuple[str, ...]
    weight: float
    scope: Scope
    prior: bool


@dataclass(frozen=True, slots=True, eq=False)
class RemarkEntry:
    """A sentence without a finding: technique, limitation, conclusion or recommendation; its fields are those
    of :class:`NormalEntry`. With weight 0 it is not drawn by itself."""

    key: str
    wordings: Mapping[str, tuple[Phrase, ...]]
    weight: float = 0.0
    scope: Scope = field(default_factory=Scope)
    prior: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """The part of the lexicon for one body region.

    Attributes
    ----------
    key : the name of its file.
    systems : its organ systems, in the order of reports.
    bodies : by system, the anatomy that a denial may name, and whether that is a plural.
    concepts, normals, remarks : its entries.
    chest : whether reports of it have CheXpert's labels.
    """

    key: str
    systems: tuple[str, ...]
    bodies: Mapping[str, tuple[Phrase, bool]]
    concepts: tuple[Concept, ...]
    normals: tuple[NormalEntry, ...]
    remarks: tuple[RemarkEntry, ...]
    chest: bool


@dataclass(frozen=True, slots=True, eq=False)
class Indication:
    """An indication: complaint or history, and the question put to the radiologist."""

    complaints: tuple[str, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Procedure:
    """An examination that can be ordered.

    Attributes
    ----------
    code, title : what the order says.
    technique : sentences on how it is made, by style.
    reasons : indications that ask for it.
    weight : how often it is drawn among the procedures of its protocol, relative to 1.
    sex : whom it is for, one of :data:`SEXES`; None: both.
    parts : the parts of the region that it shows; none: all.
    """

    code: str
    title: str
    technique: Mapping[str, tuple[str, ...]]
    reasons: tuple[Indication, ...]
    weight: float
    sex: str | None
    parts: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Protocol:
    """A modality of an anatomy.

    Attributes
    ----------
    modality, anatomy : one of :data:`MODALITIES`; in capitals.
    regions : those that it shows, the one that it is about first.
    procedures : how it can be ordered.
    weight : how often it is drawn, relative to 1.
    ages : lowest age of those examined, and the age that they are below, in years.
    findings : factor of the weight of a report with n findings, to the power n.
    normals : factor of the share of normal statements.
    earlier : key of the comparison in ``grammar.yml`` where there is an earlier study.
    """

    modality: str
    anatomy: str
    regions: tuple[Region, ...]
    procedures: tuple[Procedure, ...]
    weight: float
    ages: tuple[int, int]
    findings: float
    normals: float
    earlier: str


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """The whole lexicon, which the generator, the reader and the judge by rules share.

    Attributes
    ----------
    concepts, places, normals, remarks : the entries by key.
    looks : descriptors of appearance by their words.
    protocols : by modality and anatomy.
    procedures : by code.
    grammar : the content of ``grammar.yml``.
    """

    concepts: Mapping[str, Concept]
    places: Mapping[str, Place]
    normals: Mapping[str, NormalEntry]
    remarks: Mapping[str, RemarkEntry]
    looks: Mapping[str, Phrase]
    protocols: Mapping[tuple[str, str], Protocol]
    procedures: Mapping[str, Procedure]
    grammar: Mapping[str, Any]

    def places_of(self, concept: Concept, exam: Exam) -> tuple[str, ...]:
        """The places of the concept that the examination shows."""
        parts = exam.parts
        return tuple(
            place for place in concept.places if not parts or self.places[place].part in (None, *parts)
        )

    def shown(self, concept: Concept, exam: Exam) -> bool:
        """Whether the concept may occur in the examination."""
        return concept.scope.admits(exam) and (not concept.places or bool(self.places_of(concept, exam)))

    def conflicts(self, concept: str) -> frozenset[str]:
        """Concepts whose denial contradicts the presence of ``concept``, itself included; KeyError where
        there is no such concept."""
        return self.concepts[concept].clash | {concept}
