"""Turns a plan into text with gold annotations.

The bytes of a statement's ``wording_seed`` decide its words, one byte for each choice
(:class:`radeval_lib.rules.generator.builder.Byte`), so changing one attribute of a finding leaves the
other choices unchanged, and equal plans have equal texts.

Annotation rules
----------------
RaTE: an abnormality or disease is its noun phrase from the first modifier (change, number, severity, size,
appearance, a side or place before the noun) to the end of the name, without article and hedge; a place in a
prepositional phrase is Anatomy; a denied finding is Non-Abnormality or Non-Disease; a normal state is
Non-Abnormality, a negated one ("not clear") Abnormality; a device is Anatomy (all as in Zhao et al. 2024,
section 2.2 and appendix A.1). RadGraph: each content word is an entity that modifies its head; an
observation is located at its anatomy; hedged findings and suggested diagnoses are OBS-U, denied ones OBS-DA;
changes modify the observation. Spatial roles are annotated wherever a preposition
locates a finding or a device.
"""

from __future__ import annotations

from typing import Literal

from radeval_lib.errors import check_choice
from radeval_lib.rules.generator.builder import Byte, Frame, TextBuilder, get_byte, load_words, pick
from radeval_lib.rules.generator.clauses import DenialClause, FindingClause
from radeval_lib.rules.generator.records import (
    AnnotatedText,
    Denial,
    Meaning,
    Normal,
    Plan,
    PlannedFinding,
    Statement,
    Style,
    SyntheticError,
)
from radeval_lib.rules.lexicon.entries import State
from radeval_lib.rules.lexicon.loading import load_lexicon

Section = Literal["findings", "impression"]
_EMPTY: frozenset[str] = frozenset()
_WHERE, _CAUSE = frozenset(["where"]), frozenset(["cause"])


def realize(plan: Plan, style: Style, section: Section = "findings") -> AnnotatedText:
    """Return the text of a plan with its annotations; equal arguments give equal texts.

    The first statement opens a sentence even if its ``joined`` is true. The impression uses separate
    templates for findings.

    Raises
    ------
    SyntheticError
        If the style or the section is unknown, a denial is empty, the lexicon lacks a finding, diagnosis,
        normal statement or remark, or a joined statement is neither a finding nor a denial.
    KeyError
        If the lexicon lacks the place of a finding, the place with this side, or a descriptor.
    """
    check_choice(style, Style, "style", SyntheticError)
    check_choice(section, Section, "section", SyntheticError)
    _check_plan(plan)
    return _SectionWriter(style, section).write(plan)


def _check_plan(plan: Plan) -> None:
    """Raise :class:`SyntheticError` if a plan has a finding, diagnosis, normal statement or remark that the
    lexicon lacks, an empty denial, or a joined statement that is neither a finding nor a denial."""
    lexicon = load_lexicon()
    for index, statement in enumerate(plan):
        content, allowed = statement.content, lexicon.concepts.keys()
        if isinstance(content, PlannedFinding):
            keys = [content.concept, *([content.diagnosis] if content.diagnosis else [])]
        elif isinstance(content, Denial):
            keys = list(content.concepts)
        else:
            keys = [content.key]
            allowed = lexicon.normals.keys() if isinstance(content, Normal) else lexicon.remarks.keys()
        kind = type(content).__name__
        if not keys or (unknown := [key for key in keys if key not in allowed]):
            problem = f"{kind} has the unknown key {unknown[0]!r}" if keys else "Denial has no concepts"
            raise SyntheticError(problem, f"plan, statement {index + 1}", "Use one or more lexicon keys.")
        if index and statement.joined and not isinstance(content, PlannedFinding | Denial):
            remedy = "Set it to False: only findings and denials can be joined."
            raise SyntheticError(f"{kind} has joined=True", f"plan, statement {index + 1}", remedy)


