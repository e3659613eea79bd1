"""Defines the entries of the lexicon, and compiles the markup of its phrases to text with annotations.

``lexicon/README.md`` describes the keys of an entry in the YAML files. Sentences are given for two styles,
"hospital" (reports of routine care) and "encyclopaedic" (teaching cases); only the former has abbreviations.

Names of findings, places and descriptors (:func:`parse_name`)::

    {pleural} effusion        words in braces are anatomy, the others are observations
    *loss of {disc} height    * marks the head; without it, the last word of a kind is the head
    within_normal_limits      _ joins words into one RadGraph entity

Each word is one RadGraph entity that modifies the head of its kind; the observation head is located at the
anatomy head. Function words ("of", "the") are not entities.

Normal statements, remarks and conclusions (:func:`parse_sentence`)::

    the <lungs> are (clear)            <> anatomy, () normal state
    no ~acute {osseous} abnormality~   ~~ denied abnormality; ~d:...~ a denied disease
    [!not clear]                       [] abnormal state; ! marks a denied normal state

A state is located at the anatomy in its own words ("{osseous}"); if there is none, at the anatomy before the
state; and if there is none there either, at the anatomy after the state.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any

from radeval_lib.errors import LexiconError

_TOKEN = re.compile(r"[/,:.!?()]|[^\s/,:.!?()]+")
FUNCTION_WORDS = frozenset([
    "of", "the", "in", "and", "with", "to", "for", "from", "at", "or", "by", "a", "an", "per", "than", "on",
    "into", "not", "as", "its",
])  # fmt: skip
# A word of a name: "*head", "{anatomy}", "{*head", "last}".
_WORD = re.compile(r"(?P<star>\*?)(?:(?P<opens>\{)(?P<inner_star>\*?))?(?P<text>.*?)(?P<closes>\}?)")
_GROUP = re.compile(r"<([^>]*)>|\(([^)]*)\)|\[([^\]]*)\]|~([^~]*)~")
_SIGNS = re.compile(r"[{}*<>()\[\]~|@&]")  # markup that must not remain after compilation
_REMEDY = "Find it in the YAML files of the lexicon and write it as lexicon/README.md describes."


@lru_cache(maxsize=65536)
def tokenize(text: str) -> tuple[str, ...]:
    """Return the tokens of a text, split as for the released RadGraph model: at white space, with each of
    ``/ , : . ! ? ( )`` as a separate token.

    Hyphens and semicolons do not separate tokens; decimal points do ("2.5" gives 2 . 5).
    """
    return tuple(_TOKEN.findall(text))


@dataclass(frozen=True, slots=True)
class Mark:
    """A RadGraph entity in a phrase.

    Attributes
    ----------
    start, end : the positions of its first character and of the character after its last.
    first, last : the indices of its first and last token.
    tokens : its tokens, separated by spaces.
    label : its RadGraph label; "" for an observation whose presence is decided where the phrase is used.
    """

    start: int
    end: int
    first: int
    last: int
    tokens: str
    label: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase with its annotations, compiled from markup.

    Attributes
    ----------
    text : the words, separated by spaces.
    ntokens : the number of tokens of ``text``.
    marks : the RadGraph entities.
    relations : (source, type, target) of each RadGraph relation; source and target are indices into
        ``marks``.
    head, anatomy : the indices into ``marks`` of the observation head and the anatomy head; -1 if missing.
    spans : (start, end, type) of each RaTE entity, in characters, end exclusive.
    words : the content words; empty for a sentence.
    """

    text: str
    ntokens: int
    marks: tuple[Mark, ...]
    relations: tuple[tuple[int, str, int], ...]
    head: int = -1
    anatomy: int = -1
    spans: tuple[tuple[int, int, str], ...] = ()
    words: frozenset[str] = frozenset()


