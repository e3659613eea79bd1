"""Table 4 by column, and ROUGE-L of worked examples."""

import pandas as pd
import pytest

from radeval_lib import study
from radeval_lib.pages.rales.nlg_scores import column, rouge_by_rule


def test_a_column_leaves_out_what_is_not_printed() -> None:
    table4 = study.printed("rales.table4").assign(cell=lambda t: t["dataset"] + " " + t["metric"])
    found = column(table4, "MEDIQA 2021 R-L", ["GatorTron", "no such model"])
    assert list(found) == ["GatorTron"]


def test_signs_count_by_the_rule() -> None:
    texts = pd.DataFrame({"reference": ["No effusion."], "generated": ["no effusion"]}, index=["1"])
    found = rouge_by_rule(texts).loc["1"]
    assert found["words"] == 1
    assert found["white space"] == pytest.approx(0.5)
