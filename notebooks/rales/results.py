"""What pages read of the fitted encoders: the cells' tables, joined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from notebooks.rales.benchmark_encoders import title
from radeval_lib.jobs.rales.settings import RalesSettings
from radeval_lib.study.cells import CellOutput

REGIMES = {
    "all": "all labels",
    "tenth": "10 % of labels",
    "hundredth": "1 % of labels",
    "probe": "frozen encoder",
}


def table_of_cells(kept: Sequence[CellOutput], name: str, settings: RalesSettings) -> pd.DataFrame:
    """Return one table of every cell, with the encoder's title in front; cells without it are passed over."""
    frames = [
        one.tables[name].assign(encoder=title(str(one.cell.parameters["encoder"]), settings.shallow_layers))
        for one in kept
        if name in one.tables and len(one.tables[name])
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def logits_of(outputs: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.int64], list[str]]:
    """Return scores, shape (documents, classes), labels and cases of rows of ``outputs``."""
    columns = [column for column in outputs if str(column)[0] == "c" and str(column)[1:].isdigit()]
    scores = outputs[columns].dropna(axis=1, how="all").to_numpy(np.float64)
    return scores, outputs["label"].to_numpy(np.int64), outputs["case"].astype(str).tolist()
