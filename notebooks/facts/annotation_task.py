"""The fact-counting task as a Label Studio project: its layout and tasks out, the completed tasks in.

Heartex, which Moramarco et al. 2021 used, became Label Studio. The layout asks what their Figure 3 shows: the
facts of the reference, and for each generated description the facts in it, those in common, those that are
correct, its coherence and a comment; facts can be marked in the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment

from radeval_lib import atomic
from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.records import TextPair
from radeval_lib.data.restricted import RestrictedText, reveal
from radeval_lib.data.roles import load
from radeval_lib.errors import ParameterError
from radeval_lib.registry import SYNTHETIC
from radeval_lib.stats.measures import COHERENCE, FactCounts

CANDIDATES = 4
"""Of a generated case."""
LAYOUT, TASKS, KEY = "labelling.xml", "tasks.json", "key.json"
_QUESTIONS = {
    "generated": "1. How many facts are there in this description?",
    "common": "2. How many of its facts are also in the reference description?",
    "correct": "3. How many of its facts are correct? The report decides.",
}
_CORRECT = "3. How many of its facts are correct? The reference decides."  # if there is no report
_COUNTS = ("reference", *_QUESTIONS)
_SCORES = ("precision", "recall", "f_score", "accuracy")
_INSTRUCTIONS = (
    "Count the medical facts in the reference description, then those in each generated "
    "description. What a fact is, you decide; keep to one level of detail. You can mark facts in the text."
)
_LAYOUT = """\
<View>
  <Header value="{{ instructions }}" size="4" />
{% if report %}
  <Header value="Report" size="4" />
  <Text name="report" value="$report" />
{% endif %}
  <Header value="Reference description" size="4" />
  <Labels name="reference_marks" toName="reference">
    <Label value="Fact" />
  </Labels>
  <Text name="reference" value="$reference" />
  <Header value="How many facts are there in the reference description?" size="4" />
  <Number name="reference_facts" toName="reference" min="0" step="1" required="true" />
{% for number in range(1, descriptions + 1) %}
{% set text = "description_%d" % number %}
  <Header value="Generated description {{ number }}" size="4" />
  <Labels name="{{ text }}_marks" toName="{{ text }}">
    <Label value="Fact" />
  </Labels>
  <Text name="{{ text }}" value="${{ text }}" />
{% for question, words in questions.items() %}
  <Header value="{{ words }}" size="4" />
  <Number name="{{ question }}_{{ number }}" toName="{{ text }}" min="0" step="1" required="true" />
{% endfor %}
  <Header value="4. How coherent is it?" size="4" />
  <Choices name="coherence_{{ number }}" toName="{{ text }}" choice="single" required="true">
{% for rating in ratings %}
    <Choice value="{{ rating }}" />
{% endfor %}
  </Choices>
  <Header value="5. Do you have any comments? (optional)" size="4" />
  <TextArea name="comment_{{ number }}" toName="{{ text }}" maxSubmissions="1" />
{% endfor %}
</View>
"""


def layout(descriptions: int, *, report: bool = True) -> str:
    """Return the labelling configuration for tasks of so many generated descriptions, as XML; ``report``:
    whether tasks show what the descriptions were written from."""
    template = Environment(autoescape=True, trim_blocks=True).from_string(_LAYOUT)
    return template.render(
        instructions=f"{'Read the report. ' if report else ''}{_INSTRUCTIONS}",
        questions={**_QUESTIONS, **({} if report else {"correct": _CORRECT})},
        ratings=COHERENCE,
        descriptions=descriptions,
        report=report,
    )


def project(
    records: Sequence[TextPair], rng: np.random.Generator
) -> tuple[str, list[dict[str, Any]], dict[str, list[str]]]:
    """Return a project on candidates: one task per case, its descriptions in random order."""
    cases: dict[str, list[TextPair]] = {}
    for record in records:
        cases.setdefault(record.case, []).append(record)
    sizes = {len(case) for case in cases.values()}
    if len(sizes) != 1:
        raise ParameterError(f"cases of {sorted(sizes) or 'no'} summaries; a project needs equally many")
    reported = all(len(record.source) > 0 for record in records)
    tasks, key = [], {}
    for name, case in cases.items():
        if len({reveal(record.reference) for record in case}) > 1:
            raise ParameterError("its summaries have different references", f"case {name}")
        shuffled = [case[index] for index in rng.permutation(len(case))]
        texts = {
            f"description_{number}": reveal(record.candidate)
            for number, record in enumerate(shuffled, start=1)
        }
        shared = {"reference": reveal(case[0].reference)}
        if reported:
            shared["report"] = reveal(case[0].source)
        tasks.append({"data": {"case": name, **shared, **texts}})
        key[name] = [record.group for record in shuffled]
    return layout(sizes.pop(), report=reported), tasks, key


def passed_on(records: Sequence[TextPair], cases: int, seed: int) -> tuple[list[TextPair], bool]:
    """Return the records, and whether they are generated: where their text is restricted, which a build may
    not leave in a file, as many cases of the generator stand in."""
    texts = (text for record in records for text in (record.reference, record.candidate))
    if not any(isinstance(text, RestrictedText) for text in texts):
        return list(records), False
    return load("text_pairs", SYNTHETIC, size=CANDIDATES * cases, seed=seed, root=None), True


def write_project(folder: Path, records: Sequence[TextPair], cases: int, rng: np.random.Generator) -> int:
    """Write a project on the first ``cases`` into a folder, whole or not at all; returns the number of tasks.

    ``labelling.xml`` goes into the project's labelling settings, ``tasks.json`` is imported; ``key.json``
    stays with the person who analyses.
    """
    chosen = list(dict.fromkeys(record.case for record in records))[:cases]
    described, tasks, key = project([record for record in records if record.case in chosen], rng)
    with atomic.new_folder(folder) as part:
        (part / LAYOUT).write_text(described, encoding="utf-8")
        (part / TASKS).write_text(json.dumps(tasks, indent=1, ensure_ascii=False), encoding="utf-8")
        (part / KEY).write_text(json.dumps(key, indent=1, ensure_ascii=False), encoding="utf-8")
    return len(tasks)


def read_export(export: Path, key: Path) -> pd.DataFrame:
    """Return the :func:`answers` of a Label Studio export (its JSON format) and the key of the project.

    Raises FormatError: as :func:`answers`; or where a file is no such file.
    """
    tasks = list(reading.read_objects(export))
    return answers(tasks, reading.read_json(key, dict), export.name)


def answers(tasks: Sequence[Mapping[str, Any]], key: Mapping[str, Sequence[str]], where: str) -> pd.DataFrame:
    """Return the answers of completed tasks, one row per description and rater, in the order of tasks and
    annotations.

    ``case``, ``system``, ``rater``, the four counts, the four scores (NaN if they are not defined),
    ``coherence`` as its code, and ``comment``. Cancelled annotations are left out, as Label Studio leaves
    them out of its statistics.

    Raises FormatError: naming task, annotation and description: an unknown case, a missing or repeated
    answer, counts that no text can have (more common facts than either text has), an unknown rating; or where
    one rater completed a task twice, or no task is completed.
    """
    rows: list[dict[str, Any]] = []
    for number, task in enumerate(tasks, start=1):
        task_name = f"{where}, task {task.get('id', number)}"
        entry = reading.Entry(task, task_name)
        case = entry.inner("data").take("case", str)
        if case not in key:
            raise FormatError(
                "the key does not list this task's case", task_name, "Is it this project's key?"
            )
        seen: set[str] = set()
        for annotation in entry.take("annotations", list):
            annotation = reading.Entry(annotation, task_name)
            if annotation.get("was_cancelled"):
                continue
            who = annotation.get("completed_by")  # a number, or an object with one, by the export's version
            rater = str(who.get("id") if isinstance(who, dict) else who)
            spot = f"{task_name}, rater {rater}"
            if rater in seen:
                raise FormatError("the task is completed twice", spot, "Delete one of the annotations.")
            seen.add(rater)
            completed = zip(key[case], _completed(annotation, len(key[case]), spot), strict=True)
            rows += [{"case": case, "system": system, "rater": rater, **row} for system, row in completed]
    if not rows:
        raise FormatError("no task is completed", where)
    return pd.DataFrame(rows)


def _completed(annotation: Mapping[str, Any], descriptions: int, where: str) -> Iterator[dict[str, Any]]:
    """Yield what one rater answered of each description."""
    values: dict[str, Any] = {}
    for region in reading.Entry(annotation, where).take("result", list):
        given = reading.Entry(region, where)
        if given.take("type", str) in ("labels", "relation"):  # marks in the text
            continue
        name = given.take("from_name", str)
        if name in values:
            raise FormatError(f"two answers to {name!r}", where)
        values[name] = next(iter(given.take("value", dict).values()), "")
    for number in range(1, descriptions + 1):
        spot = f"{where}, description {number}"
        asked = {"reference": "reference_facts"} | {name: f"{name}_{number}" for name in _QUESTIONS}
        for question in asked.values():
            if question not in values:
                raise FormatError(f"{question!r} is not answered", spot)
        numbers = {
            name: reading.value(values[question], reading.Count, question, spot)
            for name, question in asked.items()
        }
        try:
            counts = FactCounts(**numbers)
        except ValueError as error:
            raise FormatError(str(error), spot) from None
        coherence = (values.get(f"coherence_{number}") or [""])[0]
        if coherence not in COHERENCE:
            raise FormatError(
                f"coherence is {coherence or 'not answered'}", spot, f"Ratings: {', '.join(COHERENCE)}."
            )
        yield {
            **{name: getattr(counts, name) for name in (*_COUNTS, *_SCORES)},
            "coherence": COHERENCE[coherence],
            "comment": "\n".join(values.get(f"comment_{number}", [])),
        }
