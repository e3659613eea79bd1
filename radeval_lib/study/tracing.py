"""What one statement of a page rests on: the files and models that were read for the names that it uses.

A page reads more than any of its exhibits rests on. So each reading is noted with the statement of the
notebook that was running, and an exhibit names what was read by its own statement and by those, before it,
that gave the names that it uses their values, and so on back. Reads that no statement of a notebook made
count for all. Names that a statement may only have changed (a list that is appended to) stay as they were
too; what a function changes in its arguments is not seen, so functions of pages return what they make.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from radeval_lib import provenance
from radeval_lib.papers.exhibits import file_of, level_of
from radeval_lib.paths import display_path
from radeval_lib.provenance import RECORDED_SCORES, RELEASED, Reading
from radeval_lib.study import code
from radeval_lib.study.notebook_statements import Place, rests_on
from radeval_lib.study.runs import Run
from radeval_lib.study.verdicts import OURS

_PAPERS = "papers/"


@dataclass
class TracedReading(Reading):
    """What a page has read, and where in its notebook each file and model was.

    Attributes
    ----------
    places : names of files and roles of models, by the statement that read them; None: by no statement.
    """

    places: dict[Place | None, set[str]] = field(default_factory=dict)

    def note_file(self, source: str, path: Path, name: str = "") -> None:
        super().note_file(source, path, name)
        self._at(name or display_path(path))

    def note_model(self, role: str, name: str, digest: str, revision: str = "") -> None:
        super().note_model(role, name, digest, revision)
        self._at(role)

    def _at(self, name: str) -> None:
        self.places.setdefault(current_place(), set()).add(name)

    def reached(self) -> set[str] | None:
        if (here := current_place()) is None:
            return None
        found = set(self.places.get(None, ()))
        for statement in rests_on(_ran(), here):
            found.update(*(names for place, names in self.places.items() if statement.holds(place)))
        return found


def provenance_of(
    run: Run, exhibit_id: str, evidence: str, instrument: str, roles: Sequence[str] | None
) -> dict[str, Any]:
    """Return the provenance of an exhibit: of what its page has read, what it rests on.

    In a notebook that is, of papers, released numbers and models, what its own statements have read; of other
    data too, unless the page chose them by ``roles`` or the exhibit's statements have read none of those that
    its evidence needs. What its paper says of it is always kept.
    """
    key = exhibit_id.partition(".")[0]
    provenance.note_printed(key, file_of(key))  # which says what the exhibit is and why checks fail
    sources, models = _allowed(run, exhibit_id, evidence, instrument, roles)
    here = run.reading.reached()
    if here is None:
        return run.provenance(sources, models)
    papers = {name: files for name, files in run.reading.files.items() if name.startswith(_PAPERS)}
    if sources:  # other papers too, as far as the exhibit rests on them
        sources = (*sources, *papers)
    whole = run.provenance(sources, models)
    printed = set(run.reading.files.get(RELEASED, ())).union(*papers.values())
    kept = here | {display_path(file_of(key))}
    others = whole["data"].keys() - printed
    needs_data = level_of(evidence) == "data" and evidence != "synthetic"
    if roles is not None or (needs_data and not others & here):
        kept |= others
    whole["data"] = {name: digest for name, digest in whole["data"].items() if name in kept}
    whole["models"] = {role: model for role, model in whole["models"].items() if role in here}
    return whole


def _allowed(
    run: Run, exhibit_id: str, evidence: str, instrument: str, roles: Sequence[str] | None
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the sources of data and the roles of models on which an exhibit can rest, whatever its page has
    read; None: all. What the paper's instrument computes on printed or released numbers, no data and no
    model; an implementation, neither; what is generated, no data set and no released numbers."""
    own, made = f"{_PAPERS}{exhibit_id.partition('.')[0]}", run.reading.of_cells()
    if instrument != OURS:  # which may have read anything
        if evidence == "definition":
            return (), ()
        if evidence == "printed":
            return (own, *(roles or ())), ()
        if evidence == "released":
            return (own, RELEASED), ()
    if roles is not None:
        return (own, RELEASED, RECORDED_SCORES, *roles, *made), None
    return ((own, *made) if evidence in ("synthetic", "definition") else None), None


def current_place() -> Place | None:
    """Return the cell of the notebook that runs in this kernel, and the line in it; None outside of one."""
    if (shell := code.running_shell()) is None:
        return None
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals is shell.user_global_ns:
            return len(shell.history_manager.input_hist_parsed) - 1, frame.f_lineno
        frame = frame.f_back
    return None


def _ran() -> dict[int, str]:
    """Return the cells that ran in this kernel, by their number."""
    return dict(enumerate(code.running_shell().history_manager.input_hist_parsed))
