"""The page on F1-RadGraph: the paper's example, and graphs that differ from it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from notebooks.summarization import f1_radgraph
from notebooks.summarization.f1_radgraph import (
    Example,
    check_schema,
    has_relation,
    scores_by_level,
)

EXAMPLE = Example(
    ["mild", "edema", "lung"],
    [("mild", "edema")],
    {"mild": "obs-dp", "edema": "obs-da", "lung": "anat-dp"},
)
TURNED = replace(EXAMPLE, edges=EXAMPLE.turned).graph()


def test_the_printed_example_labels_its_words_and_joins_no_others() -> None:
    example = Example.read()
    assert set(example.nodes) == set(example.labels)
    assert {end for edge in example.edges for end in edge} <= set(example.nodes)


def test_every_node_has_a_label() -> None:
    assert (EXAMPLE.check_node_labels().outcome, EXAMPLE.check_node_labels().computed) == ("holds", "3 of 3")
    assert (
        replace(EXAMPLE, labels={"mild": "obs-dp", "lung": "anat-dp"}).check_node_labels().outcome == "fails"
    )


def test_concepts_levels_labels_and_relations_of_the_schema_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = {check.name: check.computed for check in check_schema() if check.outcome == "holds"}
    assert found == {
        "concepts": "2: ANAT, OBS",
        "levels of Observation": "3: OBS-DP, OBS-U, OBS-DA",
        "entity labels": "4: ANAT-DP, OBS-DP, OBS-U, OBS-DA",
        "relation types": "3: Suggestive Of, Located At, Modify",
        "labels of the example": "OBS-DP, OBS-DA, ANAT-DP",
        "relations of the example": "all 3 join two entities",
    }
    (place, entities), relations = f1_radgraph.quotations("rrs.def_schema")
    fewer = [(place, entities.replace("(OBS-U)", "")), relations]
    whole = f1_radgraph.quotations
    monkeypatch.setattr(
        f1_radgraph, "quotations", lambda name: fewer if name == "rrs.def_schema" else whole(name)
    )
    assert {check.name for check in check_schema() if check.outcome == "fails"} == {
        "levels of Observation",
        "entity labels",
    }


def test_the_start_of_an_edge_has_a_relation() -> None:
    assert has_relation(EXAMPLE.graph()) == {"mild": 1, "edema": 0, "lung": 0}
    assert has_relation(TURNED) == {"mild": 0, "edema": 1, "lung": 0}
    assert EXAMPLE.absent == ["edema"]


def test_the_printed_triplets_follow_by_one_rule_on_the_ends_of_an_edge() -> None:
    example = Example.read()
    flags = example.check_triplets()[:3]
    assert [(row.outcome, row.computed[:4]) for row in flags] == [
        ("holds", "all "),
        ("fails", "2 of"),
        ("fails", "4 of"),
    ]
    flags = replace(example, edges=example.edges[1:]).check_triplets()[:3]
    assert {row.outcome for row in flags} == {"fails"}


def test_a_graph_is_directed_if_no_rule_that_takes_either_end_gives_all_triplets() -> None:
    example = Example.read()
    found = example.check_direction()
    assert (found.outcome, found.computed) == ("holds", "6 of 6 fit if one end counts, 4 if either does")
    assert replace(example, edges=example.turned).check_direction().outcome == "holds"
    assert replace(example, edges=example.edges[:1]).check_direction().outcome == "fails"


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
