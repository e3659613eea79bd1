"""Clauses, which word findings and denials by filling the slots of a frame."""

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

#: The most words of an entity that span-based taggers consider (Zhao et al. 2024, appendix A.9).
LONGEST_SPAN = 8


class Clause:
    """The base of clauses, which fill the slots of a frame: the method ``slot_x`` fills the slot ``x``.

    ``head`` is the id of the observation or structure that the clause is about, -1 until that is written.
    """

    def __init__(self, builder: TextBuilder, style: Style, wording: int, label: str) -> None:
        """Prepare a clause that writes to ``builder``; ``label`` is that of its observations without one."""
        self.builder, self.lexicon, self.words = builder, load_lexicon(), load_words()
        self.style, self.wording, self.label = style, wording, label
        self.head = -1

    def run(self, frame: Frame) -> None:
        """Write a frame, slot by slot."""
        builder = self.builder
        for name, text, phrase in frame.operations:
            if name == "word":
                builder.word(text)
            elif phrase is None:
                getattr(self, f"slot_{name}")()
            else:  # A word of change is annotated; a denied one is a negated phrase ("not changed").
                _, head, _ = builder.phrase(phrase, "OBS-DA" if name == "denied" else self.label)
                if self.head >= 0:
                    builder.relate(head, "modify", self.head)

    def slot_seen(self) -> None:
        """Write a word for seen: "noted"."""
        self.builder.word(pick(self.words.lists["seen"], self.wording, Byte.VERB))

    def slot_since(self) -> None:
        """Write the time of comparison: "since the prior study"."""
        self.builder.word(pick(self.words.lists["since"], self.wording, Byte.SINCE))


