"""The ledger: every exhibit of the five papers, and the one notebook that rebuilds each.

Source: ``data_manifests/exhibits.yml``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from radeval_lib import own_yaml
from radeval_lib.errors import LedgerError
from radeval_lib.paths import LEDGER, display_path

PAPERS: dict[str, str] = dict(own_yaml.read(LEDGER)["papers"])
"""What pages call each paper, by its key in the ledger."""
KINDS = ("table", "figure", "worked_example", "definition", "claim", "guideline")
IMPLEMENTABLE = ("worked_example", "definition", "guideline")


@dataclass(frozen=True)
class Implementation:
    """Where the library has what a paper defines: ``function`` (``package.module:name``, or several), and the
    ``test`` (``tests/….py::name``) that compares it with released code or with values computed by hand."""

    function: str | list[str]
    test: str

    @property
    def functions(self) -> list[str]:
        """The names of all functions."""
        return [self.function] if isinstance(self.function, str) else self.function


def level_of(evidence: str) -> str:
    """What the ledger and the papers' discrepancies distinguish: ``print``, ``released`` or ``data``."""
    return evidence if evidence in ("print", "released") else "data"


@dataclass(frozen=True)
class Exhibit:
    """One table, figure, worked example, definition, guideline or headline claim of a paper."""

    id: str
    paper: str
    label: str
    title: str
    kind: str
    legible: str
    needs: tuple[str, ...]
    from_print: str
    notebook: str
    remaining: Mapping[str, str] = field(default_factory=dict)
    unchecked: Mapping[str, Sequence[str]] = field(default_factory=dict)
    implemented: Implementation | None = None

    def remaining_on(self, evidence: str) -> str:
        """What the page leaves unchecked on this evidence; empty if nothing."""
        return self.remaining.get(level_of(evidence), "")

    def unchecked_on(self, evidence: str) -> int:
        """How many statements or settings of the exhibit no check of this evidence meets."""
        return len(self.unchecked.get(level_of(evidence), ()))

    @property
    def would_need(self) -> str:
        """What rebuilding it takes beyond this repository, as a list in words."""
        here = ("published_numbers", "synthetic_ok")
        outside = [need.replace("_", " ") for need in self.needs if need not in here]
        return ", ".join(outside) or "the authors' own results"

    @property
    def why_not_rebuilt(self) -> str:
        """Why a build may lack the exhibit, as it stands behind a colon."""
        unseen = "not legible in our copy; " if self.legible == "no" else ""
        return f"{unseen}would need {self.would_need}"

    @property
    def heading(self) -> str:
        """What sentences call the exhibit: its number, or, where it has none, its place and our title."""
        if self.label.startswith(("Table ", "Figure ", "Equation ")):
            return self.label
        return f"{self.label.removeprefix('unnumbered, ').removeprefix('unnumbered list, ')}: {self.title}"

    @property
    def anchor(self) -> str:
        """Name of the exhibit's target on its page."""
        return self.id.replace(".", "-").replace("_", "-")


def _read(path: Path) -> dict[str, Exhibit]:
    content = own_yaml.read(path)
    exhibits: dict[str, Exhibit] = {}
    for number, row in enumerate(content["exhibits"], start=1):
        where = f"{display_path(path)}, exhibit {number} ({row.get('id', 'no id')})"
        try:
            made = Implementation(**row["implemented"]) if "implemented" in row else None
            exhibit = Exhibit(**{**row, "needs": tuple(row["needs"]), "implemented": made})
        except (TypeError, KeyError) as error:
            raise LedgerError(f"wrong or missing key: {error}", where) from None
        if exhibit.id in exhibits:
            raise LedgerError("this id stands twice", where, "Give each exhibit an id of its own.")
        if exhibit.paper not in PAPERS or not exhibit.id.startswith(exhibit.paper + "."):
            raise LedgerError(f"unknown paper {exhibit.paper!r}", where, f"Papers: {', '.join(PAPERS)}.")
        if exhibit.kind not in KINDS:
            raise LedgerError(f"unknown kind {exhibit.kind!r}", where, f"Kinds: {', '.join(KINDS)}.")
        if made and (exhibit.kind not in IMPLEMENTABLE or exhibit.legible == "no"):
            raise LedgerError(
                "a table, figure or claim is not implemented, nor what our copy lacks",
                where,
                f"Give `implemented` to legible kinds: {', '.join(IMPLEMENTABLE)}.",
            )
        exhibits[exhibit.id] = exhibit
    return exhibits


@lru_cache(maxsize=1)
def ledger() -> dict[str, Exhibit]:
    """Every exhibit by id, in the ledger's order."""
    return _read(LEDGER)


def exhibit(exhibit_id: str) -> Exhibit:
    """The exhibit of that id.

    Raises
    ------
    LedgerError
        Where the ledger has no such exhibit.
    """
    found = ledger().get(exhibit_id)
    if found is None:
        near = get_close_matches(exhibit_id, ledger(), n=3)
        hint = f"Near it: {', '.join(near)}; " if near else ""
        raise LedgerError(
            f"unknown exhibit {exhibit_id!r}", display_path(LEDGER), f"{hint}`radbook exhibits` lists all."
        )
    return found


def of_notebook(notebook: str) -> list[Exhibit]:
    """The exhibits that ``notebook`` (``<folder>/<name>``) rebuilds, in the ledger's order."""
    return [entry for entry in ledger().values() if entry.notebook == notebook]
