"""The fact-counting task as a Label Studio project: its layout and tasks out, the completed tasks in.

Heartex, which Moramarco et al. 2021 used, became Label Studio. The layout asks what their Figure 3 shows: the
facts of the reference, and for each generated description the facts in it, those in common, those that are
correct, its coherence and a comment; facts can be marked in the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd

from radeval_lib import atomic
from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.records import FactRating
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import ParameterError
from radeval_lib.pages.facts.rater_agreement import three_raters
from radeval_lib.pages.facts.real_counts import counts_by_text
from radeval_lib.stats.fact_counts import COHERENCE, FactCounts
from radeval_lib.synthetic.fact_raters import count_facts, from_counts

LAYOUT, TASKS, KEY = "labelling.xml", "tasks.json", "key.json"
_QUESTIONS = {
    "generated": "1. How many facts are there in this description?",
    "common": "2. How many of its facts are also in the reference description?",
    "correct": "3. How many of its facts are correct? The report decides.",
}
_COUNTS = ("reference", "generated", "common", "correct")
_SCORES = ("precision", "recall", "f_score", "accuracy")
_INSTRUCTIONS = (
    "Read the report. Count the medical facts in the reference description, then those in each generated "
    "description. What a fact is, you decide; keep to one level of detail. You can mark facts in the text."
)


@dataclass(frozen=True)
class Answer:
    """One rater's answers about one generated description."""

    case: str
    system: str
    rater: str
    counts: FactCounts
    coherence: str
    comment: str = ""
    marked: tuple[str, ...] = field(default=())


def layout(descriptions: int) -> str:
    """The labelling configuration for tasks of so many generated descriptions, as XML."""
    if descriptions < 1:
        raise ParameterError(f"a task needs a description, not {descriptions}", "descriptions")
    view = ElementTree.Element("View")
    _header(view, _INSTRUCTIONS)
    _header(view, "Report")
    ElementTree.SubElement(view, "Text", name="report", value="$report")
    _header(view, "Reference description")
    _marking(view, "reference")
    _number(view, "reference_facts", "reference", "How many facts are there in the reference description?")
    for number in range(1, descriptions + 1):
        name = _name(number)
        _header(view, f"Generated description {number}")
        _marking(view, name)
        for question, words in _QUESTIONS.items():
            _number(view, f"{question}_{number}", name, words)
        _header(view, "4. How coherent is it?")
        coherent = ElementTree.SubElement(
            view, "Choices", name=f"coherence_{number}", toName=name, choice="single", required="true"
        )
        for rating in COHERENCE:
            ElementTree.SubElement(coherent, "Choice", value=rating)
        _header(view, "5. Do you have any comments? (optional)")
        ElementTree.SubElement(view, "TextArea", name=f"comment_{number}", toName=name, maxSubmissions="1")
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode")


def _name(number: int) -> str:
    return f"description_{number}"


def _header(view: ElementTree.Element, words: str) -> None:
    ElementTree.SubElement(view, "Header", value=words, size="4")


def _marking(view: ElementTree.Element, text: str) -> None:
    labels = ElementTree.SubElement(view, "Labels", name=f"{text}_marks", toName=text)
    ElementTree.SubElement(labels, "Label", value="Fact")
    ElementTree.SubElement(view, "Text", name=text, value=f"${text}")


def _number(view: ElementTree.Element, name: str, text: str, words: str) -> None:
    _header(view, words)
    ElementTree.SubElement(view, "Number", name=name, toName=text, min="0", step="1", required="true")


def project(
    records: Sequence[FactRating], rng: np.random.Generator
) -> tuple[str, list[dict[str, Any]], dict[str, list[str]]]:
    """A project on the texts of rated summaries: one task a case, its descriptions in random order."""
    cases: dict[str, list[FactRating]] = {}
    for record in records:
        cases.setdefault(record.case, []).append(record)
    sizes = {len(case) for case in cases.values()}
    if len(sizes) != 1:
        raise ParameterError(f"cases of {sorted(sizes) or 'no'} summaries; a project needs equally many")
    tasks, key = [], {}
    for name, case in cases.items():
        if len({reveal(record.reference) for record in case}) > 1:
            raise ParameterError("its summaries have different references", f"case {name}")
        shuffled = [case[place] for place in rng.permutation(len(case))]
        texts = {_name(place): reveal(one.candidate) for place, one in enumerate(shuffled, start=1)}
        shared = {"report": reveal(case[0].source), "reference": reveal(case[0].reference)}
        tasks.append({"data": {"case": name, **shared, **texts}})
        key[name] = [one.group for one in shuffled]
    return layout(sizes.pop()), tasks, key


