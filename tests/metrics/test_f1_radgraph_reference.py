"""F1-RadGraph against what the package radgraph gives on 50 pairs of annotations, by both of its rules on
case (``tests/reference/README.md`` tells how they were recorded)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from radeval_lib.metrics import create
from radeval_lib.metrics.radgraph import Case, compare, parse_graph

REFERENCE = Path(__file__).resolve().parents[1] / "reference" / "radgraph"
PAIRS = json.loads((REFERENCE / "pairs.json").read_text(encoding="utf-8"))
PACKAGE = json.loads((REFERENCE / "package.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", ["relations", "fold"])
def test_rewards_are_the_packages(case: Case) -> None:
    graphs = [[parse_graph(pair[side]["entities"]) for side in ("reference", "candidate")] for pair in PAIRS]
    assert len(PAIRS) == len(PACKAGE[case]) == 50
    ours = np.array([[compare(*pair, level, case).f1 for level in PACKAGE["levels"]] for pair in graphs])
    theirs = np.array([PACKAGE[case][pair["name"]] for pair in PAIRS])
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_values_and_details_of_the_metric(tmp_path: Path) -> None:
    named = {pair["name"]: pair for pair in PAIRS}
    pair = named["capital with a relation"]
    path = tmp_path / "graphs.json"
    path.write_text(json.dumps({side: pair[side] for side in ("reference", "candidate")}), encoding="utf-8")
    texts = [pair["reference"]["text"]], [pair["candidate"]["text"]]
    for case in ("relations", "fold"):
        for position, level in enumerate(PACKAGE["levels"]):
            scores = create("f1_radgraph", graph_model=str(path), level=level, case=case).score(*texts)
            assert scores.values[0] == pytest.approx(PACKAGE[case]["capital with a relation"][position])
            assert scores.details[0].f1 == scores.values[0]
    combined = create("radgraph_combined", graph_model=str(path)).score(*texts)
    assert combined.details[0]["entities"].common == 2
    assert combined.values[0] == pytest.approx((2 / 3 + 1 / 2) / 2)  # mild-edema is lost with its capital
