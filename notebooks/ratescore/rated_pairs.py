"""Tables of the page on RaTEScore and other ratings."""

from __future__ import annotations

import pandas as pd

from radeval_lib.tables import p_value
from radeval_lib.text_format import with_interval


def with_leads(values: pd.DataFrame, leads: pd.DataFrame) -> pd.DataFrame:
    """Return each row's coefficient, and by how much the row without a lead is above it, as text.

    ``values``, ``leads``: by metric, as :class:`~radeval_lib.stats.correlations.Resampled` gives them.
    """
    coefficients = [with_interval(row.value, row.low, row.high, ".2f") for row in values.itertuples()]
    gaps = [with_interval(row.difference, row.low, row.high, "+.2f") for row in leads.itertuples()]
    table = pd.DataFrame({"coefficient": coefficients}, index=values.index.rename(None))
    table["lead over it"] = pd.Series(gaps, index=leads.index)
    table["p, corrected"] = leads["p_holm"].map(p_value)
    return table.fillna("")
