"""ReXVal's numbers-only error counts, on small files of the GREEN repository's exact format."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from radeval_lib import data
from radeval_lib.data import FormatError, rexval

HEADER = (
    "study_number,origin,error_category,0,1,2,3,4,5,sig_mean_errors,"
    "0,1,2,3,4,5,insig_mean_errors,total_mean_errors"
)


def row(study: int, origin: str, category: int, significant: list[int], insignificant: list[int]) -> str:
    """A row as the file has it: counts and means as Python writes floats."""
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
    def make(lines: list[str], header: str = HEADER, end: str = "\n") -> Path:
        path = tmp_path / "counts.csv"
        path.write_text("\n".join([header, *lines]) + end, encoding="utf-8")
        return path

    return make


def test_both_groups_of_the_doubled_columns_are_kept(write) -> None:
    path = write(rows())
    records = rexval.load(path, pairs=2)
    assert len(records) == 2 * 6 * 12
    first = [record.count for record in records[:12]]
    assert first == [1, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 1]
    assert [record.significant for record in records[:12]] == [True] * 6 + [False] * 6
    # What a reader by name would have returned instead: the insignificant counts, silently.
    by_name = next(csv.DictReader(path.open(encoding="utf-8")))
    assert [float(by_name[str(number)]) for number in range(6)] == [0, 0, 0, 2, 0, 1]


def test_array_sums_and_order(write) -> None:
    lines = rows(studies=2)
    records = rexval.load(write(lines), pairs=4)
    significant = rexval.counts_array(records, "significant")
    assert significant.shape == (4, 6, 6)
    np.testing.assert_array_equal(significant[0, :, 0], [1, 2, 3, 4, 5, 6])
    np.testing.assert_array_equal(significant[:, 0, 5], [0, 0, 1, 1])  # the study's number
    total = rexval.counts_array(records, "total")
    np.testing.assert_array_equal(total - significant, rexval.counts_array(records, "insignificant"))
    shuffled = rexval.load(write(lines[::-1]), pairs=4)
    np.testing.assert_array_equal(rexval.counts_array(shuffled, "total"), total)


def test_a_file_that_pandas_saved_again_reads_the_same(write, tmp_path: Path) -> None:
    path = write(rows())
    again = tmp_path / "again.csv"
    pd.read_csv(path).to_csv(again, index=False)
    assert "0.1" in again.read_text().splitlines()[0]
    assert rexval.load(again, pairs=2) == rexval.load(path, pairs=2)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (HEADER.replace("error_category,", ""), "missing column 'error_category'"),
        (HEADER.replace("0,1,2,3,4,5,insig", "insig"), "missing column '0'"),  # one group only
        (HEADER.replace("study_number,origin", "origin,study_number"), "another order"),
        (HEADER + ",note", "19 columns"),
    ],
)
def test_header_faults_name_the_column(write, header: str, message: str) -> None:
    with pytest.raises(FormatError, match=f"counts.csv, line 1: .*{message}"):
        rexval.load(write(rows(), header=header), pairs=None)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (",2,2.0", ",2,two", "significant count of Expert 0 must be a number, not a text of 3 characters"),
        (",2,2.0", ",2,2.5", "significant count of Expert 0 must be a whole number"),
        (",2,2.0", ",2,-2.0", "significant count of Expert 0 must lie from 0"),
        (",2,2.0", ",2,nan", "significant count of Expert 0 must"),
        (",2,2.0", ",7,2.0", "error_category must lie from 1 to 6"),
        ("bertscore", "rouge", "unknown origin"),
        (",2,2.0", ",2,3.0", "sig_mean_errors is 0.5, but the mean of the significant"),
        (",2,2.0", ",1,2.0", "study 0, bertscore, category 1 already stands in line 2"),
        ("0,bertscore", "x,bertscore", "study_number must be a number"),
    ],
)
def test_bad_cells_name_the_line(write, old: str, new: str, message: str) -> None:
    lines = rows()
    assert old in lines[1]
    lines[1] = lines[1].replace(old, new, 1)
    with pytest.raises(FormatError, match=f"counts.csv, line 3: {message}"):
        rexval.load(write(lines), pairs=None)


def test_a_wrong_total_is_found(write) -> None:
    lines = rows()
    lines[0] = lines[0].rpartition(",")[0] + ",0.9"
    with pytest.raises(FormatError, match=r"line 2: total_mean_errors is 0\.9, but the sum of the two means"):
        rexval.load(write(lines), pairs=None)


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        (lambda text: text[:-40], r"line 13: \d+ cells instead of 18. Is the file cut short"),
        (lambda text: "\n".join(text.split("\n")[:9]) + "\n", "study 0, bleu has no row for category 3"),
        (lambda text: "\n".join(text.split("\n")[:7]) + "\n", "1 report pairs instead of 2"),
        (lambda text: text[: text.index("\n") + 1], "0 report pairs instead of 2"),
        (lambda text: "", "file is empty"),
    ],
)
def test_files_cut_short(write, keep, message: str) -> None:
    path = write(rows())
    path.write_text(keep(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        rexval.load(path, pairs=2)


def test_wrong_encoding_and_absent_file(write, tmp_path: Path) -> None:
    path = write(rows())
    path.write_bytes(path.read_text(encoding="utf-8").encode("utf-16"))
    with pytest.raises(FormatError, match=r"counts.csv, line 1: not UTF-8"):
        rexval.load(path)
    with pytest.raises(FormatError, match="does not exist"):
        rexval.load(tmp_path / "none.csv")


def test_the_public_file_has_the_layout_that_the_papers_state(data_root: Path) -> None:
    path = data.find("rexval_counts", data_root)
    if path is None:
        pytest.skip("the data root lacks rexval/total_mean_error_radiologist_categories.csv")
    significant = rexval.counts_array(rexval.load(path))
    assert significant.shape == (200, 6, 6)
    # GREEN's Table 1, first cell: Experts 0 and 1 differ by 0.505 significant errors on average.
    totals = significant.sum(axis=1)
    assert np.abs(totals[:, 0] - totals[:, 1]).mean() == pytest.approx(0.505)
