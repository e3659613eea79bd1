"""What the printed scores of two hospitals allow."""

import numpy as np
import pytest

from notebooks.rales.nlu_scores import bound_stanford_share
from radeval_lib import study


def test_one_share_of_hospitals_must_do_for_all_means() -> None:
    table12, table4 = study.printed("rales.table12"), study.printed("rales.table4")
    legible, whole = table12[table12["value"].notna()], table4[table4["dataset"] == "MEDIQA 2021"]
    # The row Prior SOTA bounds most: .277 and .596 for .436, each to half of 0.001.
    expected = (0.5955 - 0.4365) / 0.319, (0.5965 - 0.4355) / 0.319
    assert bound_stanford_share(legible, whole) == pytest.approx(expected)
    ahead = (whole["model"] == "Prior Baseline") & (whole["metric"] == "R-2")
    low, high = bound_stanford_share(legible, whole.assign(value=np.where(ahead, 0.280, whole["value"])))
    assert low > high
