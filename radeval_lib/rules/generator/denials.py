"""Denials: how a list of denied findings fills the slots of a frame.

The frames are in ``lexicon/grammar.yml`` under ``denial`` and ``joined``; the method ``slot_x`` fills the
slot ``{x}`` of one (:class:`~radeval_lib.rules.generator.clauses.Clause`). Slots whose names end in ``be``
are forms of "to be", with the letter of what they agree with: ``fbe`` the first of the list ("there is no
..."), ``nbe`` the nearest, its last ("no ... or effusions are seen"), ``lbe`` the whole list ("a and b are
absent"), ``bbe`` the structure of the body ("the lungs are free of ...").
"""

from __future__ import annotations

from functools import partialmethod
from typing import NamedTuple

from radeval_lib.rules.generator.builder import TextBuilder
from radeval_lib.rules.generator.clauses import Clause
from radeval_lib.rules.generator.frames import Byte, byte, pick
from radeval_lib.rules.generator.records import Denial, Style
from radeval_lib.rules.lexicon.markup import Phrase

_NAME_BYTES = [which for which in Byte if which >= Byte.NAME]
"""What decides on the name of each denied finding, the first again behind the last: a denial has no
severity, size or change, for which the wording of a finding has these bytes."""


class Denied(NamedTuple):
    """A denied finding: its name, whether that is plural, and its RaTE type."""

    name: Phrase
    plural: bool
    type: str


class DenialClause(Clause):
    """A list of denied findings.

    Attributes
    ----------
    items : the denied findings, in order.
    structure : the name of the one structure to which all belong, and whether it is plural; else None.
    """

    def __init__(self, builder: TextBuilder, style: Style, wording: int, denial: Denial) -> None:
        super().__init__(builder, style, wording, "OBS-DA")
        lexicon, words = self.lexicon, self.words
        self.items: list[Denied] = []
        said: set[str] = set()
        for index, key in enumerate(denial.concepts):
            concept = lexicon.concepts[key]
            names = tuple(name for name in concept.denied if name[0].text not in said) or concept.denied
            phrase, plural = pick(names, wording, _NAME_BYTES[index % len(_NAME_BYTES)])
            said.add(phrase.text)
            self.items.append(Denied(phrase, plural, "Non-Disease" if concept.disease else "Non-Abnormality"))
        concepts = [lexicon.concepts[key] for key in denial.concepts]
        bodies = {words.bodies.get((c.region, c.system)) for c in concepts}
        self.structure = bodies.pop() if len(bodies) == 1 else None

    def listed(self, conjunction: str) -> None:
        """The denied names as a list; of three or more, half have a comma before the conjunction."""
        builder, last = self.builder, len(self.items) - 1
        comma = last > 1 and byte(self.wording, Byte.COMMA) & 1
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
        """The structure that all of the denied findings belong to."""
        assert self.structure is not None
        start, _, self.head = self.builder.phrase(self.structure[0])
        self.builder.entity(start, self.builder.end, "Anatomy")

    def slot_show_b(self) -> None:
        """The verb whose subject is the structure."""
        assert self.structure is not None
        verb = pick(self.words.lists["show_normal"], self.wording, Byte.VERB)
        self.builder.word(verb["many" if self.structure[1] else "one"])

    slot_or = partialmethod(listed, "or")
    slot_nor = partialmethod(listed, "nor")
    slot_list = partialmethod(listed, "and")

    def _be(self, plural: bool) -> None:
        self.builder.word("are" if plural else "is")

    @property
    def _several(self) -> bool:
        """Whether the list as a subject joined by "and" is plural."""
        return len(self.items) > 1 or self.items[0].plural

    def slot_fbe(self) -> None:
        """ "is" or "are", as the first of the list asks."""
        self._be(self.items[0].plural)

    def slot_nbe(self) -> None:
        """ "is" or "are", as the last of the list asks, which stands next to it."""
        self._be(self.items[-1].plural)

    def slot_lbe(self) -> None:
        """ "is" or "are", as the whole list asks."""
        self._be(self._several)

    def slot_have_l(self) -> None:
        """ "has" or "have", as the whole list asks."""
        self.builder.word("have" if self._several else "has")

    def slot_bbe(self) -> None:
        """ "is" or "are", as the structure asks."""
        self._be(self.structure is not None and self.structure[1])
