"""The page on F1-RadGraph: the paper's example, and graphs that differ from it."""

from __future__ import annotations

from dataclasses import replace

from radeval_lib.pages.summarization.f1_radgraph import (
    Example,
    has_relation,
    scores_by_level,
)
from radeval_lib.pages.summarization.graphs_by_machine import relation_types

EXAMPLE = Example(
    ["mild", "edema", "lung"],
    [("mild", "edema")],
    {"mild": "obs-dp", "edema": "obs-da", "lung": "anat-dp"},
)
TURNED = replace(EXAMPLE, edges=EXAMPLE.turned).graph()


def test_the_printed_example_has_an_edge_for_all_words_but_those_alone() -> None:
    example = Example.read()
    assert set(example.nodes) == set(example.labels)
    assert {end for edge in example.edges for end in edge} | set(example.alone) == set(example.nodes)


def test_the_start_of_an_edge_has_a_relation() -> None:
    assert has_relation(EXAMPLE.graph()) == {"mild": 1, "edema": 0, "lung": 0}
    assert has_relation(TURNED) == {"mild": 0, "edema": 1, "lung": 0}
    assert (EXAMPLE.absent, EXAMPLE.alone) == (["edema"], ["lung"])


def test_levels_see_different_changes() -> None:
    changed = {
        "same": EXAMPLE.graph(),
        "turned": TURNED,
        "present": replace(EXAMPLE, labels=EXAMPLE.labels | {"edema": "obs-dp"}).graph(),
    }
    scores = scores_by_level(EXAMPLE.graph(), changed)
    assert scores.loc["same"].eq(100).all()
    assert scores.loc["turned", ["simple", "partial, either end"]].eq(100).all()
    assert scores.loc["turned", "partial"] < scores.loc["present", "partial"] < 100


def test_types_of_relation_follow_from_the_labels() -> None:
    assert relation_types("obs-dp", "anat-dp") == ["located at"]
    assert relation_types("OBS-DP", "obs-da") == ["modify", "suggestive of"]
    assert relation_types("anat-dp", "obs-dp") == []