class _SectionWriter:
    """A writer of one section of a report."""

    def __init__(self, style: Style, section: Section) -> None:
        """Begin an empty section in a style."""
        self.style, self.section, self.builder = style, section, TextBuilder()
        self.lexicon, self.words = load_lexicon(), load_words()

    def write(self, plan: Plan) -> AnnotatedText:
        """Return the text of a plan with its annotations; it is written sentence by sentence."""
        builder = self.builder
        position, size = 0, len(plan)
        while position < size:
            statement = plan[position]
            position += 1
            uids = [statement.uid]
            builder.open_sentence()
            is_alone = position == size or not plan[position].joined
            clause_with_appearance = self._write_first(statement, is_alone)
            while position < size and plan[position].joined:
                self._write_joined(plan[position], statement.content)
                uids.append(plan[position].uid)
                position += 1
            builder.close_sentence(tuple(uids))
            if clause_with_appearance is not None:
                builder.open_sentence()
                clause_with_appearance.write_appearance()
                builder.close_sentence((statement.uid,))
        return builder.build()

    def _write_first(self, statement: Statement, alone: bool) -> FindingClause | None:
        """Write the statement that opens a sentence; return the clause if the finding's appearance needs a
        separate sentence, else None.

        ``alone`` says whether no other statement is joined to it.
        """
        content, wording_seed = statement.content, statement.wording_seed
        if isinstance(content, PlannedFinding):
            return self._write_finding(content, wording_seed, alone)
        if isinstance(content, Denial):
            self._write_denial(content, wording_seed)
        elif isinstance(content, Normal):
            entry = self.lexicon.normals[content.key]
            wordings = entry.opposites if content.opposite else entry.wordings
            self.builder.add_phrase(pick(wordings[self.style], wording_seed, Byte.FRAME))
        else:
            remark = self.lexicon.remarks[content.key].wordings[self.style]
            self.builder.add_phrase(pick(remark, wording_seed, Byte.FRAME))
        return None

    # --- findings ---

    def _write_finding(self, finding: PlannedFinding, wording_seed: int, alone: bool) -> FindingClause | None:
        """Write a finding as a sentence; return the clause if the finding's appearance needs a separate
        sentence, else None."""
        clause = FindingClause(self.builder, self.style, wording_seed, finding)
        if finding.change:  # A quarter of the wordings put it before the noun.
            clause.change_form = "pre" if get_byte(wording_seed, Byte.SINCE) & 3 == 0 else "post"
        state = self._choose_state(clause)
        if state is not None:
            clause.use_state(state)
            if finding.change:
                clause.change_form = "post"
            variant = "uncertain" if finding.certainty == "uncertain" else self.style
            frame = pick(self.words.find_frames("state", variant), wording_seed, Byte.FRAME)
        else:
            frame = self._choose_frame(clause)
        clause.descriptors_follow = clause.descriptors_follow and alone
        clause.write(frame)
        clause.finish()
        return clause if clause.descriptors_follow else None

    def _choose_state(self, clause: FindingClause) -> State | None:
        """Return the predicate that states the finding; None if its name is used."""
        finding, concept = clause.finding, clause.concept
        if not concept.states or finding.many or finding.descriptors or finding.size_mm:
            return None
        # Half of the wordings use the name.
        if concept.names and get_byte(clause.wording_seed, Byte.MODE) & 1:
            return None
        side = finding.side
        usable_states = [
            state
            for state in concept.states
            if state.place == finding.place
            and (side in state.subjects or (None in state.subjects and side in state.adjectives))
        ]
        return pick(usable_states, clause.wording_seed, Byte.NAME) if usable_states else None

    def _choose_frame(self, clause: FindingClause) -> Frame:
        """Return a frame with slots for all attributes of the finding; set ``change_form``,
        ``descriptors_follow`` and ``place_precedes`` of the clause accordingly."""
        finding, concept, words, style = clause.finding, clause.concept, self.words, self.style
        wording_seed, mode = clause.wording_seed, get_byte(clause.wording_seed, Byte.MODE)
        required = _CAUSE if finding.diagnosis else _EMPTY
        banned = _EMPTY if finding.place else _WHERE
        if self.section == "impression":
            variant = "uncertain" if finding.certainty == "uncertain" else "plain"
            frames = words.find_frames(f"impression_{style}", variant, required)
        elif finding.certainty == "uncertain":
            frames = words.find_frames("uncertain", style, required)
        elif concept.device:
            frames = words.find_frames("device", style)
        elif finding.change and mode & 6 == 0:  # A quarter of the changes are the verb.
            frames = words.find_frames("changed", style, required)
            clause.change_form = "verb"
        else:
            frames = words.find_frames("disease" if concept.disease else "finding", style, required, banned)
            # Half of the appearances become a separate sentence.
            clause.descriptors_follow = bool(style == "encyclopaedic" and finding.descriptors and mode & 8)
        frame = pick(frames, wording_seed, Byte.FRAME)
        if "where" in frame.slots:
            clause.place_precedes = False
        return frame

    # --- denials ---

    def _write_denial(self, denial: Denial, wording_seed: int) -> None:
        """Write a denial as a sentence."""
        concept = self.lexicon.concepts[denial.concepts[0]] if len(denial.concepts) == 1 else None
        states = [s for s in concept.states if s.place is None and None in s.subjects] if concept else []
        # If a finding can be denied both by its name and by a predicate, a quarter of the wordings use the
        # predicate.
        if states and concept and (not concept.denied or get_byte(wording_seed, Byte.MODE) & 3 == 0):
            clause = FindingClause(self.builder, self.style, wording_seed, PlannedFinding(denial.concepts[0]))
            clause.label = "OBS-DA"
            clause.rate_type = f"Non-{clause.rate_type}"
            clause.use_state(pick(states, wording_seed, Byte.NAME))
            clause.write(pick(self.words.find_frames("state", "denied"), wording_seed, Byte.FRAME))
            return
        denial_clause = DenialClause(self.builder, self.style, wording_seed, denial)
        banned = {"body"} if denial_clause.structure is None else set()
        if len(denial.concepts) != 2:
            banned.add("nor")
        frames = self.words.find_frames("denial", self.style, _EMPTY, frozenset(banned))
        denial_clause.write(pick(frames, wording_seed, Byte.FRAME))

    # --- joined ---

    def _write_joined(self, statement: Statement, previous: Meaning) -> None:
        """Append a statement to the sentence of the ``previous`` one."""
        content, wording_seed = statement.content, statement.wording_seed
        if isinstance(content, PlannedFinding):
            clause = FindingClause(self.builder, self.style, wording_seed, content)
            clause.change_form = "pre" if content.change else ""
            clause.write(pick(self.words.find_frames("joined", "finding"), wording_seed, Byte.FRAME))
            clause.slot_change()  # The change is written here if it did not fit before the noun.
            clause.finish()
        else:
            assert isinstance(content, Denial)  # `_check_plan` refuses the other types.
            variant = "denial_after_normal" if isinstance(previous, Normal) else "denial_after_finding"
            denial_clause = DenialClause(self.builder, self.style, wording_seed, content)
            denial_clause.write(pick(self.words.find_frames("joined", variant), wording_seed, Byte.FRAME))
