"""Words a plan as text, with gold annotations.

The bytes of a statement's ``wording`` decide its words, one byte for each choice
(:class:`radeval_lib.rules.generator.builder.Byte`), so that changing one attribute of a finding leaves the
other choices unchanged, and equal plans have equal texts.

Annotation rules
----------------
RaTE: an abnormality or disease is its noun phrase from the first modifier (change, number, severity, size,
appearance, a side or place before the noun) to the end of the name, without article and hedge; a place in a
prepositional phrase is Anatomy; a denied finding is Non-Abnormality or Non-Disease; a normal state is
Non-Abnormality, a negated one ("not clear") Abnormality; a device is Anatomy (all as in Zhao et al. 2024,
section 2.2 and appendix A.1). RadGraph: each content word is an entity that modifies its head; an
observation is located at its anatomy; hedged findings and suggested diagnoses are OBS-U, denied ones OBS-DA;
changes modify the observation. Spatial roles: wherever a preposition locates a finding or a device.
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

    The first statement opens a sentence even if its ``joined`` is true. The impression words findings in
    frames of its own.

    Raises
    ------
    SyntheticError
        If the style or the section is unknown, a statement denies nothing or has a key that the lexicon
        lacks, or a statement is joined that is neither a finding nor a denial.
    """
    check_choice(style, Style, "style", SyntheticError)
    check_choice(section, Section, "section", SyntheticError)
    _check_plan(plan)
    return _Speaker(style, section).say(plan)


def _check_plan(plan: Plan) -> None:
    """Raise :class:`SyntheticError` for a plan that cannot be worded: a key that the lexicon lacks, an
    empty denial, or a joined statement that is neither a finding nor a denial."""
    lexicon = load_lexicon()
    for at, statement in enumerate(plan):
        content, allowed = statement.content, lexicon.concepts.keys()
        if isinstance(content, PlannedFinding):
            keys = [content.concept, *([content.suggests] if content.suggests else [])]
        elif isinstance(content, Denial):
            keys = list(content.concepts)
        else:
            keys = [content.key]
            allowed = lexicon.normals.keys() if isinstance(content, Normal) else lexicon.remarks.keys()
        kind = type(content).__name__
        if not keys or (unknown := [key for key in keys if key not in allowed]):
            problem = f"{kind} has the unknown key {unknown[0]!r}" if keys else "a Denial has no concepts"
            raise SyntheticError(problem, f"plan, statement {at + 1}", "Use keys of the lexicon.")
        if at and statement.joined and not isinstance(content, PlannedFinding | Denial):
            remedy = "Join findings and denials only."
            raise SyntheticError(f"a {kind} is joined", f"plan, statement {at + 1}", remedy)


