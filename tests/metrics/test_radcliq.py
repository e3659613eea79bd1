"""RadCliQ from component scores, by values of the released models to 3 digits, and of texts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from radeval_lib.data.radgraph import make_annotation
from radeval_lib.metrics import create
from radeval_lib.metrics.radcliq import MODELS, compute_bleu2, compute_radcliq

pytestmark = pytest.mark.usefixtures("one_thread")

TINY = str(Path(__file__).resolve().parents[1] / "reference" / "ratescore" / "tiny_ner")
GRAPHS = {
    "a": make_annotation(["Mild", "edema", "."], [(0, 1, "OBS-DP"), (1, 2, "OBS-DP")], [(0, 1, "modify")]),
    "b": make_annotation(["No", "edema", "."], [(1, 2, "OBS-DA")], []),
}
UNIT = st.floats(0, 1)


@pytest.mark.parametrize(
    ("version", "perfect", "worst"),
    [("v0", -0.242, 5.516), ("v1", -1.441, 2.450)],  # all components 1, all components 0
)
def test_released_values(version: str, perfect: float, worst: float) -> None:
    values = compute_radcliq([[1, 1, 1, 1], [0, 0, 0, 0]], version)
    np.testing.assert_allclose(values, [perfect, worst], atol=5e-4)


@pytest.mark.parametrize("version", MODELS)
def test_components_and_their_model(version: str, tmp_path: Path) -> None:
    path = tmp_path / "graphs.json"
    path.write_text(json.dumps(GRAPHS), encoding="utf-8")
    metric = create(
        "radcliq",
        version=version,
        graph_model=str(path),
        encoder=TINY,
        layer=None,
        baseline=0.5,
        device="cpu",
    )
    references, candidates = ["Mild edema."] * 3, ["Mild edema.", "No edema.", ""]
    scores = metric.score(references, candidates)
    same, other, empty = scores.details
    assert same == pytest.approx({"radgraph_combined": 1, "bertscore": 1, "semb": 1, "bleu2": 1}, abs=1e-4)
    assert other["radgraph_combined"] == 0
    assert (empty["radgraph_combined"], empty["bleu2"]) == (0, 0)
    rows = [list(row.values()) for row in scores.details]
    np.testing.assert_allclose(scores.values, compute_radcliq(rows, version))
    assert scores.values[0] < scores.values[1]
    assert not metric.higher_is_better


def test_bleu2_by_hand() -> None:
    assert compute_bleu2("No edema.", "no Edema .") == pytest.approx(1)
    # Two of three words and no pair of words: (2/3 * 0.1/2) ** (1/2), as fast-bleu smooths.
    assert compute_bleu2("edema is mild", "mild big edema") == pytest.approx((2 / 3 * 0.05) ** 0.5)
    # Shorter by half: exp(1 - 4/2).
    assert compute_bleu2("mild edema is seen", "mild edema") == pytest.approx(np.exp(-1))
    assert compute_bleu2("", "edema") == compute_bleu2("edema", "") == compute_bleu2("edema", "clear") == 0
