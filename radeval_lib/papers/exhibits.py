"""The ledger: all exhibits of the papers, each with the notebook that rebuilds it.

The source is ``exhibits`` in each ``data_manifests/papers/<paper>/paper.yml``.
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
from radeval_lib.errors import LedgerError, describe, did_you_mean

# Parts of an exhibit that may be left unchecked: printed numbers, released numbers, numbers that need data,
# or parts of the implementation.
Level = Literal["printed", "released", "data", "implementation"]

_STRICT = ConfigDict(extra="forbid", hide_input_in_errors=True)


@dataclass(frozen=True, config=_STRICT)
class Implementation:
    """The library's implementation of a paper's definition.

    ``functions`` are written as ``package.module:name``; ``test``, written as ``tests/….py::name``, compares
    them with released code or hand-computed values.
    """

    functions: list[str]
    test: str


def find_file(paper: str) -> Path:
    """Return the path of a paper's ``paper.yml``, which lists exhibits, tables, quotations and discrepancies.

    ``paper`` is the name of the paper's folder; the file need not exist.
    """
    return paths.PAPERS / paper / "paper.yml"


def find_level(evidence: str) -> Literal["printed", "released", "data"]:
    """Return the key under which the ledger lists what this kind of evidence leaves unchecked.

    The key is ``printed`` or ``released`` for these two kinds, and ``data`` for all others.
    """
    return "printed" if evidence == "printed" else "released" if evidence == "released" else "data"


@dataclass(frozen=True, config=_STRICT)
class Exhibit:
    """One table, figure, worked example, definition, guideline or headline claim of a paper.

    Attributes
    ----------
    id : ``<paper>.<name>``.
    label : the exhibit's number or place in the paper, such as ``Table 1`` or ``Sec 5``.
    title : this study's short description of the exhibit.
    kind : the kind of content, whatever the paper calls it: a figure with instructions is a ``guideline``.
    legible : whether this study's text copy of the paper shows the exhibit's content.
    needs : requirements for rebuilding the exhibit. ``published_numbers`` means that printed numbers suffice
        for checks, ``synthetic_ok`` that the computation can be run on generated text (without the printed
        values as its result); the others are data sets, models or people.
    from_print : whether the printed numbers determine the exhibit: ``yes``, ``partly`` or ``no``, and why.
    notebook : path of the exhibit's notebook below ``notebooks/``, without suffix.
    remaining : description of the parts left unchecked, by the kind of numbers that their checks would need,
        and of the parts that the ``implementation`` of a definition leaves out.
    unchecked : the same parts as single statements or settings, to be counted; in a transcribed table, the
        cells are counted instead.
    implemented : the library's implementation of a legible definition, guideline or worked example, or None.
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
            raise ValueError("`implemented` needs a legible worked example, definition or guideline")

    @property
    def paper(self) -> str:
        """The name of the paper's folder: the part of the exhibit's id before the first dot."""
        return self.id.partition(".")[0]

    def remaining_on(self, evidence: str) -> str:
        """Return the description of the parts that this kind of evidence leaves unchecked; empty if none."""
        return self.remaining.get(find_level(evidence), "")

    def unchecked_on(self, evidence: str) -> int:
        """Return the number of statements or settings that no check with this kind of evidence covers."""
        return len(self.unchecked.get(find_level(evidence), []))

    @property
    def would_need(self) -> str:
        """The requirements, comma-separated, that this repository lacks for rebuilding the exhibit."""
        met = ("published_numbers", "synthetic_ok")
        unmet = [need.replace("_", " ") for need in self.needs if need not in met]
        return ", ".join(unmet) or "the authors' own results"

    @property
    def heading(self) -> str:
        """The exhibit's name for use in sentences: its number or, if it has none, its place and title."""
        if self.label.startswith(("Table ", "Figure ", "Equation ")):
            return self.label
        return f"{self.label.removeprefix('unnumbered, ').removeprefix('unnumbered list, ')}: {self.title}"

    @property
    def anchor(self) -> str:
        """The name of the exhibit's link target on its page: its id with hyphens only."""
        return self.id.replace(".", "-").replace("_", "-")


