"""What the printed averages average, and GPU hours by every reading."""

import numpy as np
import pandas as pd
import pytest

from notebooks.rales.nlu_scores import check_averages, gpu_hours, mean_of_datasets


@pytest.fixture
def table() -> pd.DataFrame:
    cells = {"a": "80.0", "b": "82.0", "c": "84.0", "d": "86.0", "e": "60.0", "f": "70.0", "Avg": "77.0"}
    rows = [("BERT", task, text, float(text), 0.05) for task, text in cells.items()]
    return pd.DataFrame(rows, columns=["model", "task", "printed", "value", "half_width"])


def test_an_average_is_tested_against_all_its_columns_or_all_but_one(table: pd.DataFrame) -> None:
    (every,) = check_averages(table, "Avg")
    assert (every.name, every.outcome) == ("Avg, BERT", "holds")
    (without,) = check_averages(table, "Avg without e", without="e")
    assert without.value == pytest.approx(80.4)
    (datasets,) = check_averages(table, "Avg by dataset", function=mean_of_datasets)
    assert datasets.value == pytest.approx((83 + 60 + 70) / 3)


def test_hours_are_multiplied_by_models_and_settings() -> None:
    hours = gpu_hours({"dygie_hours": 2.0, "stanza_hours": 1.0, "procedure_hours": 3.0}, 10)
    assert hours.loc["DyGIE++ on 1 dataset", "1 setting"] == 60
    assert hours.loc["DyGIE++ on 2 datasets", "3 settings"] == 240


def test_what_is_left_out_and_averaged_has_to_be_there(table: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match=r"needed: .*Proceduer"):
        check_averages(table, "Avg", without="Proceduer")
    with pytest.raises(ValueError, match="needed: one of"):
        check_averages(table[table["task"] != "Avg"], "Avg")
    with pytest.raises(ValueError, match="3 columns"):
        mean_of_datasets(np.ones(3))
