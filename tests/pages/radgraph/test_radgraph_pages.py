"""What RadGraph's page computes and draws, on graphs small enough to check by hand."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from notebooks.summarization import graphs_by_machine
from radeval_lib.data.radgraph import annotation
from radeval_lib.jobs.summarization import graph_plan
from radeval_lib.metrics.radgraph import build_graph, parse_graph
from radeval_lib.study.profiles import names, profile

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


def test_a_drawing_has_every_word_and_relation() -> None:
    figure, axes = plt.subplots()
    graphs_by_machine.draw(axes, EDEMA)
    told = [text.get_text() for text in axes.texts if text.get_text()]
    assert told == [*EDEMA["text"].split(), "modify", "located at"]
    graphs_by_machine.draw(axes, annotation([], [], []))
    plt.close(figure)
    assert graphs_by_machine.colour_of("Observation::definitely absent") == "0.4"
    assert graphs_by_machine.colour_of("anat-dp") == graphs_by_machine.COLOURS["ANAT"]


def test_quality_by_hand() -> None:
    columns = ["seed", "case", "part", "label", "matched", "predicted", "gold", "unseen"]
    rows = [
        (seed, case, part, label, right, 2, 2, 0)
        for seed, case, right in ((0, "a", 2), (0, "b", 1), (1, "a", 1), (1, "b", 0))
        for part, label in (("entity", "X"), ("entity", "Y"), ("relation", "r"), ("strict", "r"))
    ]
    found = graphs_by_machine.quality(
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


def test_each_level_sees_other_changes_of_a_graph() -> None:
    scores = graphs_by_machine.scores_of_changes()
    assert (scores.loc["an entity is absent instead of present"] < 1).all()
    assert scores.loc["a relation has another type"].eq(1).tolist() == [True, True, False]


def test_conventions_and_what_they_change() -> None:
    plain = build_graph([("edema", "OBS-DP"), ("lungs", "ANAT-DP")], [(0, "located_at", 1)])
    capital = build_graph([("Edema", "OBS-DP"), ("lungs", "ANAT-DP")], [(0, "located_at", 1)])
    scores = graphs_by_machine.conventions([plain, plain], [plain, capital])
    assert scores[("partial", "fold")].tolist() == [1, 1]
    assert scores[("partial", "relations")].tolist() == [1, 0.5]
    effect = graphs_by_machine.changes(scores, ("partial", "relations"))
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
    frame = graphs_by_machine.beside_printed(printed, parse_graph(EDEMA["entities"]))
    assert frame["label found"].tolist() == ["obs-dp", "obs-dp", "–"]
    assert frame["relation found"].tolist() == ["1", "1", "–"]
