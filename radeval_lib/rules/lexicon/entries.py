"""Entries of the lexicon, and the markup of its phrases, which is compiled to text with annotations.

``lexicon/README.md`` describes the keys of entries in the files.

Names of findings, places and descriptors (:func:`parse_name`)::

    {pleural} effusion        words in braces are anatomy, the others are observations
    *loss of {disc} height    * marks the head; without it, the last word of a kind is the head
    within_normal_limits      _ joins words to one RadGraph entity

Each word is one RadGraph entity that modifies the head of its kind; the observation head is located at the
anatomy head. Function words ("of", "the") are not entities.

Sentences of normality, remarks and conclusions (:func:`parse_sentence`)::

    the <lungs> are (clear)            <> anatomy, () normal state
    no ~acute {osseous} abnormality~   ~~ denied abnormality; ~d:...~ a denied disease
    [!not clear]                       [] abnormal state; ! marks that it is a denied normal one

A state is located at the anatomy before it, or else at the anatomy after it.
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
_SIGNS = re.compile(r"[{}*<>()\[\]~|@&]")  # signs that must not be left when markup is compiled
_REMEDY = "Close every bracket, and write the markup as lexicon/README.md describes."


@lru_cache(maxsize=65536)
def tokenize(text: str) -> tuple[str, ...]:
    """Return the tokens of a text as the released RadGraph model has them: split at white space, with each of
    ``/ , : . ! ? ( )`` as a token of its own.

    Hyphens and semicolons do not separate tokens; decimal points do ("2.5" gives 2 . 5).
    """
    return tuple(_TOKEN.findall(text))


@dataclass(frozen=True, slots=True)
class Mark:
    """A RadGraph entity in a phrase: its characters (end exclusive), its first and last token, the tokens
    joined by blanks, and its label.

    The label is "" for an observation whose presence is decided where the phrase is used.
    """

    start: int
    end: int
    first: int
    last: int
    tokens: str
    label: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase compiled from markup.

    Attributes
    ----------
    text : the words, joined by blanks.
    ntokens : the number of tokens of ``text``.
    marks : the RadGraph entities.
    relations : (source, type, target) of RadGraph relations, as indices of ``marks``.
    head, anatomy : the indices, in ``marks``, of the heads of observation and anatomy; -1 without one.
    spans : (start, end, type) of the RaTE entities.
    words : the content words.
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
    """Return the phrase for the markup of the name of a finding, place or descriptor.

    One pass over the words compiles it: ``in_braces`` says whether a brace is open, ``position`` and
    ``token`` count characters and tokens of the text so far. ``heads`` and ``starred`` have the index of the
    last word, and of the word with a star, of each kind (the key is True for anatomy).

    Parameters
    ----------
    markup : the markup that the module's docstring describes.
    anatomy : whether all words are anatomy, also outside braces.
    observation : the label of words that are not anatomy.

    Raises
    ------
    LexiconError
        If braces do not match or are nested, two words of a kind have a star, a sign of other markup is left,
        or there is no content word.
    """
    marks: list[Mark] = []
    pieces: list[str] = []
    heads: dict[bool, int] = {}
    starred: dict[bool, int] = {}
    in_braces, is_broken, position, token = False, False, 0, 0
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
            span = position, position + len(word), token, token + len(tokens) - 1
            marks.append(Mark(*span, " ".join(tokens), label))
        pieces.append(word)
        position, token = position + len(word) + 1, token + len(tokens)
        in_braces = in_braces and not match["closes"]
    if is_broken or in_braces or not marks or _SIGNS.search("".join(pieces)):
        raise LexiconError(f"phrase {markup!r} has broken markup or no content word", "", _REMEDY)
    heads.update(starred)
    heads_of_marks = ((index, heads[mark.label == "ANAT-DP"]) for index, mark in enumerate(marks))
    relations = [(index, "modify", head) for index, head in heads_of_marks if index != head]
    if True in heads and False in heads:
        relations.append((heads[False], "located_at", heads[True]))
    return Phrase(
        " ".join(pieces),
        token,
        tuple(marks),
        tuple(relations),
        heads.get(False, -1),
        heads.get(True, -1),
        words=frozenset(" ".join(pieces).replace("-", " ").split()) - FUNCTION_WORDS,
    )


_ANATOMY = 1  # the number of the group of `_GROUP` for anatomy; the other groups are states
_STATES = {2: ("Non-Abnormality", "OBS-DP"), 3: ("Abnormality", "OBS-DP"), 4: ("Non-Abnormality", "OBS-DA")}


def parse_sentence(markup: str) -> Phrase:
    """Return the phrase for the markup of a sentence without a final period; its first letter becomes a
    capital.

    One pass over the groups compiles it: ``anatomy_heads`` are the heads of anatomy since the last state,
    ``states_waiting`` are states without anatomy before them, and ``after_state`` says whether a state has
    just ended the list of heads.

    Raises
    ------
    LexiconError
        If the sentence is empty, or a group is not closed or not opened.
    """
    text, token, at = "", 0, 0
    marks: list[Mark] = []
    relations: list[tuple[int, str, int]] = []
    spans: list[tuple[int, int, str]] = []
    anatomy_heads: list[int] = []
    states_waiting: list[int] = []
    after_state = True
    if not markup.strip() or _SIGNS.search(_GROUP.sub("", markup)):
        raise LexiconError(f"sentence {markup!r} is empty or has broken markup", "", _REMEDY)
    for match in _GROUP.finditer(markup):
        before, at = markup[at : match.start()], match.end()
        text, token = text + before, token + len(tokenize(before))
        kind = match.lastindex or 0  # the number of the group that matched
        content = match[kind]
        rate_type, label = _STATES.get(kind, ("Anatomy", "ANAT-DP"))
        if content.startswith("d:"):
            content, rate_type = content[2:], rate_type.replace("Abnormality", "Disease")
        if content.startswith("!"):
            content, label = content[1:], "OBS-DA"
        phrase = parse_name(content, anatomy=kind == _ANATOMY, observation=label)
        first_mark, offset = len(marks), len(text)
        marks += [
            Mark(m.start + offset, m.end + offset, m.first + token, m.last + token, m.tokens, m.label)
            for m in phrase.marks
        ]
        relations += [(first_mark + i, name, first_mark + j) for i, name, j in phrase.relations]
        spans.append((offset, offset + len(phrase.text), rate_type))
        if kind == _ANATOMY:
            if after_state:
                anatomy_heads, after_state = [], False
            anatomy_heads.append(first_mark + phrase.anatomy)
            relations += [(state, "located_at", first_mark + phrase.anatomy) for state in states_waiting]
            states_waiting = []
        else:
            head = first_mark + phrase.head
            if phrase.anatomy < 0 and anatomy_heads:
                relations += [(head, "located_at", site) for site in anatomy_heads]
            elif phrase.anatomy < 0:
                states_waiting.append(head)
            after_state = True
        text, token = text + phrase.text, token + phrase.ntokens
    text, token = text + markup[at:], token + len(tokenize(markup[at:]))
    if marks and marks[0].start == 0:
        marks[0] = replace(marks[0], tokens=marks[0].tokens[0].upper() + marks[0].tokens[1:])
    return Phrase(text[0].upper() + text[1:], token, tuple(marks), tuple(relations), spans=tuple(spans))


# The entries.


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
    """An examination of a patient.

    ``modality`` is one of :data:`MODALITIES`, ``anatomy`` a region in capitals, ``sex`` the patient's, one of
    :data:`SEXES`, and ``parts`` are the parts of the region that it shows; empty for all.
    """

    modality: str
    anatomy: str
    sex: str
    parts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Scope:
    """The examinations in which an entry of the lexicon may be used; an empty set does not restrict them."""

    modalities: frozenset[str] = frozenset()
    anatomies: frozenset[str] = frozenset()
    sexes: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, tags: Iterable[str]) -> Scope:
        """Return the scope that tags describe: modalities, "female" and "male", and anatomies in
        capitals; any other tag is a part of a region."""
        tags = frozenset(tags)
        modalities, sexes = tags & set(MODALITIES), tags & set(SEXES)
        anatomies = frozenset(tag for tag in tags - modalities if tag.isupper())
        return cls(modalities, anatomies, sexes, tags - modalities - sexes - anatomies)

    def admits(self, exam: Exam) -> bool:
        """Return whether an entry of this scope may be used in an examination."""
        return (
            (not self.modalities or exam.modality in self.modalities)
            and (not self.anatomies or exam.anatomy in self.anatomies)
            and (not self.sexes or exam.sex in self.sexes)
            and (not self.parts or not exam.parts or bool(self.parts & exam.parts))
        )


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A place where findings can be.

    Attributes
    ----------
    key : its name in the lexicon.
    nouns, shorts, premodifiers : noun phrases, abbreviations of the hospital style, and modifiers before a
        finding's noun, each by side: ``left``, ``right`` and ``bilateral``, or None for a place without
        sides.
    prepositions : the prepositions that may come before the noun phrase.
    article : whether the noun takes "the".
    plural : whether the noun is a plural.
    near : keys of places that are so close that confusing them with it is not clinically significant.
    distance : smallest and largest distance of a device's tip from it in mm; None if no distance is stated.
    part : the part of its region in which it is; None if every part shows it.
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
    """A noun phrase for a finding, as ``one`` and as ``many``; ``number`` is count, mass or plural.

    ``prefix`` are the words that come before a side or place: "healed" in "healed left rib fractures".
    ``words`` are all content words.
    """

    prefix: Phrase | None
    one: Phrase
    many: Phrase
    number: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A finding as a predicate, such as "the heart is enlarged".

    Attributes
    ----------
    place : the key of the only place for which the predicate is used; None for any place.
    subjects, adjectives : by side, left or right, or None for a word without a side, the phrase.
    plural : whether the subject is a plural.
    """

    place: str | None
    subjects: Mapping[str | None, Phrase]
    adjectives: Mapping[str | None, Phrase]
    plural: bool