@cache  # Most names occur several times in the lexicon.
def parse_name(markup: str, *, anatomy: bool = False, observation: str = "") -> Phrase:
    """Compile the name of a finding, place or descriptor to a phrase.

    Parameters
    ----------
    markup : the name in the markup that the module's docstring describes.
    anatomy : whether all words are anatomy, even outside braces.
    observation : the RadGraph label of words that are not anatomy.

    Raises
    ------
    LexiconError
        If braces do not match or are nested, two words of the same kind (anatomy or observation) have a star,
        there is another sign of markup (``<>()[]~|@&``), or there is no content word.
    """
    marks: list[Mark] = []
    pieces: list[str] = []
    # The index into `marks` of the last word, and of the starred word, of anatomy (True) and observation.
    heads: dict[bool, int] = {}
    starred: dict[bool, int] = {}
    in_braces, is_broken, position, ntokens = False, False, 0, 0  # characters and tokens so far
    for match in map(_WORD.fullmatch, markup.split()):
        assert match is not None  # The pattern matches every word.
        is_broken = is_broken or bool(match["opens"] and in_braces)
        in_braces = in_braces or bool(match["opens"])
        is_broken = is_broken or bool(match["closes"] and not in_braces)
        word = match["text"].replace("_", " ")
        tokens = tokenize(word)
        if word not in FUNCTION_WORDS:
            is_anatomy = in_braces or anatomy
            heads[is_anatomy] = len(marks)
            if match["star"] or match["inner_star"]:
                is_broken = is_broken or is_anatomy in starred
                starred[is_anatomy] = len(marks)
            label = "ANAT-DP" if is_anatomy else observation
            bounds = position, position + len(word), ntokens, ntokens + len(tokens) - 1
            marks.append(Mark(*bounds, " ".join(tokens), label))
        pieces.append(word)
        position, ntokens = position + len(word) + 1, ntokens + len(tokens)
        in_braces = in_braces and not match["closes"]
    if is_broken or in_braces or not marks or _SIGNS.search("".join(pieces)):
        raise LexiconError(
            f"phrase {markup!r} {'is malformed' if marks else 'has no content word'}", "", _REMEDY
        )
    heads.update(starred)
    heads_of_marks = ((index, heads[mark.label == "ANAT-DP"]) for index, mark in enumerate(marks))
    relations = [(index, "modify", head) for index, head in heads_of_marks if index != head]
    if True in heads and False in heads:
        relations.append((heads[False], "located_at", heads[True]))
    return Phrase(
        " ".join(pieces),
        ntokens,
        tuple(marks),
        tuple(relations),
        heads.get(False, -1),
        heads.get(True, -1),
        words=frozenset(" ".join(pieces).replace("-", " ").split()) - FUNCTION_WORDS,
    )


_ANATOMY = 1  # the group of `_GROUP` that matches anatomy; the other groups match states
# The RaTE type and the RadGraph label of the states in each of the other groups.
_LABELS = {2: ("Non-Abnormality", "OBS-DP"), 3: ("Abnormality", "OBS-DP"), 4: ("Non-Abnormality", "OBS-DA")}


