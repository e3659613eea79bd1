"""What a submission got, and how the class and its student are told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
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
<p>{{ grade.student }} ({{ grade.file }}): <strong>{{ "%g"|format(grade.points|round(2)) }} of
{{ "%g"|format(grade.possible) }} points</strong>{% if grade.written %}, without the written answers, which
your instructor marks{% endif %}.</p>
<table><tr><th>Task<th>Points<th>Remarks</tr>
{% for name, task in grade.tasks.items() %}<tr><td>{{ name }}<td>{{ "%g"|format(task.points|round(2)) }} of
{{ "%g"|format(task.of) }}<td>{% for message in task.messages %}<div>{{ message }}</div>{% endfor %}</tr>
{% endfor %}{% for name, points in grade.written.items() %}<tr><td>{{ name }}<td>of {{ "%g"|format(points) }}
<td>written</tr>
{% endfor %}</table>
{% for title, lines in (("Notes", grade.notes), ("Errors in your cells", grade.errors)) if lines %}
<h2>{{ title }}</h2><ul>{% for line in lines %}<li>{{ line }}{% endfor %}</ul>
{% endfor %}</html>
"""


@dataclass
class Grade:
    """What a submission got: ``points``, ``of`` and ``messages`` of each task that tests mark, the points of
    those that the instructor marks (``written``), what cells raised, and what the instructor should know."""

    file: str
    student: str
    lab: str = ""
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    written: dict[str, float] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def points(self) -> float:
        return float(sum(task["points"] for task in self.tasks.values()))

    @property
    def possible(self) -> float:
        return float(sum(task["of"] for task in self.tasks.values()))


def note_same_ids(grades: Sequence[Grade]) -> None:
    """Note where several submissions of a lab have one id: a copy, or an id mistyped."""
    own = [(one.lab, one.student.lower()) for one in grades]
    for one, key in zip(grades, own, strict=True):
        if own.count(key) > 1:
            one.notes.append("another submission has the same id")


def table(grades: Sequence[Grade]) -> pd.DataFrame:
    """One row a submission: ``student``, ``lab``, ``file``, ``points``, ``of``, ``notes``, and a column a
    task; that of a written task is left to fill in."""
    rows = []
    for one in sorted(grades, key=lambda one: (one.lab, one.student.lower(), one.file)):
        row: dict[str, Any] = {"student": _text(one.student), "lab": one.lab, "file": _text(one.file)}
        row |= {"points": round(one.points, 2), "of": round(one.possible, 2), "notes": "; ".join(one.notes)}
        row |= {name: round(task["points"], 2) for name, task in one.tasks.items()}
        rows.append(row | dict.fromkeys(one.written, ""))
    return pd.DataFrame(rows)


def _text(value: str) -> str:
    """What a spreadsheet takes for a text and not for a formula."""
    return f"'{value}" if value[:1] in "=+-@" else value


def page(grade: Grade) -> str:
    """The student's page, as HTML; what a submission says stands there as text."""
    return Environment(autoescape=True).from_string(_PAGE).render(grade=grade)


def page_name(grade: Grade, number: int) -> str:
    """The file name of a student's page, whatever the student is called."""
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '_', grade.student)[:60]}-{number}.html"