@dataclass(frozen=True, slots=True, eq=False)
class Concept:
    """A finding that reports can have; ``lexicon/README.md`` describes the keys of its entry.

    Attributes
    ----------
    key : its name in the lexicon.
    region : key of its body region.
    system : its organ system.
    names, shorts : noun phrases, and abbreviations of the hospital style.
    denied : (phrase, whether it is a plural) by which it is denied.
    states : the finding as a predicate, "the heart is enlarged".
    disease : whether its entity type is Disease instead of Abnormality.
    device : whether it is a device, of entity type Anatomy.
    tip : whether it is a device whose tip is located.
    major : whether errors about it may be clinically significant.
    rare : whether it is very rare in hospital style and frequent in encyclopaedic style.
    scale : scale of severity in ``grammar.yml``; None if it has no severity.
    steps : lowest and highest step of the scale that it can have.
    sided : whether it takes a side if it has no place.
    places : keys of the places where it can be.
    vague : whether it can also be without a place.
    size : smallest and largest diameter in mm; None if it has no size.
    looks : by modality or "any", groups of descriptors of appearance; those of a group exclude each other.
    many : whether there can be several.
    changes, uncertain : whether it can change, and whether it can be hedged.
    hints : keys of the diagnoses that it can suggest.
    advice : keys of the remarks with recommendations for it.
    chexpert : the one of CheXpert's 14 observations that it is; None if it is none.
    common : weight when findings are drawn.
    denials : weight when denials are drawn; 0 if it is never denied.
    scope : the examinations in which it can occur.
    clash : keys of the findings that a report with it must not deny.
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
    """A normal statement, such as "the lungs are clear".

    Attributes
    ----------
    key, region, system : its name in the lexicon, its body region, and the first of its organ systems.
    wordings : sentences by style.
    opposites : the same sentences with their normal states inverted, by style.
    excludes : keys of the findings that it rules out.
    chexpert : the observations of CheXpert that it makes negative.
    weight : factor of the probability that a report has it.
    scope : the examinations in which it can occur.
    prior : whether it needs an earlier study.
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

    The fields are as in :class:`NormalEntry`; a remark of weight 0 is not drawn by itself.
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
    key : the name of its file.
    systems : its organ systems, in the order of reports.
    bodies : by system, the structure that a denial may name, and whether its name is a plural.
    concepts, normals, remarks : its findings, normal statements and remarks.
    chest : whether it is of the chest, so that CheXpert's "No Finding" applies.
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
    """Alternative wordings of a reason for an examination: complaints or histories, and questions to the
    radiologist."""

    complaints: tuple[str, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Procedure:
    """An examination that can be ordered.

    Attributes
    ----------
    code, title : its code and title.
    technique : sentences on how it is performed, by style.
    reasons : the indications for it.
    weight : its weight when a procedure of its protocol is drawn.
    sex : the sex of its patients, one of :data:`SEXES`; None for both.
    parts : the parts of the region that it shows; empty for all.
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
    modality, anatomy : one of :data:`MODALITIES`, and a region in capitals.
    regions : the regions that it shows, the examined one first.
    procedures : the procedures by which it can be ordered.
    weight : its weight when a protocol is drawn.
    ages : the lowest age of patients, and the age that they are below, in years.
    findings : the weight of n findings is multiplied by this factor to the power n.
    normals : the probability of normal statements is multiplied by this factor.
    earlier : the key, in ``grammar.yml``, of the comparison with an earlier study.
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
    """The whole lexicon, which the generator, the reader and the rule-based judge share.

    Attributes
    ----------
    concepts, places, normals, remarks : the entries by key.
    looks : descriptors of appearance by their words.
    protocols : the protocols by (modality, anatomy).
    procedures : the procedures by code.
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
        """Return the keys of the places where a finding can be and that the examination shows."""
        parts = exam.parts
        return tuple(site for site in concept.places if not parts or self.places[site].part in (None, *parts))

    def shown(self, concept: Concept, exam: Exam) -> bool:
        """Return whether a finding can occur in the examination."""
        return concept.scope.admits(exam) and (not concept.places or bool(self.places_of(concept, exam)))

    def conflicts(self, concept: str) -> frozenset[str]:
        """Return the keys of the findings whose denial contradicts the finding with the key ``concept``; its
        own key is one of them.

        Raises
        ------
        KeyError
            If the lexicon has no such finding.
        """
        return self.concepts[concept].clash | {concept}