class _Speaker:
    """Words the statements of one section of a report."""

    def __init__(self, style: Style, section: Section) -> None:
        """Prepare an empty text in a style, for one section."""
        self.style, self.section, self.builder = style, section, TextBuilder()
        self.lexicon, self.words = load_lexicon(), load_words()

    def say(self, plan: Plan) -> AnnotatedText:
        """Return the text of a plan, worded sentence by sentence, with its annotations."""
        builder = self.builder
        position, size = 0, len(plan)
        while position < size:
            statement = plan[position]
            position += 1
            uids = [statement.uid]
            builder.open_sentence()
            is_alone = position == size or not plan[position].joined
            clause_with_looks = self._write_first(statement, is_alone)
            while position < size and plan[position].joined:
                self._write_joined(plan[position], statement.content)
                uids.append(plan[position].uid)
                position += 1
            builder.close_sentence(tuple(uids))
            if clause_with_looks is not None:
                builder.open_sentence()
                clause_with_looks.say_looks()
                builder.close_sentence((statement.uid,))
        return builder.build()

    def _write_first(self, statement: Statement, alone: bool) -> FindingClause | None:
        """Write the statement that opens a sentence; return its clause if the appearance of its finding needs
        a sentence of its own, else None.

        ``alone`` says whether no other statement is joined to it.
        """
        content, wording = statement.content, statement.wording
        if isinstance(content, PlannedFinding):
            return self._write_finding(content, wording, alone)
        if isinstance(content, Denial):
            self._write_denial(content, wording)
        elif isinstance(content, Normal):
            entry = self.lexicon.normals[content.key]
            wordings = entry.opposites if content.opposite else entry.wordings
            self.builder.phrase(pick(wordings[self.style], wording, Byte.FRAME))
        else:
            remark = self.lexicon.remarks[content.key].wordings[self.style]
            self.builder.phrase(pick(remark, wording, Byte.FRAME))
        return None

    # --- findings ---

    def _write_finding(self, finding: PlannedFinding, wording: int, alone: bool) -> FindingClause | None:
        """Write a finding as a sentence; return its clause if its appearance still has to be written,
        else None."""
        clause = FindingClause(self.builder, self.style, wording, finding)
        if finding.change:  # It comes before the noun in a quarter of all wordings.
            clause.change_form = "pre" if get_byte(wording, Byte.SINCE) & 3 == 0 else "post"
        state = self._choose_state(clause)
        if state is not None:
            clause.be_a_state(state)
            if finding.change:
                clause.change_form = "post"
            variant = "uncertain" if finding.certainty == "uncertain" else self.style
            frame = pick(self.words.frames("state", variant), wording, Byte.FRAME)
        else:
            frame = self._choose_frame(clause)
        clause.looks_later = clause.looks_later and alone
        clause.run(frame)
        clause.finish()
        return clause if clause.looks_later else None

    def _choose_state(self, clause: FindingClause) -> State | None:
        """Return the state by which the finding is worded as a predicate; None if it is worded by its
        name."""
        finding, concept = clause.finding, clause.concept
        if not concept.states or finding.many or finding.looks or finding.size_mm:
            return None
        if concept.names and get_byte(clause.wording, Byte.MODE) & 1:  # Half of them use their name.
            return None
        side = finding.side
        usable = [
            state
            for state in concept.states
            if state.place == finding.place
            and (side in state.subjects or (None in state.subjects and side in state.adjectives))
        ]
        return pick(usable, clause.wording, Byte.NAME) if usable else None

    def _choose_frame(self, clause: FindingClause) -> Frame:
        """Return a frame with slots for all attributes of the finding; set ``change_form``,
        ``looks_later`` and ``place_before`` of the clause accordingly."""
        finding, concept, words, style = clause.finding, clause.concept, self.words, self.style
        wording, mode = clause.wording, get_byte(clause.wording, Byte.MODE)
        needs = _CAUSE if finding.suggests else _EMPTY
        lacks = _EMPTY if finding.place else _WHERE
        if self.section == "impression":
            variant = "uncertain" if finding.certainty == "uncertain" else "plain"
            frames = words.frames(f"impression_{style}", variant, needs)
        elif finding.certainty == "uncertain":
            frames = words.frames("uncertain", style, needs)
        elif concept.device:
            frames = words.frames("device", style)
        elif finding.change and mode & 6 == 0:  # A quarter of changes are the verb of the sentence.
            frames = words.frames("changed", style, needs)
            clause.change_form = "verb"
        else:
            frames = words.frames("disease" if concept.disease else "finding", style, needs, lacks)
            # Half of appearances get a sentence of their own.
            clause.looks_later = bool(style == "encyclopaedic" and finding.looks and mode & 8)
        frame = pick(frames, wording, Byte.FRAME)
        if "where" in frame.slots:
            clause.place_before = False
        return frame

    # --- denials ---

    def _write_denial(self, denial: Denial, wording: int) -> None:
        """Write a denial as a sentence."""
        single = self.lexicon.concepts[denial.concepts[0]] if len(denial.concepts) == 1 else None
        states = [s for s in single.states if s.place is None and None in s.subjects] if single else []
        # A finding that can be denied both by its name and as a state is denied as a state in a quarter of
        # wordings.
        if states and single and (not single.denied or get_byte(wording, Byte.MODE) & 3 == 0):
            clause = FindingClause(self.builder, self.style, wording, PlannedFinding(denial.concepts[0]))
            clause.label = "OBS-DA"
            clause.rate = f"Non-{clause.rate}"
            clause.be_a_state(pick(states, wording, Byte.NAME))
            clause.run(pick(self.words.frames("state", "denied"), wording, Byte.FRAME))
            return
        denial_clause = DenialClause(self.builder, self.style, wording, denial)
        lacks = {"body"} if denial_clause.structure is None else set()
        if len(denial.concepts) != 2:
            lacks.add("nor")
        denial_clause.run(
            pick(self.words.frames("denial", self.style, _EMPTY, frozenset(lacks)), wording, Byte.FRAME)
        )

    # --- joined ---

    def _write_joined(self, statement: Statement, previous: Meaning) -> None:
        """Write a statement as the end of the sentence of the ``previous`` one."""
        content, wording = statement.content, statement.wording
        if isinstance(content, PlannedFinding):
            clause = FindingClause(self.builder, self.style, wording, content)
            clause.change_form = "pre" if content.change else ""
            clause.run(pick(self.words.frames("joined", "finding"), wording, Byte.FRAME))
            clause.slot_change()  # It is written here if it did not fit before the noun.
            clause.finish()
        else:
            assert isinstance(content, Denial)  # `_check_plan` refuses the other types.
            variant = "denial_after_normal" if isinstance(previous, Normal) else "denial_after_finding"
            denial_clause = DenialClause(self.builder, self.style, wording, content)
            denial_clause.run(pick(self.words.frames("joined", variant), wording, Byte.FRAME))
