"""Verdicts, recorded results, and what the scorecard makes of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from radeval_lib.errors import LedgerError, NotebookError, ParameterError, ProfileError, ResultError
from radeval_lib.papers.exhibits import of_notebook
from radeval_lib.study import audit, begin, check_value, ledger, record, scorecard, totals
from radeval_lib.study.display import verdict_sentence
from radeval_lib.study.profiles import profile
from radeval_lib.study.recording import judge, read, read_all
from radeval_lib.study.runs import Run

NOTEBOOK = "facts/fact_counting"
YES, NO = check_value("agrees", "2", 2), check_value("differs", "2", 3)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return begin(NOTEBOOK, profile="smoke", seed=0, output_dir=str(tmp_path))


def _exhibit() -> str:
    return of_notebook(NOTEBOOK)[0].id


@pytest.mark.parametrize(
    ("evidence", "checks", "verdict"),
    [
        ("print", [YES], "reproduced"),
        ("open", [YES, NO], "differs"),
        ("synthetic", [YES], "shape only"),  # never called a reproduction
        ("synthetic", [NO], "shape only"),
    ],
)
def test_verdicts_are_earned(evidence: str, checks: list, verdict: str) -> None:
    assert judge(evidence, checks) == verdict


def test_what_stands_in_reproduces_nothing(run: Run) -> None:
    words = run.stand_in({"rated_pairs": "rate_eval/paragraph", "encoder": "packaged-minilm"})
    assert words == "rated pairs from the generator, not RaTE-Eval"
    assert run.stand_in({"rated_pairs": "synthetic"}) == ""
    assert run.source("rated_pairs") == "the generator"
    public = replace(run, profile=profile("open"))
    assert public.source("rated_pairs") == "RadPref"
    assert public.stand_in({"rated_pairs": "rexval/errors"}) == "rated pairs from RadPref, not ReXVal"
    shown = record(run, _exhibit(), evidence="open", checks=[NO], stand_in=words)
    printed = record(run, _exhibit(), evidence="print", checks=[YES])
    assert shown.verdict == "shape only"
    assert words in verdict_sentence(shown)
    card = scorecard([shown, printed]).set_index("exhibit").loc[_exhibit()]
    assert (card["status"], card["evidence"]) == ("reproduced", "print")
    assert audit([shown, printed])["shape"].tolist() == [True, False]


def test_a_verdict_needs_checks_with_names_of_their_own() -> None:
    with pytest.raises(ResultError, match="earns no verdict"):
        judge("print", [])
    with pytest.raises(ResultError, match="two checks are called"):
        judge("print", [YES, YES])
    with pytest.raises(ResultError, match="unknown evidence"):
        judge("hearsay", [YES])


def test_what_is_recorded_is_read_back(run: Run) -> None:
    written = record(run, _exhibit(), evidence="print", checks=[YES, NO], remaining="the rest needs  people.")
    (back,) = read_all(run.output_dir)
    assert back == written
    assert back.provenance["seed"] == run.profile.seed
    assert back.remaining == "the rest needs people."
    assert not list(run.output_dir.rglob("*.part"))


def test_the_sentence_says_what_was_found(run: Run) -> None:
    whole = record(run, _exhibit(), evidence="print", checks=[YES])
    assert verdict_sentence(whole).startswith(
        "Reproduced, recomputed from printed numbers: the one check agrees"
    )
    part = replace(whole, remaining="The rest needs people.")
    assert "in part" in verdict_sentence(part)
    assert verdict_sentence(part).endswith("Not rebuilt: The rest needs people.")
    assert "1 of 2 checks differs" in verdict_sentence(replace(whole, verdict="differs", checks=(YES, NO)))


def test_an_exhibit_belongs_to_one_notebook(run: Run) -> None:
    with pytest.raises(ResultError, match="belongs to notebook"):
        record(run, "rales.table3", evidence="print", checks=[YES])
    with pytest.raises(LedgerError, match="unknown exhibit"):
        record(run, "facts.table9", evidence="print", checks=[YES])


def test_a_changed_or_cut_file_is_refused(run: Run) -> None:
    record(run, _exhibit(), evidence="print", checks=[YES])
    (path,) = run.output_dir.rglob("*.json")
    whole = path.read_text(encoding="utf-8")
    for broken in (whole[:200], "", "[]", whole.replace('"verdict": "reproduced"', '"verdict": "differs"')):
        path.write_text(broken, encoding="utf-8")
        with pytest.raises(ResultError, match="Delete it"):
            read(path)


def test_the_scorecard_has_every_exhibit_and_its_strongest_evidence(run: Run) -> None:
    record(run, _exhibit(), evidence="synthetic", checks=[NO])
    record(run, _exhibit(), evidence="print", checks=[YES], remaining="people.")
    card = scorecard(read_all(run.output_dir)).set_index("exhibit")
    assert list(card.index) == list(ledger())
    row = card.loc[_exhibit()]
    assert (row["status"], row["evidence"], row["synthetic"]) == ("reproduced in part", "print", "shape only")
    assert (card.drop(_exhibit())["status"] == "not attempted").all()
    assert totals(card.reset_index()).loc["all papers", "all"] == len(ledger())
    assert len(audit(read_all(run.output_dir))) == 2


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"profile": "nope"}, ProfileError),
        ({"seed": -1}, ParameterError),
        ({"seed": True}, ParameterError),
        ({"notebook": "facts/nope"}, NotebookError),
    ],
)
def test_parameters_are_checked(change: dict[str, object], error: type[Exception]) -> None:
    settings: dict[str, object] = {"notebook": NOTEBOOK, "profile": "smoke", "seed": 0, **change}
    with pytest.raises(error):
        begin(**settings)  # type: ignore[arg-type]


def test_random_streams_are_their_own(run: Run) -> None:
    assert run.rng("a").random() == run.rng("a").random()
    assert run.rng("a").random() != run.rng("b").random()
    assert replace(run, seed=run.seed + 1).rng("a").random() != run.rng("a").random()