def parse_sentence(markup: str) -> Phrase:
    """Compile a sentence, in markup and without its final period, to a phrase with a capital first letter.

    Raises
    ------
    LexiconError
        If the sentence is empty, a bracket has no counterpart, a sign of names (``{}*|@&``) is outside a
        bracketed group, or the content of such a group is not a valid name (:func:`parse_name`).
    """
    text, ntokens, position = "", 0, 0
    marks: list[Mark] = []
    relations: list[tuple[int, str, int]] = []
    spans: list[tuple[int, int, str]] = []
    anatomy_heads: list[int] = []  # the heads of the anatomy before the current state
    pending_states: list[int] = []  # the heads of states with no anatomy before them
    starts_list = True  # whether the next anatomy starts a new list of heads, because a state came before it
    if not markup.strip() or _SIGNS.search(_GROUP.sub("", markup)):
        raise LexiconError(f"empty or malformed sentence {markup!r}", "", _REMEDY)
    for match in _GROUP.finditer(markup):
        literal, position = markup[position : match.start()], match.end()
        text, ntokens = text + literal, ntokens + len(tokenize(literal))
        group = match.lastindex or 0  # the number of the group that matched
        content = match[group]
        rate_type, label = _LABELS.get(group, ("Anatomy", "ANAT-DP"))
        if content.startswith("d:"):
            content, rate_type = content[2:], rate_type.replace("Abnormality", "Disease")
        if content.startswith("!"):
            content, label = content[1:], "OBS-DA"
        phrase = parse_name(content, anatomy=group == _ANATOMY, observation=label)
        first_mark, offset = len(marks), len(text)
        marks += [
            Mark(m.start + offset, m.end + offset, m.first + ntokens, m.last + ntokens, m.tokens, m.label)
            for m in phrase.marks
        ]
        relations += [(first_mark + i, name, first_mark + j) for i, name, j in phrase.relations]
        spans.append((offset, offset + len(phrase.text), rate_type))
        if group == _ANATOMY:
            if starts_list:
                anatomy_heads, starts_list = [], False
            anatomy_heads.append(first_mark + phrase.anatomy)
            relations += [(state, "located_at", first_mark + phrase.anatomy) for state in pending_states]
            pending_states = []
        else:
            head = first_mark + phrase.head
            if phrase.anatomy < 0 and anatomy_heads:
                relations += [(head, "located_at", anatomy) for anatomy in anatomy_heads]
            elif phrase.anatomy < 0:
                pending_states.append(head)
            starts_list = True
        text, ntokens = text + phrase.text, ntokens + phrase.ntokens
    text, ntokens = text + markup[position:], ntokens + len(tokenize(markup[position:]))
    if marks and marks[0].start == 0:
        marks[0] = replace(marks[0], tokens=marks[0].tokens[0].upper() + marks[0].tokens[1:])
    return Phrase(text[0].upper() + text[1:], ntokens, tuple(marks), tuple(relations), spans=tuple(spans))


# The entries.


#: The 14 CheXpert observations (Irvin et al. 2019), in the labeller's order.
CHEXPERT = (
    "Enlarged Cardiomediastinum", "Cardiomegaly", "Lung Opacity", "Lung Lesion", "Edema", "Consolidation",
    "Pneumonia", "Atelectasis", "Pneumothorax", "Pleural Effusion", "Pleural Other", "Fracture",
    "Support Devices", "No Finding",
)  # fmt: skip

SEXES = ("female", "male")
MODALITIES = ("CT", "CTA", "Fluoroscopy", "Mammography", "MRA", "MRI", "MRV", "Ultrasound", "X-Ray")


