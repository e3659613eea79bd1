"""Exhibits as objects: what a block checks is shown and recorded at its end, or nothing is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from radeval_lib import study
from radeval_lib.errors import LedgerError, ResultError
from radeval_lib.papers.exhibits import exhibit
from radeval_lib.study.checks import check_statement
from radeval_lib.study.page_runs import PageRun
from radeval_lib.study.results import read_all

ID = "rales.table3"


@pytest.fixture
def run(tmp_path: Path) -> PageRun:
    return study.begin("rales/nlu_scores", profile="smoke", seed=0, output_dir=str(tmp_path))


def test_a_block_records_its_checks(run: PageRun, capsys: pytest.CaptureFixture[str]) -> None:
    with run.exhibit(ID, "printed") as table:
        table.value("mean", "64.2", 64.21)
        table.states("order", "A leads", "B leads by 2.0", False)
    (back,) = read_all(run.output_dir)
    assert back == table.result
    assert [check.outcome for check in back.checks] == ["holds", "fails"]
    assert back.remaining == exhibit(ID).remaining_on("printed") != ""


def test_a_block_that_fails_or_checks_nothing_records_nothing(run: PageRun) -> None:
    with pytest.raises(ZeroDivisionError), run.exhibit(ID, "printed") as table:
        table.value("mean", "64.2", 1 / 0)
    with pytest.raises(ResultError), run.exhibit(ID, "printed"):
        pass
    assert not read_all(run.output_dir)


def test_an_exhibit_of_another_page_is_refused_at_once(run: PageRun) -> None:
    with pytest.raises(ResultError), run.exhibit("green.table1", "printed"):
        pytest.fail("the block must not run")
    with pytest.raises(LedgerError), run.exhibit("rales.table99", "printed"):
        pytest.fail("the block must not run")


@pytest.mark.parametrize(
    ("parts", "holds"),
    [
        ((True, check_statement("order", "A leads", "A leads", True)), True),
        ((np.bool_(True), None), None),
        ((None, check_statement("order", "A leads", "B leads", False)), False),
        ((), None),
    ],
)
def test_a_claim_needs_every_part(run: PageRun, parts: tuple[object, ...], holds: bool | None) -> None:
    box = run.claim("lead", *parts)
    assert json.loads((run.results_dir / "claim_lead.json").read_text()) == {"holds": holds}
    assert (box is None) == (holds is True)
