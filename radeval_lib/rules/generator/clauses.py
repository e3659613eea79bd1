"""Writes findings and denials as clauses, by filling the slots of frames."""

from __future__ import annotations

from functools import partialmethod
from typing import NamedTuple

from radeval_lib.rules.generator.builder import (
    Byte,
    Frame,
    TextBuilder,
    build_size_phrase,
    choose_article,
    get_byte,
    load_words,
    pick,
)
from radeval_lib.rules.generator.records import Denial, PlannedFinding, SpatialRelation, Style
from radeval_lib.rules.lexicon.entries import Phrase, Place, State
from radeval_lib.rules.lexicon.loading import load_lexicon
from radeval_lib.rules.report_text.words import Span

#: The maximum number of words in an entity that span-based taggers consider (Zhao et al. 2024, appendix A.9).
LONGEST_SPAN = 8


class Clause:
    """The base class of clauses; the method ``slot_x`` fills the slot ``x`` of a frame.

    ``head`` is the id of the observation or structure that the clause is about; -1 before it is written.
    """

    def __init__(self, builder: TextBuilder, style: Style, wording_seed: int, label: str) -> None:
        """Prepare a clause that writes to ``builder``; ``label`` is given to observations without a label."""
        self.builder, self.lexicon, self.words = builder, load_lexicon(), load_words()
        self.style, self.wording_seed, self.label = style, wording_seed, label
        self.head = -1

    def write(self, frame: Frame) -> None:
        """Write a frame with its slots filled."""
        builder = self.builder
        for name, text, phrase in frame.operations:
            if name == "word":
                builder.add_text(text)
            elif phrase is None:
                getattr(self, f"slot_{name}")()
            else:  # A word of change is annotated; "denied" stands for a negated phrase ("not changed").
                _, head, _ = builder.add_phrase(phrase, "OBS-DA" if name == "denied" else self.label)
                if self.head >= 0:
                    builder.relate(head, "modify", self.head)

    def slot_seen(self) -> None:
        """Write a word such as "seen" or "noted"."""
        self.builder.add_text(pick(self.words.lists["seen"], self.wording_seed, Byte.VERB))

    def slot_since(self) -> None:
        """Write the time of comparison, such as "since the prior study"."""
        self.builder.add_text(pick(self.words.lists["since"], self.wording_seed, Byte.SINCE))