@dataclass(frozen=True, slots=True)
class Exam:
    """An examination of a patient.

    Attributes
    ----------
    modality : one of :data:`MODALITIES`.
    anatomy : the body region, in capitals.
    sex : the sex of the patient, one of :data:`SEXES`.
    parts : the parts of the region that the examination shows; empty if it shows all.
    """

    modality: str
    anatomy: str
    sex: str
    parts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Scope:
    """The examinations in which an entry of the lexicon may be used.

    Attributes
    ----------
    modalities, anatomies, sexes, parts : the admitted values of the attributes of an :class:`Exam`; an empty
        set admits all.
    """

    modalities: frozenset[str] = frozenset()
    anatomies: frozenset[str] = frozenset()
    sexes: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()

    @classmethod
    def from_tags(cls, tags: Iterable[str]) -> Scope:
        """Build a scope from tags: modalities, "female" and "male", and anatomies in capitals; any other tag
        is a part of a region."""
        tags = frozenset(tags)
        modalities, sexes = tags & set(MODALITIES), tags & set(SEXES)
        anatomies = frozenset(tag for tag in tags - modalities if tag.isupper())
        return cls(modalities, anatomies, sexes, tags - modalities - sexes - anatomies)

    def admits(self, exam: Exam) -> bool:
        """Return whether an entry with this scope may be used in an examination."""
        return (
            (not self.modalities or exam.modality in self.modalities)
            and (not self.anatomies or exam.anatomy in self.anatomies)
            and (not self.sexes or exam.sex in self.sexes)
            and (not self.parts or not exam.parts or bool(self.parts & exam.parts))
        )


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """An anatomical place where findings can occur.

    Attributes
    ----------
    key : its identifier in the lexicon.
    nouns, shorts, premodifiers : mappings from side (``left``, ``right`` and ``bilateral``, or None for a
        place without sides) to its noun phrases, to its abbreviations in hospital style, and to the modifiers
        that name it before the noun of a finding.
    prepositions : the prepositions that may come before the noun phrase.
    article : whether the noun takes "the".
    plural : whether the noun is a plural.
    near : the keys of the places that may be confused with this one without clinical significance.
    distance : the smallest and largest distance in mm from the place to the tip of a device; None if reports
        state no distance.
    part : the part of the body region that contains it; None if every part shows it.
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
    """A noun phrase for a finding.

    Attributes
    ----------
    prefix : the words before a side or place, such as "healed" in "healed left rib fractures"; None if there
        are none.
    one, many : the singular and the plural of the other words; equal unless the noun is a count noun.
    number : "count", "mass" or "plural".
    words : the content words of the prefix and the singular.
    """

    prefix: Phrase | None
    one: Phrase
    many: Phrase
    number: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A predicate that states a finding, such as "the heart is enlarged".

    Attributes
    ----------
    place : the key of the place to which the predicate applies; None if it applies to findings with no place.
    subjects, adjectives : mappings from side ("left" or "right", or None for a phrase without a side) to
        phrase.
    plural : whether the subject is a plural.
    """

    place: str | None
    subjects: Mapping[str | None, Phrase]
    adjectives: Mapping[str | None, Phrase]
    plural: bool


