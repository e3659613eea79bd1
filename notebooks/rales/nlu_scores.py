"""The page on the NLU score: what the printed averages average, and what the models cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from numpy.typing import NDArray

from notebooks.rales.printed_scores import SETTINGS
from radeval_lib import plots
from radeval_lib.study.checks import Check, check_groups

OF_SEVEN = "Avg as mean of seven columns"
"""What is checked of the averages of Tables 9, 10 and 11."""
_AVERAGES = {column for _, column in SETTINGS.values()}


def mean_of_datasets(values: NDArray[np.float64]) -> float:
    """Mean over datasets of columns of which RadGraph's four, averaged first, come first."""
    if len(values) < 5:
        raise ValueError(f"{len(values)} columns; give RadGraph's four and those of other datasets")
    return float(np.mean([values[:4].mean(), *values[4:]]))


def check_averages(
    table: pd.DataFrame,
    what: str,
    *,
    function: Callable[[NDArray[np.float64]], float] = np.mean,
    without: str = "",
) -> list[Check]:
    """Whether the average that a table prints follows from its other columns, model by model.

    Parameters
    ----------
    table : Table 3, 9, 10 or 11.
    what : what the checks compare.
    without : a column to leave out; empty for none.

    Raises
    ------
    ValueError
        Where the table has no single column of averages, or lacks the column to leave out.
    """
    columns = list(dict.fromkeys(table["task"]))
    averages = _AVERAGES & set(columns)
    if len(averages) != 1 or (without and without not in columns):
        raise ValueError(
            f"columns {', '.join(columns)}; needed: one of {_AVERAGES} and {without or 'others'}"
        )
    (average,) = averages
    return check_groups(
        table,
        by="model",
        target={"task": average},
        inputs={"task": [column for column in columns if column not in (average, without)]},
        function=function,
        what=what,
    )


def averages_without_a_column(table: pd.DataFrame) -> dict[str, list[Check]]:
    """:func:`check_averages` with each of the other columns left out, by its name."""
    return {
        task: check_averages(table, f"Avg without {task}", without=task)
        for task in dict.fromkeys(table["task"])
        if task not in _AVERAGES
    }


def gpu_hours(hours: Mapping[str, float], models: int) -> pd.DataFrame:
    """GPU hours of so many models, by how often DyGIE++ (rows) and the settings (columns) count; ``hours`` of
    one model are its ``dygie_hours``, ``stanza_hours`` and ``procedure_hours``."""
    others = hours["stanza_hours"] + hours["procedure_hours"]
    readings = {
        f"{settings} setting{'s' * (settings > 1)}": {
            f"DyGIE++ on {datasets} dataset{'s' * (datasets > 1)}": (
                (datasets * hours["dygie_hours"] + others) * models * settings
            )
            for datasets in (1, 2)
        }
        for settings in (1, 3, len(SETTINGS))
    }
    return pd.DataFrame(readings)


def draw_gaps(checks: Mapping[str, Sequence[Check]]) -> Axes:
    """Printed average less the mean of the columns, one dot per model and one row per setting."""
    rows = [
        (setting, check.stated - check.value)
        for setting, own in checks.items()
        for check in own
        if check.stated is not None and check.value is not None
    ]
    gaps = pd.DataFrame(rows, columns=["setting", "gap"])
    look = {"palette": list(plots.PALETTE[:4]), "size": 5, "legend": False}
    ax = sns.swarmplot(gaps, x="gap", y="setting", hue="setting", **look)
    ax.axvspan(-0.1, 0.1, color="#4D4D4D", alpha=0.15, zorder=0)
    ax.set(ylabel="", xlabel="printed average − mean of seven columns (points)")
    sns.despine(left=True)
    return ax
