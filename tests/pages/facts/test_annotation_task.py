"""The annotation task: Label Studio's own library accepts it, and its export comes back or is refused."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from notebooks.facts.annotation_task import (
    KEY,
    LAYOUT,
    TASKS,
    answers,
    layout,
    passed_on,
    project,
    read_export,
    write_project,
)
from radeval_lib.data.errors import FormatError
from radeval_lib.data.records import TextPair
from radeval_lib.data.restricted import RestrictedText, mark
from radeval_lib.data.roles import load
from radeval_lib.errors import ParameterError


def _records(cases: int = 2) -> list[TextPair]:
    return load("text_pairs", "synthetic", size=4 * cases, seed=1, root=None)


def test_a_build_writes_no_restricted_text() -> None:
    records = _records()
    assert passed_on(records, 2, seed=3) == (records, False)
    closed = [replace(item, candidate=mark(item.candidate, "closed", True)) for item in records]
    written, generated = passed_on(closed, 2, seed=3)
    assert generated
    assert len({item.case for item in written}) == 2
    assert not any(isinstance(item.candidate, RestrictedText) for item in written)


def _region(name: str, to_name: str, kind: str, **value: Any) -> dict[str, Any]:
    return {"id": name, "from_name": name, "to_name": to_name, "type": kind, "value": value}


def _annotation(rater: Any, descriptions: int = 4) -> dict[str, Any]:
    """Return figure 3's answers to every description: R 6, G 4, R&G 2, C 3."""
    result = [
        _region("reference_facts", "reference", "number", number=6),
        _region(
            "description_1_marks", "description_1", "labels", start=0, end=4, text="lost", labels=["Fact"]
        ),
        _region("comment_1", "description_1", "textarea", text=["wrong information"]),
    ]
    for number in range(1, descriptions + 1):
        text = f"description_{number}"
        for question, count in (("generated", 4), ("common", 2), ("correct", 3)):
            result.append(_region(f"{question}_{number}", text, "number", number=count))
        result.append(_region(f"coherence_{number}", text, "choices", choices=["Coherent"]))
    return {"id": 100, "completed_by": rater, "was_cancelled": False, "result": result}


def _export(rater: Any = 7) -> tuple[list[dict[str, Any]], dict[str, list[str]]]:
    _, tasks, key = project(_records(), np.random.default_rng(0))
    done = [
        {"id": 10 + position, **task, "annotations": [_annotation(rater)]}
        for position, task in enumerate(tasks)
    ]
    return done, key


def test_label_studio_accepts_layout_tasks_and_answers() -> None:
    interface = pytest.importorskip("label_studio_sdk.label_interface").LabelInterface
    described, tasks, _ = project(_records(), np.random.default_rng(0))
    parsed = interface(described)
    parsed.validate()
    assert all(parsed.validate_task(task) for task in tasks)
    assert parsed.validate_annotation(_annotation(7))
    # The check can fail: an unknown rating, and a text that the layout does not show.
    wrong = _annotation(7)
    wrong["result"][-1]["value"] = {"choices": ["Fluent"]}
    assert not parsed.validate_annotation(wrong)
    assert not parsed.validate_task({"data": {"report": "x"}})


def test_no_task_says_who_wrote_what_and_orders_differ() -> None:
    records = _records(12)
    _, tasks, key = project(records, np.random.default_rng(0))
    systems = {record.group for record in records}
    assert len({tuple(order) for order in key.values()}) > 3
    text = json.dumps(tasks)
    assert not any(system in text for system in systems)
    by_id = {(record.case, record.group): record.candidate for record in records}
    for task in tasks:
        for number, system in enumerate(key[task["data"]["case"]], start=1):
            assert task["data"][f"description_{number}"] == by_id[task["data"]["case"], system]


def test_there_and_back(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    assert write_project(folder, _records(3), 2, np.random.default_rng(0)) == 2
    assert (folder / LAYOUT).read_text(encoding="utf-8") == layout(4)
    tasks = json.loads((folder / TASKS).read_text(encoding="utf-8"))
    export = tmp_path / "export.json"
    # Newer exports name the rater by an object; cancelled annotations do not count.
    cancelled = _annotation(9) | {"was_cancelled": True, "result": []}
    second = _annotation(8)
    second["result"] = _with(second["result"], "coherence_1", choices=["Minor Errors"])
    done = [task | {"annotations": [_annotation({"id": 7}), second, cancelled]} for task in tasks]
    export.write_text(json.dumps(done), encoding="utf-8")
    result = read_export(export, folder / KEY)
    assert len(result) == 16
    assert set(result["rater"]) == {"7", "8"}
    assert result["coherence"].value_counts().to_dict() == {1.0: 14, 0.5: 2}
    assert result.loc[0, ["reference", "generated", "common", "correct"]].tolist() == [6, 4, 2, 3]
    assert result.loc[0, "comment"] == "wrong information"
    assert set(result["system"]) == {record.group for record in _records()}


def _without(result: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [region for region in result if region["from_name"] != name]


def _with(result: list[dict[str, Any]], name: str, **value: Any) -> list[dict[str, Any]]:
    return [region | {"value": value} if region["from_name"] == name else region for region in result]


@pytest.mark.parametrize(
    "change",
    [
        lambda r: _with(r, "common_2", number=5),  # more than in the description
        lambda r: _with(r, "reference_facts", number=1),  # fewer than in common
        lambda r: _with(r, "correct_3", number=2.5),
        lambda r: _without(r, "generated_4"),
        lambda r: _without(r, "coherence_1"),
        lambda r: _with(r, "coherence_1", choices=["Fluent"]),
        lambda r: [*r, r[0]],
        lambda r: [{"from_name": "x"}],
        lambda r: [],
    ],
)
def test_answers_that_cannot_be_are_refused(change: Any) -> None:
    tasks, key = _export()
    tasks[1]["annotations"][0]["result"] = change(tasks[1]["annotations"][0]["result"])
    with pytest.raises(FormatError, match=r"^export\.json, task 11, rater 7"):
        answers(tasks, key, "export.json")


def test_other_exports_that_cannot_be() -> None:
    tasks, key = _export()
    twice = deepcopy(tasks)
    twice[0]["annotations"] *= 2
    for wrong, keys in ((twice, key), (tasks, {}), ([], key)):
        with pytest.raises(FormatError, match=r"^export\.json"):
            answers(wrong, keys, "export.json")
    with pytest.raises(ParameterError):
        project(_records()[:-1], np.random.default_rng(0))