@dataclass(frozen=True, slots=True, eq=False)
class Concept:
    """A finding that reports can state; ``lexicon/README.md`` describes the keys of its entry.

    Attributes
    ----------
    key : its identifier in the lexicon.
    region : the key of its body region.
    system : its organ system.
    names, shorts : its noun phrases, and its abbreviations in hospital style.
    denied : the noun phrases under which it is denied, each with whether it is a plural.
    states : the predicates that state it, such as "the heart is enlarged".
    disease : whether its RaTE type is Disease instead of Abnormality.
    device : whether it is a device, whose RaTE type is Anatomy.
    tip : whether it is a device with a tip whose position is reported.
    major : whether errors about it may be clinically significant.
    rare : whether it is very rare in hospital style and frequent in encyclopaedic style.
    scale : the name of its severity scale in ``grammar.yml``; None if it has no severity.
    steps : the lowest and highest step of the scale that it can have.
    sided : whether it takes a side if it has no place.
    places : the keys of the places where it can occur.
    vague : whether its place may be left out.
    size : its smallest and largest diameter in mm; None if it has no size.
    descriptors : a mapping from modality, or "any", to groups of descriptors of appearance; those of one
        group exclude each other.
    many : whether several can occur together.
    changes, uncertain : whether it can change, and whether it can be hedged.
    hints : the keys of the diagnoses that it can suggest.
    advice : the keys of the remarks that give recommendations for it.
    chexpert : the corresponding CheXpert observation (:data:`CHEXPERT`); None if there is none.
    common : its weight when findings are drawn.
    denials : its weight when denials are drawn; 0 if it is never denied.
    scope : the examinations in which it can occur.
    clash : the keys of the findings that a report must not deny if it states this one.
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
    descriptors: Mapping[str, tuple[tuple[str, ...], ...]]
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
    """A normal statement, such as "the lungs are clear".

    Attributes
    ----------
    key, region, system : its identifier in the lexicon, its body region, and the first of its organ systems.
    wordings : a mapping from style to alternative sentences.
    opposites : ``wordings`` with every normal state inverted.
    excludes : the keys of the findings that it rules out.
    chexpert : the CheXpert observations that it makes negative.
    weight : a factor of the probability that a report states it.
    scope : the examinations in which it can occur.
    prior : whether it requires an earlier study.
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
    """A sentence without a finding: technique, limitation, conclusion or recommendation.

    Attributes
    ----------
    key : its identifier in the lexicon.
    wordings : a mapping from style to alternative sentences.
    weight : a factor of the probability that a report states it; 0 if it is not drawn independently.
    scope : the examinations in which it can occur.
    prior : whether it requires an earlier study.
    """

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
    key : the name of its file without ``.yml``.
    systems : its organ systems, in the usual order of reports.
    bodies : a mapping from system to the structure that a denial may name, and whether its name is a plural.
    concepts, normals, remarks : its findings, normal statements and remarks.
    chest : whether it belongs to the chest, so that CheXpert's "No Finding" applies.
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
    """A reason for an examination: alternative complaints or histories, and alternative questions to the
    radiologist."""

    complaints: tuple[str, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Procedure:
    """An examination that can be ordered.

    Attributes
    ----------
    code, title : its identifier, and its name in reports.
    technique : a mapping from style to alternative sentences on how it is performed.
    reasons : the indications for it.
    weight : its weight when a procedure of its protocol is drawn.
    sex : the sex of its patients, one of :data:`SEXES`; None for both.
    parts : the parts of the region that it shows; empty if it shows all.
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
    """The examinations of one anatomy with one modality.

    Attributes
    ----------
    modality, anatomy : one of :data:`MODALITIES`, and a body region in capitals.
    regions : the regions that it shows, the examined one first.
    procedures : the procedures that can be ordered.
    weight : its weight when a protocol is drawn.
    ages : the lower bound (inclusive) and the upper bound (exclusive) of the patients' age in years.
    findings : the factor whose n-th power multiplies the weight of n findings.
    normals : the factor that multiplies the probability of each normal statement.
    earlier : the key of the sentences in ``grammar.yml`` that name an earlier study for comparison.
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
    """The whole lexicon, which the generator, the report parser and the rule-based judge share.

    Attributes
    ----------
    concepts, places, normals, remarks : mappings from key to entry.
    descriptors : a mapping from the words of an appearance descriptor to its phrase.
    protocols : a mapping from (modality, anatomy) to protocol.
    procedures : a mapping from code to procedure.
    grammar : the content of ``grammar.yml``.
    """

    concepts: Mapping[str, Concept]
    places: Mapping[str, Place]
    normals: Mapping[str, NormalEntry]
    remarks: Mapping[str, RemarkEntry]
    descriptors: Mapping[str, Phrase]
    protocols: Mapping[tuple[str, str], Protocol]
    procedures: Mapping[str, Procedure]
    grammar: Mapping[str, Any]

    def list_places(self, concept: Concept, exam: Exam) -> tuple[str, ...]:
        """Return the keys of the places that an examination shows and where a finding can occur."""
        parts = exam.parts
        return tuple(key for key in concept.places if not parts or self.places[key].part in (None, *parts))

    def can_occur(self, concept: Concept, exam: Exam) -> bool:
        """Return whether an examination can show a finding."""
        return concept.scope.admits(exam) and (not concept.places or bool(self.list_places(concept, exam)))

    def list_conflicts(self, concept: str) -> frozenset[str]:
        """Return the keys of the findings whose denial contradicts the finding with the key ``concept``,
        including that key.

        Raises
        ------
        KeyError
            If the lexicon has no such finding.
        """
        return self.concepts[concept].clash | {concept}