class FindingClause(Clause):
    """A clause that states a finding.

    Attributes
    ----------
    state : the predicate that states the finding; None if its name does.
    change_form : "pre" (before the noun), "post" (after it), "verb" (as the predicate), or "" for no change.
    place_precedes, size_precedes : whether the place and the size precede the noun.
    descriptors_follow : whether the appearance follows as a separate sentence.
    is_short : whether the place is abbreviated.
    span, diagnosis, hedge : the (start, end) of the finding, the suggested diagnosis and the words that hedge
        the diagnosis.
    landmarks : the (start, end) of each preposition, and that of the place after it.
    subject_id : the id of the anatomy that is the subject of the clause; -1 if there is none.
    """

    def __init__(
        self, builder: TextBuilder, style: Style, wording_seed: int, finding: PlannedFinding
    ) -> None:
        """Choose the words that do not depend on the frame, by the bytes of ``wording_seed``."""
        label = "OBS-U" if finding.certainty == "uncertain" else "OBS-DP"
        super().__init__(builder, style, wording_seed, label)
        concept = self.concept = self.lexicon.concepts[finding.concept]
        self.finding = finding
        self.rate_type = "Anatomy" if concept.device else "Disease" if concept.disease else "Abnormality"
        self.place: Place | None = self.lexicon.places[finding.place] if finding.place else None
        self.state: State | None = None
        self.span: Span = (0, 0)
        self.diagnosis: Span | None = None
        self.hedge: Span | None = None
        self.landmarks: list[tuple[Span, Span]] = []
        self.subject_id = -1
        self.change_form = ""
        self.descriptors_follow = False
        if concept.names:
            self._choose_name()
        place, place_byte = self.place, get_byte(wording_seed, Byte.PLACE)
        self.is_short = bool(place and place.shorts and style == "hospital" and place_byte & 12 == 0)
        self.place_precedes = bool(
            place
            and place_byte & 1
            and not concept.device
            and finding.side in place.premodifiers
            and concept.names
            # This avoids "left renal renal cyst".
            and not place.premodifiers[finding.side][0].words & self.name_words
        )
        self.size_precedes = get_byte(wording_seed, Byte.SIZE) & 1 == 0

    def _choose_name(self) -> None:
        """Choose the name and its number; if possible, it repeats no word of the appearance or the place."""
        finding, names = self.finding, self.concept.names
        descriptors = (self.lexicon.descriptors[key].words for key in finding.descriptors)
        descriptor_words = frozenset[str]().union(*descriptors)
        if descriptor_words:
            names = tuple(name for name in names if not name.words & descriptor_words) or names
        if self.style == "hospital" and self.concept.shorts and not finding.many:
            names = names + self.concept.shorts
        if finding.many:
            names = tuple(name for name in names if name.number == "count") or names
        if self.place is not None:  # This avoids "renal cyst of the left kidney".
            place_words = self.place.nouns[finding.side][0].words
            names = tuple(name for name in names if not name.words & place_words) or names
        name = pick(names, self.wording_seed, Byte.NAME)
        self.number = name.number
        self.plural = name.number == "plural" or (
            name.number == "count" and (finding.many or finding.side == "bilateral")
        )
        self.prefix = name.prefix
        self.name_words = name.words
        self.name: Phrase = name.many if self.plural else name.one

    # --- noun phrase ---

    def list_modifiers(self) -> list[Phrase]:
        """Return the phrases before the noun: number, change, severity, size, appearance and prefix, in this
        order."""
        finding, words, wording_seed = self.finding, self.words, self.wording_seed
        concept = self.concept
        modifiers: list[Phrase] = []
        if finding.many:
            modifiers.append(pick(words.many, wording_seed, Byte.EXTRA))
        if self.change_form == "pre" and finding.change:
            table = words.change_modifiers[concept.size is not None]
            modifiers.append(pick(table[finding.change], wording_seed, Byte.CHANGE))
        if finding.severity is not None and concept.scale:
            steps = words.scales[concept.scale, "adjectives"]
            modifiers.append(pick(steps[finding.severity], wording_seed, Byte.SEVERITY))
        if finding.size_mm and self.size_precedes and not concept.device:
            modifiers.append(self._build_size())
        if finding.descriptors and not self.descriptors_follow:
            descriptors = map(self.lexicon.descriptors.__getitem__, finding.descriptors)
            modifiers += [phrase for phrase in descriptors if not phrase.words & self.name_words]
        if self.prefix is not None:
            modifiers.append(self.prefix)
        return modifiers

    def _fit_modifiers(self) -> list[Phrase]:
        """Return the phrases before the noun, after moving place, size and change, in this order, behind the
        noun until the entity has at most :data:`LONGEST_SPAN` words or none of them is left."""
        fallbacks = {"place_precedes": False, "size_precedes": False, "change_form": "post", "": None}
        for attribute, value in fallbacks.items():
            modifiers = self.list_modifiers()
            length = sum(len(phrase.text.split()) for phrase in [*modifiers, self.name])
            if self.place_precedes and self.place is not None:
                length += max(len(p.text.split()) for p in self.place.premodifiers[self.finding.side])
            if length <= LONGEST_SPAN or not attribute:
                break
            if attribute != "change_form" or self.change_form == "pre":
                setattr(self, attribute, value)
        return modifiers

    def write_noun_phrase(self, determiner: str) -> None:
        """Write the noun phrase; ``determiner`` is "a" ("a" or "an", if the noun takes it), "the", or "" for
        none."""
        finding, builder = self.finding, self.builder
        modifiers = self._fit_modifiers()
        place_phrase: Phrase | None = None
        if self.place is not None:
            if self.place_precedes:
                place_phrase = pick(self.place.premodifiers[finding.side], self.wording_seed, Byte.EXTRA)
        elif finding.side:
            place_phrase = self.words.sides[finding.side]
        first_phrase = modifiers[0] if modifiers else place_phrase or self.name
        if determiner == "the":
            builder.add_text("the")
        elif determiner == "a" and (
            first_phrase.text.endswith(" of") or not (self.plural or self.number == "mass")
        ):
            builder.add_text(choose_article(first_phrase.text))
        positions = [builder.add_phrase(modifier, self.label) for modifier in modifiers]
        place_id = -1
        if place_phrase is not None:
            positions.append(builder.add_phrase(place_phrase))
            place_id = positions[-1][2]
        positions.append(builder.add_phrase(self.name, self.label))
        start, (_, self.head, anatomy) = positions[0][0], positions[-1]
        for _, head, _ in positions[: len(modifiers)]:
            builder.relate(head, "modify", self.head)
        if place_id >= 0 and self.place is None and anatomy >= 0:
            builder.relate(place_id, "modify", anatomy)  # "left pleural effusion"
        elif place_id >= 0:
            builder.relate(self.head, "located_at", place_id)
        if self.subject_id >= 0:
            builder.relate(self.head, "located_at", self.subject_id)
        self.span = (start, builder.end)
        builder.add_entity(start, builder.end, self.rate_type)

    slot_np = partialmethod(write_noun_phrase, "a")
    slot_bare = partialmethod(write_noun_phrase, "")
    slot_the = partialmethod(write_noun_phrase, "the")

    def _write_verb(self, singular: str, plural: str) -> None:
        """Write the form of a verb that agrees with the noun phrase or with the subject of the predicate."""
        self.builder.add_text(plural if self.plural else singular)

    slot_be = partialmethod(_write_verb, "is", "are")
    slot_have = partialmethod(_write_verb, "has", "have")
    slot_remain = partialmethod(_write_verb, "remains", "remain")
    slot_appear = partialmethod(_write_verb, "appears", "appear")

    # --- attributes ---

    def _build_size(self) -> Phrase:
        """Return the size as a phrase, in centimetres for devices and for most sizes of 10 mm or more."""
        sizes = self.finding.size_mm or ()
        in_centimetres = min(sizes) >= 10 and get_byte(self.wording_seed, Byte.SIZE) & 6 != 0
        return build_size_phrase(sizes, in_centimetres or self.concept.device)

    def _write_size(self) -> None:
        """Write the size as a modifier of the finding."""
        _, head, _ = self.builder.add_phrase(self._build_size(), self.label)
        self.builder.relate(head, "modify", self.head)

    def slot_size(self) -> None:
        """Write the size, such as "measuring 8 mm", unless it precedes the noun."""
        if self.finding.size_mm and not self.size_precedes and not self.concept.device:
            self.builder.add_text(pick(self.words.lists["measure"], self.wording_seed, Byte.EXTRA))
            self._write_size()

    def _write_place(self) -> tuple[Span, int]:
        """Write the place; return its (start, end) and the id of its anatomy head."""
        place, side, builder = self.place, self.finding.side, self.builder
        assert place is not None
        if place.article and side != "bilateral":
            builder.add_text("the")
        place_forms = place.shorts[side] if self.is_short and side in place.shorts else place.nouns[side]
        start, _, anatomy = builder.add_phrase(pick(place_forms, self.wording_seed, Byte.EXTRA))
        builder.add_entity(start, builder.end, "Anatomy")
        return (start, builder.end), anatomy

    def _write_location(self) -> None:
        """Write a preposition and the place, and record them for :meth:`finish`."""
        assert self.place is not None
        prepositions = self.place.prepositions
        if self.concept.device:  # The tip of a device is in the stomach, never of it.
            prepositions = tuple(word for word in prepositions if word != "of") or ("in",)
        indicator = self.builder.add_text(pick(prepositions, self.wording_seed, Byte.LIST))
        landmark, anatomy = self._write_place()
        self.builder.relate(self.head, "located_at", anatomy)
        self.landmarks.append((indicator, landmark))

    def slot_loc(self) -> None:
        """Write the place, such as "in the right lower lobe", unless it precedes the noun."""
        if self.place is not None and not self.place_precedes:
            self._write_location()

    def slot_tip(self) -> None:
        """Write the place of a tip, such as "with the tip in the SVC" or "terminating 4 cm above the carina".

        Without a tip, the place of the finding is written; without a place, nothing is written.
        """
        if self.place is None:
            return
        if not self.concept.tip:
            self._write_location()
            return
        options = self.words.lists["tip"]["many" if self.plural else "one"]
        self.builder.add_text(pick(options, self.wording_seed, Byte.CAUSE).strip())
        if self.finding.size_mm:
            self._write_size()
        self._write_location()

    def slot_where(self) -> None:
        """Write the place as the subject of the sentence."""
        _, self.subject_id = self._write_place()

    def slot_show(self) -> None:
        """Write a verb such as "shows" in agreement with the place."""
        assert self.place is not None
        number = "many" if self.place.plural or self.finding.side == "bilateral" else "one"
        self.builder.add_text(pick(self.words.lists["show"], self.wording_seed, Byte.VERB)[number])

    def slot_change(self) -> None:
        """Write the change, such as ", unchanged from prior", if it follows the finding."""
        if self.finding.change and self.change_form == "post":
            self.builder.add_text(",")
            self._write_change("post" if self.state is None else "state")

    def slot_changed(self) -> None:
        """Write the change as the predicate, such as "has increased"."""
        self._write_change("verb")

    def _write_change(self, form: str) -> None:
        """Write the change in one of the forms "post", "state" and "verb" of ``grammar.yml``."""
        assert self.finding.change is not None
        table = self.words.change[form, form != "state" and self.concept.size is not None]
        self.write(pick(table[self.finding.change], self.wording_seed, Byte.CHANGE))

    def slot_again(self) -> None:
        """Write the change before the noun phrase, as in "interval increase in the ..."."""
        assert self.finding.change is not None
        self.write(pick(self.words.again[self.finding.change], self.wording_seed, Byte.CHANGE))

    def slot_cause(self) -> None:
        """Write the suggested diagnosis, if any, such as ", suggestive of pneumonia"."""
        if self.finding.diagnosis is None:
            return
        builder = self.builder
        builder.add_text(",")
        concept = self.lexicon.concepts[self.finding.diagnosis]
        name = pick(concept.names, self.wording_seed, Byte.SEVERITY)
        hedges = self.words.lists["cause" if name.number == "count" else "due"][self.style]
        self.hedge = builder.add_text(pick(hedges, self.wording_seed, Byte.CAUSE))
        is_plural = self.plural and self.state is None and name.number == "count"
        phrases = [name.prefix] if name.prefix else []
        phrases.append(name.many if is_plural else name.one)
        if name.number == "count" and not is_plural:
            builder.add_text(choose_article(phrases[0].text))
        positions = [builder.add_phrase(phrase, "OBS-U") for phrase in phrases]
        start, head = positions[0][0], positions[-1][1]
        if name.prefix:
            builder.relate(positions[0][1], "modify", head)
        self.diagnosis = (start, builder.end)
        builder.add_entity(start, builder.end, "Disease" if concept.disease else "Abnormality")
        builder.relate(self.head, "suggestive_of", head)

    def write_appearance(self) -> None:
        """Write the appearance as a separate sentence, such as "It is spiculated"."""
        builder = self.builder
        builder.add_text("they are" if self.plural else "it is")
        for index, descriptor in enumerate(self.finding.descriptors):
            if index:
                builder.add_text("and")
            start, head, _ = builder.add_phrase(self.lexicon.descriptors[descriptor], self.label)
            builder.relate(head, "modify", self.head)
            builder.add_entity(start, builder.end, "Abnormality")

    # --- predicate ---

    def use_state(self, state: State) -> None:
        """Make the slots that are filled from now on state the finding by this predicate."""
        self.state, self.plural = state, state.plural

    def slot_subject(self) -> None:
        """Write the structure that is the subject of the predicate."""
        assert self.state is not None
        subjects = self.state.subjects
        start, _, self.subject_id = self.builder.add_phrase(subjects.get(self.finding.side) or subjects[None])
        self.builder.add_entity(start, self.builder.end, "Anatomy")

    def slot_adjective(self) -> None:
        """Write the adjective of the predicate, with an adverb if the finding has a severity."""
        assert self.state is not None
        builder, finding, adjectives = self.builder, self.finding, self.state.adjectives
        start, adverb = -1, -1
        if finding.severity is not None and self.concept.scale:
            steps = self.words.scales[self.concept.scale, "adverbs"]
            start, adverb, _ = builder.add_phrase(
                pick(steps[finding.severity], self.wording_seed, Byte.SEVERITY), self.label
            )
        begin, self.head, _ = builder.add_phrase(adjectives.get(finding.side) or adjectives[None], self.label)
        start = begin if start < 0 else start
        if adverb >= 0:
            builder.relate(adverb, "modify", self.head)
        builder.relate(self.head, "located_at", self.subject_id)
        self.span = (start, builder.end)
        builder.add_entity(start, builder.end, self.rate_type)

    def finish(self) -> None:
        """Add the spatial relations of the finding; call it when the whole clause is written."""
        for indicator, landmark in self.landmarks:
            relation = SpatialRelation(indicator, self.span, landmark, self.diagnosis, self.hedge)
            self.builder.add_roles(relation)


