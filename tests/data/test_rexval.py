"""ReXVal's numbers-only error counts, on small files of the GREEN repository's exact format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from radeval_lib import data
from radeval_lib.data import rexval
from radeval_lib.data.errors import FormatError

HEADER = (
    "study_number,origin,error_category,0,1,2,3,4,5,sig_mean_errors,"
    "0,1,2,3,4,5,insig_mean_errors,total_mean_errors"
)


def row(study: int, origin: str, category: int, significant: list[int], insignificant: list[int]) -> str:
    """Return a row as the file has it: counts and means as Python writes floats."""
    first, second = sum(significant) / 6, sum(insignificant) / 6
    cells = [study, origin, category, *map(float, significant), first, *map(float, insignificant), second]
    return ",".join(map(str, [*cells, first + second]))


def rows(studies: int = 1, origins: tuple[str, ...] = ("bertscore", "bleu")) -> list[str]:
    return [
        row(study, origin, category, [category, 0, 0, 0, 1, study], [0, 0, 0, 2, 0, 1])
        for study in range(studies)
        for origin in origins
        for category in range(1, 7)
    ]


@pytest.fixture
def write(tmp_path: Path):
    def make(lines: list[str]) -> Path:
        path = tmp_path / "counts.csv"
        path.write_text("\n".join([HEADER, *lines]) + "\n", encoding="utf-8")
        return path

    return make


def test_both_groups_of_the_doubled_columns_are_kept(write) -> None:
    records = rexval.load_public_counts(write(rows()))
    assert len(records) == 2 * 6 * 12
    first = [record.count for record in records[:12]]
    assert first == [1, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 1]
    assert [record.significant for record in records[:12]] == [True] * 6 + [False] * 6


def test_array_sums_and_order(write) -> None:
    lines = rows(studies=2)
    records = rexval.load_public_counts(write(lines))
    significant = rexval.make_counts_array(records, "significant")
    assert significant.shape == (4, 6, 6)
    np.testing.assert_array_equal(significant[0, :, 0], [1, 2, 3, 4, 5, 6])
    np.testing.assert_array_equal(significant[:, 0, 5], [0, 0, 1, 1])  # the study's number
    total = rexval.make_counts_array(records, "total")
    np.testing.assert_array_equal(total - significant, rexval.make_counts_array(records, "insignificant"))
    shuffled = rexval.load_public_counts(write(lines[::-1]))
    np.testing.assert_array_equal(rexval.make_counts_array(shuffled, "total"), total)


def test_counts_that_make_no_array_are_refused(write) -> None:
    records = rexval.load_public_counts(write(rows()))
    with pytest.raises(FormatError):
        rexval.make_counts_array(records[1:])


def test_the_public_file_has_the_layout_that_the_papers_state(data_root: Path) -> None:
    path = data.find("rexval_counts", data_root)
    if path is None:
        pytest.skip("the data root lacks rexval/total_mean_error_radiologist_categories.csv")
    significant = rexval.make_counts_array(rexval.load_public_counts(path))
    assert significant.shape == (200, 6, 6)
    # GREEN's Table 1, first cell: Experts 0 and 1 differ by 0.505 significant errors on average.
    totals = significant.sum(axis=1)
    assert np.abs(totals[:, 0] - totals[:, 1]).mean() == pytest.approx(0.505)