class FindingClause(Clause):
    """The clause of a finding; the bytes of ``wording`` decide its name, the form of its place and so on."""

    def __init__(self, builder: TextBuilder, style: Style, wording: int, finding: PlannedFinding) -> None:
        """Choose the words of a finding that do not depend on the frame, by the bytes of ``wording``."""
        super().__init__(builder, style, wording, "OBS-U" if finding.certainty == "uncertain" else "OBS-DP")
        lexicon = self.lexicon
        concept = self.concept = lexicon.concepts[finding.concept]
        self.finding = finding
        self.rate = "Anatomy" if concept.device else "Disease" if concept.disease else "Abnormality"
        self.place: Place | None = lexicon.places[finding.place] if finding.place else None
        self.state: State | None = None
        self.span: Span = (0, 0)
        self.diagnosis: Span | None = None
        self.hedge: Span | None = None
        self.roles: list[tuple[Span, Span]] = []
        self.subject = -1
        self.change_form = ""
        self.looks_later = False
        if concept.names:
            self._choose_name()
        place, place_byte = self.place, get_byte(wording, Byte.PLACE)
        self.short = bool(place and place.shorts and style == "hospital" and place_byte & 12 == 0)
        self.place_before = bool(
            place
            and place_byte & 1
            and not concept.device
            and finding.side in place.premodifiers
            and concept.names
            # This avoids "left renal renal cyst".
            and not place.premodifiers[finding.side][0].words & self.words_of_name
        )
        self.size_inside = get_byte(wording, Byte.SIZE) & 1 == 0

    def _choose_name(self) -> None:
        """Choose a name, if possible one that repeats no word of the appearance or the place, and its
        number."""
        finding, names = self.finding, self.concept.names
        looks = frozenset[str]().union(*(self.lexicon.looks[look].words for look in finding.looks))
        if looks:
            names = tuple(name for name in names if not name.words & looks) or names
        if self.style == "hospital" and self.concept.shorts and not finding.many:
            names = names + self.concept.shorts
        if finding.many:
            names = tuple(name for name in names if name.number == "count") or names
        if self.place is not None:  # It avoids "renal cyst of the left kidney".
            words = self.place.nouns[finding.side][0].words
            names = tuple(name for name in names if not name.words & words) or names
        name = pick(names, self.wording, Byte.NAME)
        self.number = name.number
        self.plural = name.number == "plural" or (
            name.number == "count" and (finding.many or finding.side == "bilateral")
        )
        self.prefix = name.prefix
        self.words_of_name = name.words
        self.name: Phrase = name.many if self.plural else name.one

    # --- noun phrase ---

    def modifiers(self) -> list[Phrase]:
        """Return the phrases before the noun: number, change, severity, size, appearance and prefix, in this
        order."""
        finding, words, wording = self.finding, self.words, self.wording
        concept = self.concept
        pieces: list[Phrase] = []
        if finding.many:
            pieces.append(pick(words.many, wording, Byte.EXTRA))
        if self.change_form == "pre" and finding.change:
            table = words.before[concept.size is not None]
            pieces.append(pick(table[finding.change], wording, Byte.CHANGE))
        if finding.severity is not None and concept.scale:
            steps = words.scales[concept.scale, "adjectives"]
            pieces.append(pick(steps[finding.severity], wording, Byte.SEVERITY))
        if finding.size_mm and self.size_inside and not concept.device:
            pieces.append(self._size_phrase())
        if finding.looks and not self.looks_later:
            looks = (self.lexicon.looks[look] for look in finding.looks)
            pieces += [look for look in looks if not look.words & self.words_of_name]
        if self.prefix is not None:
            pieces.append(self.prefix)
        return pieces

    def _modifiers_that_fit(self) -> list[Phrase]:
        """Return the phrases before the noun, at most so many that the entity has :data:`LONGEST_SPAN`
        words if possible; place, size and change are moved behind the noun, in this order, until it fits."""
        fallbacks = {"place_before": False, "size_inside": False, "change_form": "post", "": None}
        for attribute, value in fallbacks.items():
            pieces = self.modifiers()
            words = sum(len(piece.text.split()) for piece in [*pieces, self.name])
            if self.place_before and self.place is not None:
                words += max(len(p.text.split()) for p in self.place.premodifiers[self.finding.side])
            if words <= LONGEST_SPAN or not attribute:
                break
            if attribute != "change_form" or self.change_form == "pre":
                setattr(self, attribute, value)
        return pieces

    def noun_phrase(self, determiner: str) -> None:
        """Write the noun phrase; ``determiner`` is "a" (for "a" or "an" where grammar asks for it),
        "the", or "" for none."""
        finding, builder = self.finding, self.builder
        pieces = self._modifiers_that_fit()
        place_phrase: Phrase | None = None
        if self.place is not None:
            if self.place_before:
                place_phrase = pick(self.place.premodifiers[finding.side], self.wording, Byte.EXTRA)
        elif finding.side:
            place_phrase = self.words.sides[finding.side]
        first_phrase = pieces[0] if pieces else place_phrase or self.name
        if determiner == "the":
            builder.word("the")
        elif determiner == "a" and (
            first_phrase.text.endswith(" of") or not (self.plural or self.number == "mass")
        ):
            builder.word(choose_article(first_phrase.text))
        phrases = [builder.phrase(piece, self.label) for piece in pieces]
        place_id = -1
        if place_phrase is not None:
            phrases.append(builder.phrase(place_phrase))
            place_id = phrases[-1][2]
        phrases.append(builder.phrase(self.name, self.label))
        start, (_, self.head, anatomy) = phrases[0][0], phrases[-1]
        for _, head, _ in phrases[: len(pieces)]:
            builder.relate(head, "modify", self.head)
        if place_id >= 0 and self.place is None and anatomy >= 0:
            builder.relate(place_id, "modify", anatomy)  # "left pleural effusion"
        elif place_id >= 0:
            builder.relate(self.head, "located_at", place_id)
        if self.subject >= 0:
            builder.relate(self.head, "located_at", self.subject)
        self.span = (start, builder.end)
        builder.entity(start, builder.end, self.rate)

    slot_np = partialmethod(noun_phrase, "a")
    slot_bare = partialmethod(noun_phrase, "")
    slot_the = partialmethod(noun_phrase, "the")

    def _write_agreeing(self, singular: str, many: str) -> None:
        """Write the form of a verb that agrees with the noun phrase or with the subject of the predicate."""
        self.builder.word(many if self.plural else singular)

    slot_be = partialmethod(_write_agreeing, "is", "are")
    slot_have = partialmethod(_write_agreeing, "has", "have")
    slot_remain = partialmethod(_write_agreeing, "remains", "remain")
    slot_appear = partialmethod(_write_agreeing, "appears", "appear")

    # --- attributes ---

    def _size_phrase(self) -> Phrase:
        """Return the size in words; most sizes of 10 mm or more, and all of devices, are in centimetres."""
        sizes = self.finding.size_mm or ()
        in_centimetres = min(sizes) >= 10 and get_byte(self.wording, Byte.SIZE) & 6 != 0
        return build_size_phrase(sizes, in_centimetres or self.concept.device)

    def _say_size(self) -> None:
        """Write the size as a modifier of the finding."""
        _, head, _ = self.builder.phrase(self._size_phrase(), self.label)
        self.builder.relate(head, "modify", self.head)

    def slot_size(self) -> None:
        """Write the size unless it is before the noun: " measuring 8 mm"."""
        if self.finding.size_mm and not self.size_inside and not self.concept.device:
            self.builder.word(pick(self.words.lists["measure"], self.wording, Byte.EXTRA))
            self._say_size()

    def _say_place(self) -> tuple[Span, int]:
        """Write the place; return its (start, end) and the id of its anatomy."""
        place, side, builder = self.place, self.finding.side, self.builder
        assert place is not None
        if place.article and side != "bilateral":
            builder.word("the")
        place_forms = place.shorts[side] if self.short and side in place.shorts else place.nouns[side]
        start, _, anatomy = builder.phrase(pick(place_forms, self.wording, Byte.EXTRA))
        builder.entity(start, builder.end, "Anatomy")
        return (start, builder.end), anatomy

    def _locate(self) -> None:
        """Write a preposition and the place, and remember the spatial relation for :meth:`finish`."""
        assert self.place is not None
        prepositions = self.place.prepositions
        if self.concept.device:  # The tip of a device is in the stomach, never of it.
            prepositions = tuple(word for word in prepositions if word != "of") or ("in",)
        indicator = self.builder.word(pick(prepositions, self.wording, Byte.LIST))
        landmark, anatomy = self._say_place()
        self.builder.relate(self.head, "located_at", anatomy)
        self.roles.append((indicator, landmark))

    def slot_loc(self) -> None:
        """Write the place unless it is before the noun: " in the right lower lobe"."""
        if self.place is not None and not self.place_before:
            self._locate()

    def slot_tip(self) -> None:
        """Write where the tip is (" with the tip in the SVC", " terminating 4 cm above the carina"), or the
        place of a finding without a tip; nothing if there is no place."""
        if self.place is None:
            return
        if not self.concept.tip:
            self._locate()
            return
        options = self.words.lists["tip"]["many" if self.plural else "one"]
        self.builder.word(pick(options, self.wording, Byte.CAUSE).strip())
        if self.finding.size_mm:
            self._say_size()
        self._locate()

    def slot_where(self) -> None:
        """Write the place as the subject of the sentence."""
        _, self.subject = self._say_place()

    def slot_show(self) -> None:
        """Write the verb ("shows") whose subject is the place."""
        assert self.place is not None
        number = "many" if self.place.plural or self.finding.side == "bilateral" else "one"
        self.builder.word(pick(self.words.lists["show"], self.wording, Byte.VERB)[number])

    def slot_change(self) -> None:
        """Write the change if it follows the finding: ", unchanged from prior"."""
        if self.finding.change and self.change_form == "post":
            self.builder.word(",")
            self._say_change("post" if self.state is None else "state")

    def slot_changed(self) -> None:
        """Write the change as the predicate: "has increased"."""
        self._say_change("verb")

    def _say_change(self, form: str) -> None:
        """Write the change in one of the forms "post", "state" and "verb" of ``grammar.yml``."""
        assert self.finding.change is not None
        table = self.words.change[form, form != "state" and self.concept.size is not None]
        self.run(pick(table[self.finding.change], self.wording, Byte.CHANGE))

    def slot_again(self) -> None:
        """Write the change before the noun phrase: "interval increase in the ..."."""
        assert self.finding.change is not None
        self.run(pick(self.words.again[self.finding.change], self.wording, Byte.CHANGE))

    def slot_cause(self) -> None:
        """Write the suggested diagnosis: ", suggestive of pneumonia"."""
        if self.finding.suggests is None:
            return
        builder = self.builder
        builder.word(",")
        concept = self.lexicon.concepts[self.finding.suggests]
        name = pick(concept.names, self.wording, Byte.SEVERITY)
        hedges = self.words.lists["cause" if name.number == "count" else "due"][self.style]
        self.hedge = builder.word(pick(hedges, self.wording, Byte.CAUSE))
        is_plural = self.plural and self.state is None and name.number == "count"
        phrases = [name.prefix] if name.prefix else []
        phrases.append(name.many if is_plural else name.one)
        if name.number == "count" and not is_plural:
            builder.word(choose_article(phrases[0].text))
        positions = [builder.phrase(phrase, "OBS-U") for phrase in phrases]
        start, head = positions[0][0], positions[-1][1]
        if name.prefix:
            builder.relate(positions[0][1], "modify", head)
        self.diagnosis = (start, builder.end)
        builder.entity(start, builder.end, "Disease" if concept.disease else "Abnormality")
        builder.relate(self.head, "suggestive_of", head)

    def say_looks(self) -> None:
        """Write the appearance as a sentence of its own, such as "It is spiculated"."""
        builder = self.builder
        builder.word("they are" if self.plural else "it is")
        for index, look in enumerate(self.finding.looks):
            if index:
                builder.word("and")
            start, head, _ = builder.phrase(self.lexicon.looks[look], self.label)
            builder.relate(head, "modify", self.head)
            builder.entity(start, builder.end, "Abnormality")

    # --- predicate ---

    def be_a_state(self, state: State) -> None:
        """Word the finding as a predicate by this state, in slots that are filled from now on."""
        self.state, self.plural = state, state.plural

    def slot_subject(self) -> None:
        """Write the structure that is the subject of the predicate."""
        assert self.state is not None
        subjects = self.state.subjects
        start, _, self.subject = self.builder.phrase(subjects.get(self.finding.side) or subjects[None])
        self.builder.entity(start, self.builder.end, "Anatomy")

    def slot_adjective(self) -> None:
        """Write the adjective of the predicate, with an adverb if the finding has a severity."""
        assert self.state is not None
        builder, finding, adjectives = self.builder, self.finding, self.state.adjectives
        start, adverb = -1, -1
        if finding.severity is not None and self.concept.scale:
            steps = self.words.scales[self.concept.scale, "adverbs"]
            start, adverb, _ = builder.phrase(
                pick(steps[finding.severity], self.wording, Byte.SEVERITY), self.label
            )
        begin, self.head, _ = builder.phrase(adjectives.get(finding.side) or adjectives[None], self.label)
        start = begin if start < 0 else start
        if adverb >= 0:
            builder.relate(adverb, "modify", self.head)
        builder.relate(self.head, "located_at", self.subject)
        self.span = (start, builder.end)
        builder.entity(start, builder.end, self.rate)

    def finish(self) -> None:
        """Add the spatial relations of the finding, with its diagnosis and hedge, once the clause is
        written."""
        for indicator, landmark in self.roles:
            self.builder.role(SpatialRelation(indicator, self.span, landmark, self.diagnosis, self.hedge))


