"""The ledger: every exhibit of the papers, and the one notebook that rebuilds each.

Source: ``exhibits`` in every ``data_manifests/papers/<paper>/paper.yml``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, ValidationError
from pydantic.dataclasses import dataclass

from radeval_lib import own_yaml
from radeval_lib.errors import LedgerError, PrintedError, RadevalError, complaint, meant
from radeval_lib.paths import PAPERS as _FOLDER
from radeval_lib.paths import display_path
from radeval_lib.registry import check_cited

IMPLEMENTABLE = ("worked_example", "definition", "guideline")
Level = Literal["printed", "released", "data", "implementation"]
"""What an exhibit may leave unchecked something on."""


_STRICT = ConfigDict(extra="forbid", hide_input_in_errors=True)


@dataclass(frozen=True, config=_STRICT)
class Implementation:
    """Where the library has what a paper defines: ``function`` (``package.module:name``, or several), and the
    ``test`` (``tests/….py::name``) that compares it with released code or with values computed by hand."""

    function: str | list[str]
    test: str

    @property
    def functions(self) -> list[str]:
        """The names of all functions."""
        return [self.function] if isinstance(self.function, str) else self.function


def file_of(paper: str) -> Path:
    """Return where a paper is described: its exhibits, printed numbers, prose and known discrepancies."""
    return _FOLDER / paper / "paper.yml"


@cache
def description(paper: str) -> dict[str, Any]:
    """Return the content of :func:`file_of`.

    Raises
    ------
    PrintedError
        If there is no such file.
    """
    if not (path := file_of(paper)).is_file():
        papers = ", ".join(sorted(file.parent.name for file in _FOLDER.glob("*/paper.yml")))
        raise PrintedError(
            f"no printed numbers for paper {paper!r}", display_path(path), f"Papers: {papers}."
        )
    return own_yaml.read(path)


KEYS = ("paper", "name", "order", "title", "venue", "year", "citation", "tables", "prose", "exhibits")
"""What the description of every paper has."""
OPTIONAL_KEYS = ("text", "texts", "discrepancies")


def check_keys(
    content: Mapping[str, Any],
    required: Collection[str],
    optional: Collection[str],
    where: str,
    error: type[RadevalError],
) -> None:
    """Refuse, as ``error``, a key that is in neither list, with the nearest, or a required one that lacks."""
    allowed = [*required, *optional]
    lacking = [key for key in required if key not in content]
    if unknown := [key for key in content if key not in allowed]:
        near = meant(unknown[0], lacking) or meant(unknown[0], allowed)
        raise error(f"unknown key {unknown[0]!r}", where, f"{near}Keys: {', '.join(allowed)}.")
    if lacking:
        raise error(f"no key {lacking[0]!r}", where, "Add it.")


def _names() -> dict[str, str]:
    """Return the name of each paper on pages, in their order; a LedgerError if a description lacks a key, has
    an unknown one, or cites what the bibliography does not have."""
    ordered = []
    for path in _FOLDER.glob("*/paper.yml"):
        content, where = description(path.parent.name), display_path(path)
        check_keys(content, KEYS, OPTIONAL_KEYS, where, LedgerError)
        check_cited(content["citation"], f"{where}, citation", LedgerError)
        ordered.append((content["order"], path.parent.name, content["name"]))
    return {key: name for _, key, name in sorted(ordered)}


PAPERS: dict[str, str] = _names()
"""What pages call each paper, by the name of its folder; in the order in which they list them."""


def level_of(evidence: str) -> Literal["printed", "released", "data"]:
    """Return the kind of evidence that the ledger and the discrepancies distinguish: ``printed``,
    ``released`` or, of any other evidence, ``data``."""
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
    remaining : what is left unchecked on ``printed``, on ``released`` numbers, on ``data``, and what of a
        definition the ``implementation`` leaves out.
    unchecked : the statements or settings that this is, one by one, to be counted; of a transcribed table the
        cells are counted instead.
    implemented : of a legible definition, guideline or worked example.
    """

    id: str
    paper: str
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
        if not self.id.startswith(f"{self.paper}."):
            raise ValueError(f"the id does not begin with {self.paper!r}")
        if self.implemented and (self.kind not in IMPLEMENTABLE or self.legible == "no"):
            raise ValueError(f"`implemented` is for what is legible of {', '.join(IMPLEMENTABLE)}")

    def remaining_on(self, evidence: str) -> str:
        """Return the parts that the page leaves unchecked on this evidence; empty if nothing."""
        return self.remaining.get(level_of(evidence), "")

    def unchecked_on(self, evidence: str) -> int:
        """Return how many statements or settings of the exhibit no check of this evidence meets."""
        return len(self.unchecked.get(level_of(evidence), []))

    @property
    def would_need(self) -> str:
        """What rebuilding it takes beyond this repository, as a list in words."""
        here = ("published_numbers", "synthetic_ok")
        outside = [need.replace("_", " ") for need in self.needs if need not in here]
        return ", ".join(outside) or "the authors' own results"

    @property
    def why_not_checked(self) -> str:
        """Why a build may lack the exhibit, in words to follow a colon."""
        unseen = "not legible in our copy; " if self.legible == "no" else ""
        return f"{unseen}would need {self.would_need}"

    @property
    def heading(self) -> str:
        """What sentences call the exhibit: its number, or, if it has none, its place and our title."""
        if self.label.startswith(("Table ", "Figure ", "Equation ")):
            return self.label
        return f"{self.label.removeprefix('unnumbered, ').removeprefix('unnumbered list, ')}: {self.title}"

    @property
    def anchor(self) -> str:
        """Name of the exhibit's target on its page."""
        return self.id.replace(".", "-").replace("_", "-")


def _read(paper: str, rows: Sequence[Any]) -> dict[str, Exhibit]:
    exhibits: dict[str, Exhibit] = {}
    for number, row in enumerate(rows, start=1):
        where = f"{display_path(file_of(paper))}, exhibit {number}"
        if not isinstance(row, dict):
            raise LedgerError("not a mapping", where)
        where += f" ({row.get('id', 'no id')})"
        try:
            exhibit = Exhibit(**{**row, "paper": paper})
        except ValidationError as error:
            names = [name for name in Exhibit.__dataclass_fields__ if name != "paper"]
            raise LedgerError(complaint(error, names), where) from None
        if exhibit.id in exhibits:
            raise LedgerError("this id is there twice", where, "Give each exhibit an id of its own.")
        exhibits[exhibit.id] = exhibit
    return exhibits


@cache
def ledger() -> dict[str, Exhibit]:
    """Return every exhibit by id, in the ledger's order."""
    every = [_read(paper, description(paper).get("exhibits") or []) for paper in PAPERS]
    return {key: entry for of_paper in every for key, entry in of_paper.items()}


def exhibit(exhibit_id: str) -> Exhibit:
    """Return the exhibit of that id.

    Raises
    ------
    LedgerError
        If the ledger has no such exhibit.
    """
    if exhibit_id not in ledger():
        near = get_close_matches(exhibit_id, ledger(), n=3)
        hint = f"Near it: {', '.join(near)}; " if near else ""
        where = display_path(file_of(exhibit_id.partition(".")[0]))
        raise LedgerError(f"unknown exhibit {exhibit_id!r}", where, f"{hint}`radbook exhibits` lists all.")
    return ledger()[exhibit_id]


def of_notebook(notebook: str) -> list[Exhibit]:
    """Return the exhibits that ``notebook`` (``<folder>/<name>``) rebuilds, in the ledger's order."""
    return [entry for entry in ledger().values() if entry.notebook == notebook]
