"""What one statement of a page rests on: the files and models that were read for the names that it uses.

A page reads more than any of its exhibits rests on. So each reading is noted with the statement of the
notebook that was running, and an exhibit names what was read by its own statement and by those, before it,
that gave the names that it uses their values, and so on back. Reads that no statement of a notebook made
count for all. Names that a statement may only have changed (a list that is appended to) stay as they were
too; what a function changes in its arguments is not seen, so functions of pages return what they make.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from radeval_lib.origin import Reading
from radeval_lib.paths import display_path
from radeval_lib.study import code
from radeval_lib.study.notebook_statements import Place, rests_on


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


def current_place() -> Place | None:
    """The cell of the notebook that runs in this kernel, and the line in it; None outside of one."""
    if (shell := code.kernel_shell()) is None:
        return None
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals is shell.user_global_ns:
            return len(shell.history_manager.input_hist_parsed) - 1, frame.f_lineno
        frame = frame.f_back
    return None


def _ran() -> dict[int, str]:
    """The cells that ran in this kernel, by their number."""
    return dict(enumerate(code.kernel_shell().history_manager.input_hist_parsed))