# Clauses of denials.


#: The bytes that choose the names of the denied findings, in turn. A denial has no severity, size or change,
#: so that these bytes are free.
_NAME_BYTES = [which for which in Byte if which >= Byte.NAME]


class Denied(NamedTuple):
    """A denied finding: its name, whether the name is a plural, and its RaTE type."""

    name: Phrase
    plural: bool
    type: str


class DenialClause(Clause):
    """The clause of a list of denied findings.

    Attributes
    ----------
    items : the denied findings, in order.
    structure : the name of the structure, and whether it is a plural, if all findings belong to one
        structure; else None.
    """

    def __init__(self, builder: TextBuilder, style: Style, wording: int, denial: Denial) -> None:
        """Choose the names of the denied findings, by the bytes of ``wording``."""
        super().__init__(builder, style, wording, "OBS-DA")
        lexicon, words = self.lexicon, self.words
        self.items: list[Denied] = []
        mentioned: set[str] = set()
        for index, key in enumerate(denial.concepts):
            concept = lexicon.concepts[key]
            names = tuple(name for name in concept.denied if name[0].text not in mentioned) or concept.denied
            phrase, plural = pick(names, wording, _NAME_BYTES[index % len(_NAME_BYTES)])
            mentioned.add(phrase.text)
            self.items.append(Denied(phrase, plural, "Non-Disease" if concept.disease else "Non-Abnormality"))
        concepts = [lexicon.concepts[key] for key in denial.concepts]
        bodies = {words.bodies.get((c.region, c.system)) for c in concepts}
        self.structure = bodies.pop() if len(bodies) == 1 else None

    def write_list(self, conjunction: str) -> None:
        """Write the names of the denied findings as a list; half of the lists of three or more have a
        comma before the conjunction."""
        builder, last = self.builder, len(self.items) - 1
        comma = last > 1 and get_byte(self.wording, Byte.COMMA) & 1
        for index, item in enumerate(self.items):
            if index:
                if last > 1 and (index < last or comma):
                    builder.word(",")
                if index == last:
                    builder.word(conjunction)
            start, head, anatomy = builder.phrase(item.name, self.label)
            builder.entity(start, builder.end, item.type)
            if self.head >= 0 and anatomy < 0:
                builder.relate(head, "located_at", self.head)

    def slot_body(self) -> None:
        """Write the structure to which all of the denied findings belong."""
        assert self.structure is not None
        start, _, self.head = self.builder.phrase(self.structure[0])
        self.builder.entity(start, self.builder.end, "Anatomy")

    def slot_show_b(self) -> None:
        """Write the verb ("shows") whose subject is the structure."""
        assert self.structure is not None
        verb = pick(self.words.lists["show_normal"], self.wording, Byte.VERB)
        self.builder.word(verb["many" if self.structure[1] else "one"])

    slot_or = partialmethod(write_list, "or")
    slot_nor = partialmethod(write_list, "nor")
    slot_list = partialmethod(write_list, "and")

    def _write_be(self, plural: bool) -> None:
        """Write "are" for a plural subject, else "is"."""
        self.builder.word("are" if plural else "is")

    @property
    def _several(self) -> bool:
        """Whether the list takes a plural verb if "and" joins it: it has several items, or its item is a
        plural."""
        return len(self.items) > 1 or self.items[0].plural

    def slot_fbe(self) -> None:
        """Write "is" or "are", in agreement with the first of the list."""
        self._write_be(self.items[0].plural)

    def slot_nbe(self) -> None:
        """Write "is" or "are", in agreement with the last of the list, which is next to it."""
        self._write_be(self.items[-1].plural)

    def slot_lbe(self) -> None:
        """Write "is" or "are", in agreement with the whole list."""
        self._write_be(self._several)

    def slot_have_l(self) -> None:
        """Write "has" or "have", in agreement with the whole list."""
        self.builder.word("have" if self._several else "has")

    def slot_bbe(self) -> None:
        """Write "is" or "are", in agreement with the structure."""
        self._write_be(self.structure is not None and self.structure[1])
