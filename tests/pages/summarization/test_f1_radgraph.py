"""MIMIC-RRS's example, graphs that differ from it, and what conventions change."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from notebooks.summarization import f1_radgraph
from notebooks.summarization.f1_radgraph import (
    Example,
    score_by_level,
)
from radeval_lib.metrics.radgraph import build_graph


def test_the_printed_triplets_follow_by_one_rule_on_the_ends_of_an_edge() -> None:
    example, printed = Example.read(), f1_radgraph.printed("rrs.example_a2_graph")
    assert example.count_fits(printed) == {"the start": 6, "the end": 2, "either end": 4}
    assert example.absent_entities == ["overt", "edema"]


def test_every_single_change_is_one() -> None:
    example = Example.read()
    scores = score_by_level(example.build_graph(), example.make_single_edits())
    levels = scores[["simple", "partial", "complete"]]
    assert levels.groupby("change").size().to_dict() == {
        "a word is missing": 6,
        "a word is replaced": 6,
        "a label is replaced": 12,
        "an edge is missing": 3,
        "an edge is reversed": 3,
        "an edge leads elsewhere": 12,
        "an edge is added": 27,
    }
    assert (levels.max(axis=1) <= 100).all()
    assert (levels.loc[levels.index.str.startswith("an edge"), "simple"] == 100).all()
    assert (levels.loc[levels.index.str.startswith("an edge"), "complete"] < 100).all()
    assert levels.loc["a label is replaced", "simple"].tolist() == pytest.approx([100 * 5 / 6] * 12)


def test_quality_by_hand() -> None:
    columns = ["seed", "case", "part", "label", "matched", "predicted", "gold", "unseen"]
    rows = [
        (seed, case, part, label, right, 2, 2, 0)
        for seed, case, right in ((0, "a", 2), (0, "b", 1), (1, "a", 1), (1, "b", 0))
        for part, label in (("entity", "X"), ("entity", "Y"), ("relation", "r"), ("strict", "r"))
    ]
    quality = f1_radgraph.measure_quality(
        pd.DataFrame(rows, columns=columns), resamples=50, rng=np.random.default_rng(0)
    )
    assert quality.loc["entities", "F1"].value == pytest.approx((3 / 4 + 1 / 4) / 2)
    assert quality.loc["entities", "gold"] == 8
    assert quality.index.tolist() == ["entities", "relations", "relations with typed ends"]


def test_conventions_and_what_they_change() -> None:
    plain = build_graph([("edema", "OBS-DP"), ("lungs", "ANAT-DP")], [(0, "located_at", 1)])
    capital = build_graph([("Edema", "OBS-DP"), ("lungs", "ANAT-DP")], [(0, "located_at", 1)])
    scores = f1_radgraph.score_conventions([plain, plain], [plain, capital])
    assert scores[("partial", "fold")].tolist() == [1, 1]
    assert scores[("partial", "relations")].tolist() == [1, 0.5]
    effect = f1_radgraph.compare_conventions(scores, ("partial", "relations"))
    assert effect.loc[("partial", "fold"), ["mean", "changed", "largest"]].tolist() == [1, 0.5, 0.5]
    assert effect.loc[("partial", "relations"), "changed"] == 0