class Table(TypedDict):
    """The transcription of a printed table, as ``paper.yml`` describes it.

    Attributes
    ----------
    file : name of the CSV file in the paper's folder.
    keys : a mapping from key column, which is any column of the CSV file but ``printed``, to its description.
    unit : unit of the numbers, in words.
    not_legible : what our text copy of the paper does not show; empty if nothing.
    notes : remarks on the transcription; may be empty.
    columns : key columns whose values are the column headings of the printed table; by default, the last key
        column; empty if each printed row has only one number.
    digits_between : whether labels with digits stand between the numbers in the text copy.
    garbled : numbers that the text copy garbles, so that no test looks for them beside their neighbours.
    source : ``repository``, ``path`` and ``commit`` of the file from which the numbers are transcribed, if
        the paper does not print them.
    readings : a mapping from the row of a garbled cell to the numbers that the cell may show.
    """

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
    """A quotation from a paper, its place, and ``values``, a mapping from name to printed number in it."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]
    where: str
    quote: str
    values: NotRequired[dict[str, str]]


class Paper(TypedDict):
    """The content of a ``paper.yml``.

    Attributes
    ----------
    paper : name of the paper's folder.
    name : the paper's name on pages.
    order : the paper's place among all papers, by which pages are sorted.
    title, venue, year : those of the publication.
    citation : the paper's key in the bibliography.
    tables, prose : mappings from exhibit id to the transcription of its table, and to quotations on it.
    exhibits : the paper's part of the ledger.
    text : file name of our text copy of the paper.
    texts : a mapping from name to printed texts that are used as data: ``file``, ``columns`` and ``notes``.
    discrepancies : a mapping from name to a discrepancy's ``kind``, ``severity``, ``explanation`` and
        ``checks``.
    """

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
def load_paper(paper: str) -> Paper:
    """Return the content of a paper's ``paper.yml``, cached.

    Raises
    ------
    LedgerError
        If there is no such paper, or its file has an unknown, missing or malformed key, or a ``citation``
        that is not in the bibliography.
    yaml.YAMLError
        If the file is not YAML.
    """
    where = paths.display_path(find_file(paper))
    if not find_file(paper).is_file():
        raise LedgerError(f"unknown paper {paper!r}", where, "Name a folder in data_manifests/papers/.")
    try:
        content = TypeAdapter(Paper).validate_python(own_yaml.read(find_file(paper)))
    except ValidationError as error:
        problem = describe(error, Paper.__annotations__)
        raise LedgerError(problem, where, "Add, correct or remove this key.") from None
    if f"{{{content['citation']}," not in paths.BIBLIOGRAPHY.read_text(encoding="utf-8"):
        remedy = f"Name an entry of {paths.display_path(paths.BIBLIOGRAPHY)}, or add one."
        raise LedgerError(f"unknown citation key {content['citation']!r}", f"{where}, citation", remedy)
    return content


_DESCRIPTIONS = (load_paper(path.parent.name) for path in paths.PAPERS.glob("*/paper.yml"))
# A mapping from each paper's folder to the name that pages show, in the order of the pages.
PAPERS = {content["paper"]: content["name"] for content in sorted(_DESCRIPTIONS, key=itemgetter("order"))}


@cache
def ledger() -> dict[str, Exhibit]:
    """Return a mapping from id to exhibit, paper by paper and in the order of each ``paper.yml``; cached."""
    return {entry.id: entry for paper in PAPERS for entry in load_paper(paper)["exhibits"]}


def exhibit(exhibit_id: str) -> Exhibit:
    """Return the exhibit that has the id ``exhibit_id``.

    Raises
    ------
    LedgerError
        If the ledger has no such exhibit.
    """
    if exhibit_id not in ledger():
        remedy = f"{did_you_mean(exhibit_id, ledger())}Run `radbook exhibits` to list all exhibits."
        raise LedgerError(f"unknown exhibit {exhibit_id!r}", remedy=remedy)
    return ledger()[exhibit_id]


def list_notebook_exhibits(notebook: str) -> list[Exhibit]:
    """Return the exhibits that ``notebook`` (``<folder>/<name>``) rebuilds, in the ledger's order."""
    return [entry for entry in ledger().values() if entry.notebook == notebook]