def write_project(folder: Path, records: Sequence[FactRating], rng: np.random.Generator) -> int:
    """Write a project's files into a folder, whole or not at all; returns the number of tasks.

    ``labelling.xml`` goes into the project's labelling settings, ``tasks.json`` is imported; ``key.json``
    stays with whoever analyses.
    """
    described, tasks, key = project(records, rng)
    with atomic.new_folder(folder) as part:
        (part / LAYOUT).write_text(described, encoding="utf-8")
        (part / TASKS).write_text(json.dumps(tasks, indent=1, ensure_ascii=False), encoding="utf-8")
        (part / KEY).write_text(json.dumps(key, indent=1, ensure_ascii=False), encoding="utf-8")
    return len(tasks)


def completed(
    tasks: Sequence[Mapping[str, Any]], counts: Mapping[tuple[str, int, str], FactCounts], coherence: str
) -> list[dict[str, Any]]:
    """Tasks as Label Studio exports them once raters gave these counts: for trying the analysis out.

    ``tasks``: of :func:`project`. ``counts``: by case, number of the description (from 1) and rater; every
    rater answers every description. ``coherence``: the rating that every description gets.
    """
    raters = sorted({rater for _, _, rater in counts})
    done = []
    for number, task in enumerate(tasks, start=1):
        case = task["data"]["case"]
        descriptions = [
            int(name.rpartition("_")[2]) for name in task["data"] if name.startswith("description_")
        ]
        annotations = []
        for rater in raters:
            given = {place: counts[case, place, rater] for place in descriptions}
            first = given[descriptions[0]]
            result = [_answer("reference_facts", "reference", "number", first.reference)]
            for place, one in given.items():
                for question in _QUESTIONS:
                    value = getattr(one, question)
                    result.append(_answer(f"{question}_{place}", _name(place), "number", value))
                result.append(_answer(f"coherence_{place}", _name(place), "choices", [coherence]))
            annotations.append({"completed_by": rater, "was_cancelled": False, "result": result})
        done.append({"id": number, **task, "annotations": annotations})
    return done


def countable(
    ratings: Sequence[FactRating], cases: int
) -> tuple[list[FactRating], dict[tuple[str, str], tuple[int, int, int]]]:
    """The ratings of the first ``cases`` cases of which every summary's facts can be counted from its rates,
    and these counts by case and system."""
    by_text = counts_by_text(ratings)
    unknown = {one.case for one in ratings if (one.case, one.group) not in by_text}
    known = [case for case in dict.fromkeys(one.case for one in ratings) if case not in unknown]
    return [one for one in ratings if one.case in known[:cases]], by_text


def simulated(
    folder: Path, by_text: Mapping[tuple[str, str], tuple[int, int, int]], rng: np.random.Generator
) -> tuple[list[list[FactCounts]], list[Answer]]:
    """What three simulated raters count in a written project's texts, and their answers as read back."""
    tasks, key = (json.loads((folder / name).read_text("utf-8")) for name in (TASKS, KEY))
    order = [(case, place, system) for case in key for place, system in enumerate(key[case], start=1)]
    numbers = list(key)
    counts = [by_text[case, system] for case, _, system in order]
    descriptions = from_counts(rng, counts, [numbers.index(case) for case, _, _ in order])
    counted = count_facts(rng, descriptions, three_raters(0.15))
    given = {
        (case, place, f"rater {number}"): one
        for number, rater in enumerate(counted, start=1)
        for (case, place, _), one in zip(order, rater, strict=True)
    }
    return counted, answers(completed(tasks, given, "Coherent"), key, "the simulated export")


