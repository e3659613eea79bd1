"""Our scores of the MoERad file beside those that its repository commits."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from notebooks.across.real_systems import of_system
from radeval_lib.data.recorded import Recording
from radeval_lib.stats.correlations import coefficient

FILE = "MoERad"


def against_released(recording: Recording, pairs: Mapping[str, str]) -> pd.DataFrame:
    """Return Kendall's τ_b of our scores (keys) with those that the repository commits (values), over all
    studies and within strata: ``ours``, ``released``, ``stratum``, ``tau``, ``n``."""
    released = recording.parts["released"].set_index("study").add_prefix("released ")
    studies = of_system(recording.table, FILE).merge(released, left_on="study", right_index=True)
    strata = {"all": studies, **{str(name): part for name, part in studies.groupby("stratum")}}
    rows = [
        (ours, theirs, stratum, coefficient(part[ours], part[f"released {theirs}"], "kendall"), len(part))
        for ours, theirs in pairs.items()
        for stratum, part in strata.items()
        if stratum != "uncoded"
    ]
    return pd.DataFrame(rows, columns=["ours", "released", "stratum", "tau", "n"])
