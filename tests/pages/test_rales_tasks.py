"""The tasks' records and counts against cases counted by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from radeval_lib.data import roles
from radeval_lib.data.records import AnnotatedSentence, Entity, Relation
from radeval_lib.errors import TaskError
from radeval_lib.jobs import rales_tasks as tasks
from radeval_lib.jobs.rales_tasks import CHEXPERT, MIMIC, task_of
from radeval_lib.models.graph_model import WordGraph, read_graph
from radeval_lib.models.graph_model import count_matches as graph_counts

WORDS = ("small", "left", "pleural", "effusion", ".")
ENTITIES = (Entity(0, 1, "OBS-DP"), Entity(1, 3, "ANAT-DP"), Entity(3, 4, "OBS-DP"))
RELATIONS = (Relation(0, 2, "modify"), Relation(2, 1, "located_at"))


def report(name: str, split: str = "test", group: str = MIMIC) -> AnnotatedSentence:
    return AnnotatedSentence(name, WORDS, ENTITIES, RELATIONS, group, split)


def test_graph_counts_by_hand() -> None:
    # The effusion's left border is wrong, so it is no match, nor is the relation that begins there; the other
    # relation has gold's label between other ends.
    word_graph = WordGraph(
        ((0, 1, "OBS-DP"), (1, 3, "ANAT-DP"), (2, 4, "OBS-DP")),
        ((2, 1, "located_at"), (1, 0, "modify")),
    )
    rows = pd.DataFrame(
        graph_counts(read_graph(report("a")), word_graph, ["ANAT-DP", "OBS-DP"], ["located_at", "modify"], 8)
    )
    sums = rows.groupby("part")[["matched", "predicted", "gold"]].sum()
    assert sums.loc["entity"].tolist() == [2, 3, 3]
    assert sums.loc["relation"].tolist() == [0, 2, 2]


def test_two_labelers_are_two_documents_of_one_case() -> None:
    rows = [report("a", "train"), report("b", "dev"), report("c/labeler_1"), report("c/labeler_2")]
    parts = task_of("graphs").parts(rows)
    assert [row.id for row in parts.test] == ["c/labeler_1", "c/labeler_2"]
    counted = tasks.count_tags(parts.test, [[(0, 1, "OBS-DP")], [(0, 1, "OBS-DP"), (1, 3, "ANAT-DP")]])
    assert counted.to_dict("records") == [
        {"case": "c", "domain": "", "part": "entity", "matched": 3, "predicted": 3, "gold": 6}
    ]


def test_nobody_trains_on_the_other_institution() -> None:
    rows = [
        report(part + group, part, group) for part in ("train", "dev", "test") for group in (MIMIC, CHEXPERT)
    ]
    parts = task_of("graphs").parts(rows)
    assert [row.group for row in (*parts.train, *parts.dev)] == [MIMIC, MIMIC]
    assert [row.group for row in parts.test] == [MIMIC, CHEXPERT]


def test_spatial_sentences_without_entities_are_left_out_and_reports_stay_together() -> None:
    parts = task_of("spatial").parts(roles.load("spatial_corpus", "synthetic", size=80, seed=1, root=None))
    assert all(row.entities for row in (*parts.train, *parts.dev, *parts.test))
    assert not {row.report for row in parts.train} & {row.report for row in parts.test}


def test_procedures_are_ct_and_rare_ones_are_merged() -> None:
    task = task_of("procedures", 5)
    parts = task.parts(roles.load("procedures", "synthetic", size=400, seed=1, root=None))
    labels = [row.label for row in parts.train]
    assert all(label.startswith("CT") or label == tasks.OTHER for label in labels)
    assert min(labels.count(label) for label in set(labels) - {tasks.OTHER}) >= 5


@pytest.mark.parametrize(
    "rest",
    [
        [report("b", "test")],
        [report("b", "dev"), AnnotatedSentence("c", WORDS, group=MIMIC, split="test")],
    ],
)
def test_a_split_without_anything_to_find_is_refused(rest: list[AnnotatedSentence]) -> None:
    with pytest.raises(TaskError):
        task_of("graphs").parts([report("a", "train"), *rest])