def _answer(question: str, text: str, kind: str, value: Any) -> dict[str, Any]:
    return {"from_name": question, "to_name": text, "type": kind, "value": {kind: value}}


def table(found: Sequence[Answer]) -> pd.DataFrame:
    """One row an answer: ``case``, ``system``, ``rater``, the four counts, the four scores (NaN where they
    are not defined), ``coherence`` as its code, and ``comment``."""
    return pd.DataFrame(
        {
            "case": one.case,
            "system": one.system,
            "rater": one.rater,
            **{name: getattr(one.counts, name) for name in (*_COUNTS, *_SCORES)},
            "coherence": COHERENCE[one.coherence],
            "comment": one.comment,
        }
        for one in found
    )


def read_export(export: Path, key: Path) -> list[Answer]:
    """The answers of a Label Studio export (its JSON format) and the key of the project.

    Raises FormatError: as :func:`answers`; or where a file is no such file.
    """
    tasks = list(reading.read_objects(export))
    return answers(tasks, reading.read_json(key, dict), export.name)


def answers(tasks: Sequence[Mapping[str, Any]], key: Mapping[str, Sequence[str]], where: str) -> list[Answer]:
    """The answers of completed tasks, in the order of tasks, annotations and descriptions.

    Cancelled annotations are left out, as Label Studio leaves them out of its statistics.

    Raises FormatError: naming task, annotation and description: an unknown case, a missing or repeated
    answer, counts that no text can have (more common facts than either text has), an unknown rating; or where
    one rater completed a task twice, or no task is completed.
    """
    found: list[Answer] = []
    for number, task in enumerate(tasks, start=1):
        place = f"{where}, task {task.get('id', number)}"
        case = str(reading.take(reading.take(dict(task), "data", dict, place), "case", str, place))
        if case not in key:
            raise FormatError("the key does not list this task's case", place, "Is it this project's key?")
        seen: set[str] = set()
        for annotation in reading.take(dict(task), "annotations", list, place):
            if annotation.get("was_cancelled"):
                continue
            rater = _rater(annotation)
            spot = f"{place}, rater {rater}"
            if rater in seen:
                raise FormatError("the task is completed twice", spot, "Delete one of the annotations.")
            seen.add(rater)
            found += _completed(case, rater, annotation, key[case], spot)
    if not found:
        raise FormatError("no task is completed", where)
    return found


def _rater(annotation: Mapping[str, Any]) -> str:
    """Who completed it: a number, or an object with one, depending on the version that exported."""
    who = annotation.get("completed_by")
    return str(who.get("id") if isinstance(who, dict) else who)


def _completed(
    case: str, rater: str, annotation: Mapping[str, Any], systems: Sequence[str], where: str
) -> Iterator[Answer]:
    values: dict[str, Any] = {}
    marks: dict[str, list[str]] = {}
    for region in reading.take(dict(annotation), "result", list, where):
        name, value = region["from_name"], region["value"]
        if region["type"] == "labels":
            marks.setdefault(region["to_name"], []).append(value.get("text", ""))
        elif name in values:
            raise FormatError(f"two answers to {name!r}", where)
        else:
            values[name] = next(iter(value.values()))
    for number, system in enumerate(systems, start=1):
        spot = f"{where}, description {number}"
        asked = {"reference": "reference_facts"} | {name: f"{name}_{number}" for name in _QUESTIONS}
        counts = {name: _count(values, question, spot) for name, question in asked.items()}
        coherence = values.get(f"coherence_{number}", [""])[0]
        if coherence not in COHERENCE:
            raise FormatError(
                f"coherence is {coherence or 'not answered'}", spot, f"Ratings: {', '.join(COHERENCE)}."
            )
        yield Answer(
            case=case,
            system=system,
            rater=rater,
            counts=reading.make(FactCounts, spot, **counts),
            coherence=coherence,
            comment="\n".join(values.get(f"comment_{number}", [])),
            marked=tuple(marks.get(_name(number), [])),
        )


def _count(values: Mapping[str, Any], question: str, where: str) -> int:
    if question not in values:
        raise FormatError(f"{question!r} is not answered", where)
    return reading.whole(str(values[question]), question, where)
