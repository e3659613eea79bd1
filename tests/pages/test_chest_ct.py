"""What is read in chest CT reports: counted by hand on two invented ones, and on those labelled by hand."""

from __future__ import annotations

import math

import pytest

from notebooks.green.chest_ct import ALL, measure_agreement
from radeval_lib.data.ct_labels import FILE, LabelledReport, load


def test_two_reports_counted_by_hand():
    labels = frozenset({"Emphysema", "Pleural effusion", "Hiatal hernia"})
    texts = "Small left pleural effusion. The heart is enlarged.", "No effusion. Emphysema."
    reports = zip("12", texts, (frozenset({"Cardiomegaly"}), labels), strict=True)
    table = measure_agreement([LabelledReport(*report) for report in reports])
    assert list(table.loc["Cardiomegaly", ["labelled", "read", "both", "F1"]]) == [1, 1, 1, 1]
    assert list(table.loc["Pleural effusion", ["labelled", "read", "both", "F1"]]) == [1, 1, 0, 0]
    assert list(table.loc["Emphysema", ["labelled", "read", "both"]]) == [1, 1, 1]
    assert math.isnan(table.loc["Consolidation", "precision"])
    # Hiatal hernia has no observation, so three labels count; of three that are read two are among them.
    assert list(table.loc[ALL, ["labelled", "read", "both"]]) == [3, 3, 2]
    assert table.loc[ALL, "F1"] == pytest.approx(2 / 3)


def test_reports_labelled_by_hand(data_root):
    path = data_root / "ct_labels" / FILE
    if not path.is_file():
        pytest.skip(f"the data root has no ct_labels/{FILE}")
    table = measure_agreement(load(path)).loc[
        ["Cardiomegaly", "Atelectasis", "Consolidation", "Pleural effusion"]
    ]
    sums = table.sum()
    assert 2 * sums["both"] / (sums["read"] + sums["labelled"]) >= 0.95  # measured: 0.970
    assert (table["precision"] >= 0.9).all()
