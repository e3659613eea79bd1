"""Defines the records of the generator: the meaning of a report, and its text with gold annotations.

A report is first a *plan*, a tuple of statements with one meaning each (:class:`PlannedFinding`,
:class:`Denial`, :class:`Normal`, :class:`Remark`), and then a text that states it. Errors and rewrites change
the plan, or only the wording of its statements; the text and all annotations are always derived from the
plan. Character positions are 0-based and half-open within their own :class:`AnnotatedText`; RadGraph token
positions are 0-based and inclusive, over the tokens of :func:`radeval_lib.rules.lexicon.entries.tokenize`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from radeval_lib.errors import RadevalError
from radeval_lib.rules.lexicon.entries import tokenize

Style = Literal["hospital", "encyclopaedic"]
Side = Literal["left", "right", "bilateral"]
Change = Literal["new", "increased", "decreased", "unchanged"]
Certainty = Literal["present", "uncertain"]

#: Reports in "hospital" style are like those of routine care (MIMIC-IV), with abbreviations; reports in
#: "encyclopaedic" style are like teaching cases (Radiopaedia), with rarer diseases and more on appearance.
STYLES: tuple[Style, ...] = ("hospital", "encyclopaedic")
CHANGES: tuple[Change, ...] = ("new", "increased", "decreased", "unchanged")


class SyntheticError(RadevalError):
    """A request that the generator cannot meet."""


# --- meaning ---


@dataclass(frozen=True, slots=True)
class PlannedFinding:
    """A finding that the report states as present or uncertain.

    Attributes
    ----------
    concept : its key in the lexicon.
    certainty : "present" or "uncertain".
    place : the key of its place; None if no place is stated.
    side : "left", "right" or "bilateral"; None if no side is stated.
    severity : a step of the severity scale of the concept, 0 for the mildest; None if no severity is stated.
    size_mm : one or two diameters in millimetres or, for a device, the distance from ``place`` to its tip;
        None if no size is stated.
    descriptors : descriptors of its appearance, such as "spiculated".
    many : whether there are several.
    change : the change since an earlier study; None if no change is stated.
    diagnosis : the key of the diagnosis that it is said to suggest; None if there is none.
    """

    concept: str
    certainty: Certainty = "present"
    place: str | None = None
    side: Side | None = None
    severity: int | None = None
    size_mm: tuple[int, ...] | None = None
    descriptors: tuple[str, ...] = ()
    many: bool = False
    change: Change | None = None
    diagnosis: str | None = None


@dataclass(frozen=True, slots=True)
class Denial:
    """The meaning that no finding with a key in ``concepts`` is present."""

    concepts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Normal:
    """A normal statement, given by its key in the lexicon; ``opposite`` negates it ("not clear")."""

    key: str
    opposite: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence without a finding (technique, limitation, conclusion or recommendation), given by its key in
    the lexicon."""

    key: str


Meaning = PlannedFinding | Denial | Normal | Remark


@dataclass(frozen=True, slots=True)
class Statement:
    """A meaning with its wording.

    Attributes
    ----------
    uid : an id that is unique within the report.
    content : the meaning.
    wording_seed : a 96-bit integer whose bytes select the frame, the synonyms and so on, but not the meaning.
    joined : whether the statement continues the sentence of the statement before it.
    """

    uid: int
    content: Meaning
    wording_seed: int
    joined: bool = False


Plan = tuple[Statement, ...]

# --- text ---


@dataclass(frozen=True, slots=True)
class RateEntity:
    """A RaTE entity: ``text[start:end]`` and its type, such as "Abnormality"."""

    start: int
    end: int
    text: str
    label: str


