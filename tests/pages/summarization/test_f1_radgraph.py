"""MIMIC-RRS's example, graphs that differ from it, and what conventions change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from notebooks.summarization import f1_radgraph
from notebooks.summarization.f1_radgraph import (
    Example,
    check_schema,
    has_relation,
    scores_by_level,
)
from radeval_lib.data.radgraph import annotation
from radeval_lib.jobs.summarization import graph_plan
from radeval_lib.metrics.radgraph import build_graph, parse_graph
from radeval_lib.study.profiles import names, profile

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


def test_every_single_change_is_one() -> None:
    example = Example.read()
    scores = scores_by_level(example.graph(), example.single_edits())
    levels = scores[["simple", "partial", "complete"]]
    assert levels.groupby("change").size().to_dict() == {
        "a word is missing": 6,
        "a word is another": 6,
        "a label is another": 12,
        "an edge is missing": 3,
        "an edge is turned": 3,
        "an edge leads elsewhere": 12,
        "an edge is added": 27,
    }
    assert (levels.max(axis=1) <= 100).all()
    assert (levels.loc[levels.index.str.startswith("an edge"), "simple"] == 100).all()
    assert (levels.loc[levels.index.str.startswith("an edge"), "complete"] < 100).all()
    assert levels.loc["a label is another", "simple"].tolist() == pytest.approx([100 * 5 / 6] * 12)


EDEMA = annotation(
    ["Mild", "edema", "of", "both", "lungs", ",", "stable"],
    [(0, 1, "OBS-DP"), (1, 2, "OBS-DP"), (4, 5, "ANAT-DP"), (6, 7, "OBS-DP")],
    [(0, 1, "modify"), (1, 2, "located_at")],
)


def test_every_profile_plans_a_training_that_keeps_its_model() -> None:
    for name in names():
        first = graph_plan.cells(profile(name))[0]
        assert first.notebook == graph_plan.NOTEBOOK
        assert first.parameters["init_model"] == graph_plan.settings(profile(name)).initial_models[0]


def test_quality_by_hand() -> None:
    columns = ["seed", "case", "part", "label", "matched", "predicted", "gold", "unseen"]
    rows = [
        (seed, case, part, label, right, 2, 2, 0)
        for seed, case, right in ((0, "a", 2), (0, "b", 1), (1, "a", 1), (1, "b", 0))
        for part, label in (("entity", "X"), ("entity", "Y"), ("relation", "r"), ("strict", "r"))
    ]
    found = f1_radgraph.quality(
        pd.DataFrame(rows, columns=columns), resamples=50, rng=np.random.default_rng(0)
    )
    assert found.loc[("entities", "all"), "F1"].value == pytest.approx((3 / 4 + 1 / 4) / 2)
    assert found.loc[("entities", "all"), "gold"] == 8
    assert found.loc[("entities", "X"), "gold"] == 4
    assert found.index.tolist()[0] == ("entities", "all")
    assert found.loc["relations"].index.tolist() == ["all", "r"]
    assert found.loc["entities"].index.tolist() == ["all", "X", "Y"]
    told = found.xs("all", level=1)
    assert told.index.tolist() == ["entities", "relations", "relations with typed ends"]
    assert f"{told.loc['entities', 'F1']:.2f}".startswith("0.50 [")


def test_conventions_and_what_they_change() -> None:
    plain = build_graph([("edema", "OBS-DP"), ("lungs", "ANAT-DP")], [(0, "located_at", 1)])
    capital = build_graph([("Edema", "OBS-DP"), ("lungs", "ANAT-DP")], [(0, "located_at", 1)])
    scores = f1_radgraph.conventions([plain, plain], [plain, capital])
    assert scores[("partial", "fold")].tolist() == [1, 1]
    assert scores[("partial", "relations")].tolist() == [1, 0.5]
    effect = f1_radgraph.changes(scores, ("partial", "relations"))
    assert effect.loc[("partial", "fold"), ["mean", "changed", "largest"]].tolist() == [1, 0.5, 0.5]
    assert effect.loc[("partial", "relations"), "changed"] == 0


def test_printed_triplets_beside_found() -> None:
    printed = pd.DataFrame(
        {
            "entity": ["mild", "edema", "overt"],
            "label": ["obs-dp", "obs-da", "obs-da"],
            "printed": ["1", "1", "0"],
        }
    )
    frame = f1_radgraph.beside_printed(printed, parse_graph(EDEMA["entities"]))
    assert frame["label found"].tolist() == ["obs-dp", "obs-dp", "–"]
    assert frame["relation found"].tolist() == ["1", "1", "–"]
