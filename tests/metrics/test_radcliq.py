"""RadCliQ from component scores; expected values computed with the released models, to 3 digits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radeval_lib.metrics.radcliq import MODELS, radcliq

UNIT = st.floats(0, 1)


@pytest.mark.parametrize(
    ("version", "perfect", "worst"),
    [("v0", -0.242, 5.516), ("v1", -1.441, 2.450)],  # all components 1, all components 0
)
def test_released_values(version: str, perfect: float, worst: float) -> None:
    values = radcliq([[1, 1, 1, 1], [0, 0, 0, 0]], version)
    np.testing.assert_allclose(values, [perfect, worst], atol=5e-4)


@pytest.mark.parametrize("version", MODELS)
@given(UNIT, UNIT, UNIT, UNIT)
def test_lower_is_better(version: str, graph: float, bert: float, semb: float, bleu: float) -> None:
    base = np.array([graph, bert, semb, bleu])
    better = base + np.array([0.1, 0.1, 0.1, 0])
    low, high = radcliq([better, base], version)
    assert low < high


def test_mean_components_give_the_intercept() -> None:
    for version, model in MODELS.items():
        assert radcliq([model.means], version)[0] == pytest.approx(model.intercept)


def test_bleu_raises_v0_and_leaves_v1_alone() -> None:
    pair = np.array([[0.5, 0.5, 0.5, 0.0], [0.5, 0.5, 0.5, 1.0]])
    assert np.diff(radcliq(pair, "v0"))[0] == pytest.approx(0.21659 / 0.30337)
    assert np.diff(radcliq(pair, "v1"))[0] == pytest.approx(0, abs=1e-10)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="versions: v0, v1"):
        radcliq([[1, 1, 1, 1]], "v2")
    for shapeless in ([1, 1, 1, 1], [[1], [2]], 1.0):
        with pytest.raises(ValueError, match=r"give a shape of \(n, 4\)"):
            radcliq(shapeless)
    with pytest.raises(ValueError, match="missing or not finite"):
        radcliq([[1, 1, np.nan, 1]])
