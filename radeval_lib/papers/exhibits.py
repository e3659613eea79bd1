"""The ledger: every exhibit of the papers, and the one notebook that rebuilds each.

Source: ``exhibits`` in every ``data_manifests/papers/<paper>/paper.yml``.
"""

from __future__ import annotations

from dataclasses import field
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, NotRequired

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass
from typing_extensions import TypedDict

from radeval_lib import own_yaml, paths
from radeval_lib.errors import LedgerError, complaint, did_you_mean

Level = Literal["printed", "released", "data", "implementation"]
"""What may be left unchecked of an exhibit: numbers of its kind, or parts of its implementation."""


_STRICT = ConfigDict(extra="forbid", hide_input_in_errors=True)


@dataclass(frozen=True, config=_STRICT)
class Implementation:
    """Where the library implements a paper's definition: ``functions``, each as ``package.module:name``, and
    the ``test`` (``tests/….py::name``) that compares them with released code or hand-computed values."""

    functions: list[str]
    test: str


def file_of(paper: str) -> Path:
    """Return the file that describes a paper: exhibits, printed numbers, prose and known discrepancies."""
    return paths.PAPERS / paper / "paper.yml"


def level_of(evidence: str) -> Literal["printed", "released", "data"]:
    """Return the kind of evidence in the ledger's terms: ``printed``, ``released``, or ``data`` for anything
    else."""
    return "printed" if evidence == "printed" else "released" if evidence == "released" else "data"


@dataclass(frozen=True, config=_STRICT)
class Exhibit:
    """One table, figure, worked example, definition, guideline or headline claim of a paper.

    Attributes
    ----------
    id : ``<paper>.<name>``.
    kind : a printed table or figure that is really an example or an instruction sheet
        has that kind, and its label says what the paper calls it.
    legible : whether our text copy of the paper shows its content.
    needs : what rebuilding it takes. ``published_numbers``: the printed numbers alone allow checking it;
        ``synthetic_ok``: the computation can be exercised on made-up text, which does not return the printed
        values; the rest are data sets, models or people.
    from_print : ``yes``, ``partly`` or ``no``, and how: whether the printed numbers alone determine it.
    notebook : path below ``notebooks/`` without the ending.
    remaining : a description of the parts left unchecked, by the kind of numbers that a check would need, and
        of the parts that the ``implementation`` of a definition leaves out.
    unchecked : the same as single statements or settings, to be counted; for a transcribed table, its cells
        are counted instead.
    implemented : only for a legible definition, guideline or worked example.
    """

    id: str
    label: str
    title: str
    kind: Literal["table", "figure", "worked_example", "definition", "claim", "guideline"]
    legible: Literal["full", "partial", "no"]
    needs: tuple[str, ...]
    from_print: str
    notebook: str
    remaining: dict[Level, str] = field(default_factory=dict)
    unchecked: dict[Level, list[str]] = field(default_factory=dict)
    implemented: Implementation | None = None

    def __post_init__(self) -> None:
        implementable = self.kind in ("worked_example", "definition", "guideline") and self.legible != "no"
        if self.implemented and not implementable:
            raise ValueError("`implemented` is for a legible worked example, definition or guideline")

    @property
    def paper(self) -> str:
        """The folder of its paper."""
        return self.id.partition(".")[0]

    def remaining_on(self, evidence: str) -> str:
        """Return the parts left unchecked with this kind of evidence, in words; empty if there are none."""
        return self.remaining.get(level_of(evidence), "")

    def unchecked_on(self, evidence: str) -> int:
        """Return the number of statements or settings that no check with this kind of evidence covers."""
        return len(self.unchecked.get(level_of(evidence), []))

    @property
    def would_need(self) -> str:
        """A list in words of what rebuilding it needs beyond this repository."""
        here = ("published_numbers", "synthetic_ok")
        outside = [need.replace("_", " ") for need in self.needs if need not in here]
        return ", ".join(outside) or "the authors' own results"

    @property
    def heading(self) -> str:
        """The exhibit's name in sentences: its number or, without one, its place and our title."""
        if self.label.startswith(("Table ", "Figure ", "Equation ")):
            return self.label
        return f"{self.label.removeprefix('unnumbered, ').removeprefix('unnumbered list, ')}: {self.title}"

    @property
    def anchor(self) -> str:
        """Name of the exhibit's target on its page."""
        return self.id.replace(".", "-").replace("_", "-")


class Table(TypedDict):
    """The transcription of a printed table; docs/notebooks.md explains each key."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]
    file: str
    keys: dict[str, str]
    unit: str
    not_legible: str
    notes: str
    columns: NotRequired[list[str]]
    digits_between: NotRequired[bool]
    garbled: NotRequired[list[str]]
    source: NotRequired[dict[str, str]]
    readings: NotRequired[dict[str, list[str]]]


class Quote(TypedDict):
    """A quotation, its place, and the digits in it by name."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]
    where: str
    quote: str
    values: NotRequired[dict[str, str]]


class Paper(TypedDict):
    """The content of ``paper.yml``; ``prose`` and ``tables`` are by exhibit."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]
    paper: str
    name: str
    order: int
    title: str
    venue: str
    year: int
    citation: str
    tables: dict[str, Table]
    prose: dict[str, list[Quote]]
    exhibits: list[Exhibit]
    text: NotRequired[str]
    texts: NotRequired[dict[str, Any]]
    discrepancies: NotRequired[dict[str, Any]]


@cache
def description(paper: str) -> Paper:
    """Return the content of :func:`file_of`.

    Raises
    ------
    LedgerError
        If there is no such paper, or its file is malformed or cites something outside the bibliography.
    """
    where = paths.display_path(file_of(paper))
    if not file_of(paper).is_file():
        raise LedgerError(f"unknown paper {paper!r}", where, "Name the folder of a paper.")
    try:
        content = TypeAdapter(Paper).validate_python(own_yaml.read(file_of(paper)))
    except ValidationError as error:
        problem = complaint(error, Paper.__annotations__)
        raise LedgerError(problem, where, "Correct this key, or remove it.") from None
    if f"{{{content['citation']}," not in paths.REFERENCES.read_text(encoding="utf-8"):
        remedy = f"Cite an entry of {paths.display_path(paths.REFERENCES)}, or add one."
        raise LedgerError(f"no source {content['citation']!r}", f"{where}, citation", remedy)
    return content


_DESCRIBED = (description(path.parent.name) for path in paths.PAPERS.glob("*/paper.yml"))
PAPERS = {content["paper"]: content["name"] for content in sorted(_DESCRIBED, key=itemgetter("order"))}
"""The name of each paper on pages, by its folder, in the order in which pages list them."""


@cache
def ledger() -> dict[str, Exhibit]:
    """Return every exhibit by id, in the ledger's order."""
    return {entry.id: entry for paper in PAPERS for entry in description(paper)["exhibits"]}


def exhibit(exhibit_id: str) -> Exhibit:
    """Return the exhibit with that id.

    Raises
    ------
    LedgerError
        If the ledger has no such exhibit.
    """
    if exhibit_id not in ledger():
        near = did_you_mean(exhibit_id, ledger())
        raise LedgerError(f"unknown exhibit {exhibit_id!r}", remedy=f"{near}List all: `radbook exhibits`.")
    return ledger()[exhibit_id]


def of_notebook(notebook: str) -> list[Exhibit]:
    """Return the exhibits that ``notebook`` (``<folder>/<name>``) rebuilds, in the ledger's order."""
    return [entry for entry in ledger().values() if entry.notebook == notebook]
