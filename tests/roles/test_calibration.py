"""The generator's ratings are near what ReXVal's radiologists counted, to which they were fitted."""

from __future__ import annotations

import pytest

from radeval_lib.data import data_root
from radeval_lib.pages.across.simulation import counted
from radeval_lib.roles.filling import load


def test_generated_counts_are_near_those_of_rexval() -> None:
    root = data_root(None)
    if root is None:
        pytest.skip("ReXVal's counts are in no data root: set RADEVAL_DATA_ROOT")
    real = counted(load("error_counts", "rexval_counts", size=0, seed=0, root=root))
    made = counted(load("error_counts", "synthetic", size=400, seed=7, root=None))
    far = (made - real).abs()
    assert far.filter(like="share").max() < 0.15
    assert far["errors a candidate"] < 0.5
    assert far["one rater with the others (τ_b)"] < 0.08