@dataclass(frozen=True, slots=True)
class RadGraphEntity:
    """A RadGraph entity.

    Attributes
    ----------
    start, end : the characters that it spans.
    start_ix, end_ix : the indices of its first and last token.
    tokens : its tokens, separated by spaces.
    label : its RadGraph label, such as "OBS-DP".
    relations : (type, id of the target) of each relation whose source it is; an id is the 1-based position of
        an entity, as a string.
    """

    start: int
    end: int
    start_ix: int
    end_ix: int
    tokens: str
    label: str
    relations: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SpatialRelation:
    """The roles of a spatial relation as in RadSpRL, each a (start, end) span.

    Attributes
    ----------
    indicator : the spatial expression.
    trajector : the finding or device that is located.
    landmark : the place where it is located.
    diagnosis, hedge : the diagnosis that it suggests, and the words that hedge it; None if missing.
    """

    indicator: tuple[int, int]
    trajector: tuple[int, int]
    landmark: tuple[int, int]
    diagnosis: tuple[int, int] | None = None
    hedge: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """The (start, end) of a sentence, and the uids of the statements that it expresses."""

    start: int
    end: int
    statements: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """A section of a report with its gold annotations; all positions are relative to ``text``.

    Attributes
    ----------
    text : the text of the section.
    sentences : the spans of its sentences.
    entities, radgraph : the RaTE and the RadGraph entities.
    roles : the spatial relations.
    """

    text: str
    sentences: tuple[Sentence, ...]
    entities: tuple[RateEntity, ...]
    radgraph: tuple[RadGraphEntity, ...]
    roles: tuple[SpatialRelation, ...]


@dataclass(frozen=True, slots=True)
class SyntheticReport:
    """A generated report: patient, examination, meaning, texts and labels.

    Attributes
    ----------
    report_id : an id that names the seed and the index in the stream of reports.
    style, modality, anatomy : the style, and the kind of examination.
    sex, age : the sex of the patient, and the age in years.
    procedure, procedure_title : the code and the title of the examination that fits the indication.
    indication, comparison, technique : the text of these sections.
    plan : the meaning.
    findings, impression : the text of these sections, with annotations.
    chexpert : a mapping from each of :data:`CHEXPERT` to 1 (positive), 0 (negative), -1 (uncertain) or None
        (not mentioned), for findings and impression together.
    wording_seed : an integer that selects the words of sentences outside the plan, such as a conclusion.
    """

    report_id: str
    style: Style
    modality: str
    anatomy: str
    sex: str
    age: int
    procedure: str
    procedure_title: str
    indication: str
    comparison: str
    technique: str
    plan: Plan
    findings: AnnotatedText
    impression: AnnotatedText
    chexpert: Mapping[str, int | None]
    wording_seed: int

    @property
    def text(self) -> str:
        """The whole report, with headers from INDICATION to IMPRESSION."""
        return (
            f"INDICATION: {self.indication}\nCOMPARISON: {self.comparison}\nTECHNIQUE: {self.technique}\n"
            f"FINDINGS: {self.findings.text}\nIMPRESSION: {self.impression.text}"
        )


def index_graph(text: AnnotatedText) -> tuple[list[tuple[int, int, str]], list[tuple[int, int, str]]]:
    """Return the RadGraph entities and relations of a text with 0-based indices.

    Returns
    -------
    entities : (index of the first token, index after the last token, label) of each entity.
    relations : (source, target, type) of each relation; source and target are indices into ``entities``.
    """
    entities = [(entity.start_ix, entity.end_ix + 1, entity.label) for entity in text.radgraph]
    relations = [(source, link) for source, entity in enumerate(text.radgraph) for link in entity.relations]
    return entities, [(source, int(target) - 1, kind) for source, (kind, target) in relations]


def index_tokens(text: str) -> tuple[tuple[str, ...], list[int]]:
    """Return the tokens of a text, and the index of a token for each character before the last token's end.

    A character between tokens has the index of the next token.
    """
    tokens, token_at, position = tokenize(text), [], 0
    for index, token in enumerate(tokens):
        end = text.index(token, position) + len(token)
        token_at += [index] * (end - position)
        position = end
    return tokens, token_at


def tokenize_sentences(text: AnnotatedText) -> Iterator[tuple[list[str], list[tuple[int, int, str]]]]:
    """Yield the tokens and the RaTE entities of each sentence.

    An entity is (index of the first token, index of the last token, type), with 0-based indices within the
    sentence.
    """
    for sentence in text.sentences:
        start, end = sentence.start, sentence.end
        tokens, token_at = index_tokens(text.text[start:end])
        entities = (e for e in text.entities if start <= e.start < end)
        spans = [(token_at[e.start - start], token_at[e.end - 1 - start], e.label) for e in entities]
        yield list(tokens), spans
