"""The result of a submission, and its feedback page."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from jinja2 import Environment

from radeval_lib.labs.submissions import Sender

_PAGE = Path(__file__).with_name("feedback.html.j2")


@dataclass
class TaskMark:
    """The points of a task that tests mark, those possible, and what failing tests say to the student."""

    points: float
    possible: float
    messages: list[str] = field(default_factory=list)


@dataclass
class Grade:
    """What a submission got.

    Parameters
    ----------
    file : its path in the class's folder.
    student : the id that ran, where it is ``identified``; else one that is only written, or the file's name.
    lab : the name of the lab; empty where it is none.
    tasks : the marks of tasks that tests mark, by name.
    written : the points possible of tasks that the instructor marks.
    remarks : on its cells, for the student.
    notes : for the instructor.
    sender, time : as of :class:`radeval_lib.labs.submissions.Submission`.
    problem : why nothing was graded: it then has no marks, not 0.
    """

    file: str
    student: str
    lab: str = ""
    tasks: dict[str, TaskMark] = field(default_factory=dict)
    written: dict[str, float] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sender: Sender = field(default_factory=lambda: Sender("", ""))
    time: float = 0.0
    identified: bool = False
    problem: str = ""

    @property
    def points(self) -> float:
        """The points of all tasks that tests mark."""
        return float(sum(task.points for task in self.tasks.values()))

    @property
    def possible(self) -> float:
        """The points possible of these tasks."""
        return float(sum(task.possible for task in self.tasks.values()))

    def to_json(self) -> str:
        """The grade as a text of :meth:`from_json`."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Grade:
        """The grade of a text of :meth:`to_json`; a ValueError where it is cut off."""
        content = json.loads(text)
        content["tasks"] = {name: TaskMark(**mark) for name, mark in content["tasks"].items()}
        content["sender"] = Sender(*content["sender"])
        return cls(**content)


def page(grade: Grade) -> str:
    """The student's page, as HTML, on which all that a submission says is text."""
    return Environment(autoescape=True).from_string(_PAGE.read_text(encoding="utf-8")).render(grade=grade)


def page_names(grades: Sequence[Grade]) -> dict[str, Grade]:
    """The file name of each page: the student, the lab, and a number where two are called alike."""
    named: dict[str, Grade] = {}
    for grade in grades:
        base = "-".join(filter(None, (_safe(grade.student), _safe(grade.lab)))) or "unnamed"
        name, number = f"{base}.html", 1
        while name.lower() in map(str.lower, named):
            number += 1
            name = f"{base}-{number}.html"
        named[name] = grade
    return named


def _safe(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", text)[:60]
