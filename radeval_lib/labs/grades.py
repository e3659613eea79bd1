"""The result of a submission, and its feedback page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from jinja2 import Environment

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{{ grade.lab }}: {{ grade.student }}</title>
<style>
body{font:1rem/1.5 system-ui,sans-serif;max-width:45rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #ccc;vertical-align:top}
td{overflow-wrap:anywhere}
</style>
<h1>{{ grade.lab or "A file that is no lab" }}</h1>
<p>{{ grade.student }} ({{ grade.file }}): <strong>{% if grade.problem %}not graded{% else
%}{{ "%g"|format(grade.points|round(2)) }} of {{ "%g"|format(grade.possible) }} points{% endif %}</strong>
{%- if grade.written %}, without the written answers, which your instructor marks{% endif %}.</p>
<table><tr><th>Task<th>Points<th>Remarks</tr>
{% for name, task in grade.tasks.items() %}<tr><td>{{ name }}<td>
{%- if not grade.problem %}{{ "%g"|format(task.points|round(2)) }} {% endif %}of
{{ "%g"|format(task.of) }}<td>{% for message in task.messages %}<div>{{ message }}</div>{% endfor %}</tr>
{% endfor %}{% for name, points in grade.written.items() %}<tr><td>{{ name }}<td>of {{ "%g"|format(points) }}
<td>written</tr>
{% endfor %}</table>
{% for title, lines in (("Notes", grade.notes), ("Remarks on your cells", grade.remarks)) if lines %}
<h2>{{ title }}</h2><ul>{% for line in lines %}<li>{{ line }}{% endfor %}</ul>
{% endfor %}</html>
"""


@dataclass
class Grade:
    """What a submission got.

    ``points``, ``of`` and ``messages`` of each task that tests mark; the points of those that the instructor
    marks (``written``); remarks on cells; ``notes`` for the instructor. ``identified`` says whether
    ``student`` is what ran as the id, ``problem`` why nothing was graded: it then has no marks, not 0.
    """

    file: str
    student: str
    lab: str = ""
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    written: dict[str, float] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sender: list[str] = field(default_factory=lambda: ["", ""])
    time: float = 0.0
    identified: bool = False
    problem: str = ""

    @property
    def points(self) -> float:
        return float(sum(task["points"] for task in self.tasks.values()))

    @property
    def possible(self) -> float:
        return float(sum(task["of"] for task in self.tasks.values()))


def page(grade: Grade) -> str:
    """The student's page, as HTML, on which all that a submission says is text."""
    return Environment(autoescape=True).from_string(_PAGE).render(grade=grade)


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