# Clauses of denials.


#: The bytes that choose the names of the denied findings, in turn. A denial has no severity, size or change,
#: so these bytes are free.
_NAME_BYTES = [byte for byte in Byte if byte >= Byte.NAME]


class DeniedName(NamedTuple):
    """The name of a denied finding: its phrase, whether it is a plural, and its RaTE type."""

    phrase: Phrase
    plural: bool
    rate_type: str


class DenialClause(Clause):
    """A clause that denies a list of findings.

    Attributes
    ----------
    items : the names of the denied findings, in order.
    structure : the name of the structure to which all findings belong, and whether it is a plural; None if
        there is no such structure.
    """

    def __init__(self, builder: TextBuilder, style: Style, wording_seed: int, denial: Denial) -> None:
        """Choose the names of the denied findings, by the bytes of ``wording_seed``."""
        super().__init__(builder, style, wording_seed, "OBS-DA")
        self.items: list[DeniedName] = []
        mentioned: set[str] = set()
        concepts = [self.lexicon.concepts[key] for key in denial.concepts]
        for index, concept in enumerate(concepts):
            names = tuple(name for name in concept.denied if name[0].text not in mentioned) or concept.denied
            phrase, plural = pick(names, wording_seed, _NAME_BYTES[index % len(_NAME_BYTES)])
            mentioned.add(phrase.text)
            rate_type = "Non-Disease" if concept.disease else "Non-Abnormality"
            self.items.append(DeniedName(phrase, plural, rate_type))
        bodies = {self.words.bodies.get((c.region, c.system)) for c in concepts}
        self.structure = bodies.pop() if len(bodies) == 1 else None

    def write_list(self, conjunction: str) -> None:
        """Write the names of the denied findings as a list; half of the lists of three or more have a
        comma before the conjunction."""
        builder, last = self.builder, len(self.items) - 1
        has_comma = last > 1 and get_byte(self.wording_seed, Byte.COMMA) & 1
        for index, item in enumerate(self.items):
            if index:
                if last > 1 and (index < last or has_comma):
                    builder.add_text(",")
                if index == last:
                    builder.add_text(conjunction)
            start, head, anatomy = builder.add_phrase(item.phrase, self.label)
            builder.add_entity(start, builder.end, item.rate_type)
            if self.head >= 0 and anatomy < 0:
                builder.relate(head, "located_at", self.head)

    def slot_body(self) -> None:
        """Write the structure to which all denied findings belong."""
        assert self.structure is not None
        start, _, self.head = self.builder.add_phrase(self.structure[0])
        self.builder.add_entity(start, self.builder.end, "Anatomy")

    def slot_show_b(self) -> None:
        """Write a verb such as "shows" in agreement with the structure."""
        assert self.structure is not None
        verb = pick(self.words.lists["show_normal"], self.wording_seed, Byte.VERB)
        self.builder.add_text(verb["many" if self.structure[1] else "one"])

    slot_or = partialmethod(write_list, "or")
    slot_nor = partialmethod(write_list, "nor")
    slot_list = partialmethod(write_list, "and")

    def _write_be(self, plural: bool) -> None:
        """Write "are" for a plural subject, else "is"."""
        self.builder.add_text("are" if plural else "is")

    @property
    def _is_plural(self) -> bool:
        """Whether the list, with "and", takes a plural verb: it has several items, or its only item is a
        plural."""
        return len(self.items) > 1 or self.items[0].plural

    def slot_fbe(self) -> None:
        """Write "is" or "are", in agreement with the first item of the list."""
        self._write_be(self.items[0].plural)

    def slot_nbe(self) -> None:
        """Write "is" or "are", in agreement with the last item of the list, which is next to it."""
        self._write_be(self.items[-1].plural)

    def slot_lbe(self) -> None:
        """Write "is" or "are", in agreement with the whole list."""
        self._write_be(self._is_plural)

    def slot_have_l(self) -> None:
        """Write "has" or "have", in agreement with the whole list."""
        self.builder.add_text("have" if self._is_plural else "has")

    def slot_bbe(self) -> None:
        """Write "is" or "are", in agreement with the structure."""
        self._write_be(self.structure is not None and self.structure[1])
