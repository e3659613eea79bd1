"""Printed tables cell by cell, and what can be downloaded of them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from radeval_lib.papers.exhibits import ledger
from radeval_lib.papers.printed_numbers import (
    cell,
    find_column_keys,
    has_table,
    parse,
    printed,
)
from radeval_lib.study import Estimate, Key, begin, check_statement, check_value, record
from radeval_lib.study.exhibit_html import cell_outcomes, exhibit_html, table_by_cell
from radeval_lib.study.results import Result, Sample

TABLES = [key for key, entry in ledger().items() if entry.kind in ("table", "figure") and has_table(key)]


@pytest.fixture
def table7(tmp_path: Path) -> Result:
    """RaLEs' Table 7 with a rank that fails, one that holds, and a statement about two cells."""
    run = begin("rales/calibration", profile="smoke", seed=0, output_dir=str(tmp_path))
    frame = printed("rales.table7")
    ranks = {model: cell(frame, model=model, metric="average rank") for model in ("BERT_base", "RadBERT_2")}
    compared = "average rank with all arrows as printed"
    checks = [
        check_value(Key(compared, "BERT_base"), ranks["BERT_base"], Estimate(8.3, 8.0, 8.6), 1),
        check_value(Key(compared, "RadBERT_2"), ranks["RadBERT_2"], Estimate(6.4, 6.3, 6.5), 1),
        check_statement(
            "two values", "equal", "0.065 and 0.045", False,
            cells=[cell(frame, model=model, metric="ECE") for model in ("BERT_base", "BERT_large")],
        ),
    ]  # fmt: skip
    return record(run, "rales.table7", evidence="printed", checks=checks)


def test_every_cell_stands_with_what_follows(table7: Result) -> None:
    cells = cell_outcomes(table7).set_index(["model", "metric"])
    assert len(cells) == len(printed("rales.table7"))
    wrong, right = cells.loc[("BERT_base", "average rank")], cells.loc[("RadBERT_2", "average rank")]
    assert (wrong["printed"], wrong["computed"], wrong["outcome"]) == ("10.8", "8.3 [8.0, 8.6]", "fails")
    assert (wrong["low"], wrong["high"], wrong["discrepancy"]) == (8.0, 8.6, "arrow_of_aklu")
    assert (right["outcome"], right["discrepancy"]) == ("holds", "")
    assert set(cells.loc[[("BERT_base", "ECE"), ("BERT_large", "ECE")], "outcome"]) == {"compared"}
    assert (cells["outcome"] == "").sum() == len(cells) - 4


def test_the_display_marks_what_differs_and_names_the_cause(table7: Result) -> None:
    html = exhibit_html(table7)
    assert html.count('class="compared fails"') == 1
    cell = r'title="All sixteen averages are possible if a low aKLU[^"]*">✗\u00a010\.8<sup>a</sup>'
    assert re.search(cell, html)
    assert '<ol type="a"><li>average rank with all arrows as printed, BERT_base' in html
    assert html.count('class="unchecked"') == len(printed("rales.table7")) - 4
    assert 'id="result-rales-table7-printed"' in html
    assert html.partition("<details")[0].count("<tr>") == 16  # models


def test_a_table_of_which_no_cell_is_compared_is_folded(table7: Result) -> None:
    check = replace(table7.checks[2], cells=(), discrepancy="")
    html = exhibit_html(replace(table7, exhibit="rales.table2", checks=(check,)))
    assert html.index("<details>") < html.index("<table")


def test_of_several_checks_of_a_cell_the_worst_stands(table7: Result) -> None:
    cell_at = cell(printed("rales.table7"), model="BERT_base", metric="average rank")
    twice = (check_value("right", cell_at, 10.8), *table7.checks)
    cells = cell_outcomes(replace(table7, checks=twice)).set_index(["model", "metric"])
    assert cells.loc[("BERT_base", "average rank"), "outcome"] == "fails"


def test_a_cell_is_met_by_its_own_place_alone() -> None:
    check = check_value("r", replace(parse("0.5"), keys=("ECE", "SCE", "added")), 0.5)
    assert check.compares(("ECE", "SCE"))
    assert not check.compares(("ECE", "ECE"))
    assert not check.compares(("SCE", "ECE"))


@pytest.mark.parametrize("key", TABLES)
def test_every_transcription_has_a_layout_that_shows_each_cell_once(key: str, table7: Result) -> None:
    statement = table7.checks[2:]
    shown = replace(table7, exhibit=key, checks=statement, discrepancies={})
    keys = set(printed(key).columns) - {"printed", "value", "half_width"}
    assert set(find_column_keys(key)) < keys
    body = table_by_cell(shown, {}).partition("<tbody>")[2]
    texts = [
        re.sub(r"<[^>]*>", "", cell_html) for cell_html in re.findall(r"<td>(.*?)</td>", body, re.DOTALL)
    ]
    assert sorted(filter(None, texts)) == sorted(printed(key)["printed"])


def test_one_folded_line_has_numbers_command_data_sample_and_seed(table7: Result) -> None:
    html = exhibit_html(replace(table7, samples=(Sample(16, "models", trainings=1),)))
    assert all(f'"../../results/rales.table7.printed.{ending}"' in html for ending in ("csv", "json"))
    assert '"../../results/rales.table7.transcribed.csv">CSV</a> as printed' in html
    assert "@misc{radeval-rales-table7-printed," in html
    assert "<code>radbook run rales/calibration -p profile smoke</code>" in html
    assert re.search(r"data_manifests/papers/rales/table7\.csv <code>[0-9a-f]{64}</code>", html)
    assert "n = 16 models, taken as independent; 1 training run of each model" in html
