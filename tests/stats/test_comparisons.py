"""Shares of preferences that a metric gets right, and what is refused."""

from __future__ import annotations

import pandas as pd
import pytest

from radeval_lib.stats.comparisons import preferences


@pytest.mark.parametrize(
    ("worse", "message"),
    [({"b": [1, 2]}, "same metrics"), ({"a": [1]}, "shape"), ({"a": [1, float("nan")]}, "missing")],
)
def test_preferences_refuse_what_does_not_belong_together(worse, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        preferences(pd.DataFrame({"a": [1, 2]}), pd.DataFrame(worse))
    with pytest.raises(ValueError, match="shape"):
        preferences(pd.DataFrame({"a": []}), pd.DataFrame({"a": []}))
