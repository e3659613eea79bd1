"""Our scores of the MoERad file beside those that its repository commits."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from notebooks.across.system_scores import of_system, stratum_of
from radeval_lib.data.recorded import Recording
from radeval_lib.stats.correlations import coefficient

FILE = "MoERad"


def beside_released(
    recording: Recording, ours: str, theirs: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Our scores of the file's outputs and those that its repository commits, each of shape (studies,)."""
    studies = _studies(recording)
    return studies[ours].to_numpy(), studies[f"released {theirs}"].to_numpy()


def against_released(recording: Recording, pairs: Mapping[str, str]) -> pd.DataFrame:
    """Kendall's τ_b of our scores (keys) with those that the repository commits (values), over all studies
    and within strata: ``ours``, ``released``, ``stratum``, ``tau``, ``n``."""
    studies = _studies(recording)
    rows = []
    for ours, theirs in pairs.items():
        for stratum in ("all", "normal", "finding", "other"):
            part = stratum_of(studies, stratum)
            tau = coefficient(part[ours], part[f"released {theirs}"], "kendall")
            rows.append((ours, theirs, stratum, tau, len(part)))
    return pd.DataFrame(rows, columns=["ours", "released", "stratum", "tau", "n"])


def _studies(recording: Recording) -> pd.DataFrame:
    """The file's rows by study, each column of released scores named ``released <name>``."""
    released = recording.parts["released"].set_index("study").add_prefix("released ")
    return of_system(recording.table, FILE).merge(released, left_on="study", right_index=True)
