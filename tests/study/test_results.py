"""Verdicts, recorded results, and what the scorecard makes of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from radeval_lib import paths, study
from radeval_lib.errors import NotebookError, ParameterError, ProfileError, ResultError
from radeval_lib.papers.exhibits import ledger, list_notebook_exhibits
from radeval_lib.study import begin, verdicts
from radeval_lib.study.checks import Check, Key, check_statement, check_value
from radeval_lib.study.exhibit_html import as_printed, exhibit_html, quote_words
from radeval_lib.study.page_runs import PageRun
from radeval_lib.study.profiles import profile
from radeval_lib.study.results import Discrepancy, coverage, judge, read, read_all, record
from radeval_lib.study.scorecards import audit, scorecard
from radeval_lib.study.superiority import check_superiority
from radeval_lib.study.verdicts import OURS, PAPERS_OWN

NOTEBOOK = "facts/fact_counting"
YES, NO = check_value("holds", "2", 2), check_value("fails", "2", 3)
OPEN_LEAD = Check(Key("lead"), "more", "unknown", "inconclusive", aspect="lead", needed=False)
UNTOLD = check_statement("inconclusive", "more", "no interval", None)


@pytest.fixture
def run(tmp_path: Path) -> PageRun:
    return begin(NOTEBOOK, profile="smoke", seed=0, output_dir=str(tmp_path))


def _exhibit() -> str:
    return next(entry.id for entry in list_notebook_exhibits(NOTEBOOK) if entry.kind == "claim")


@pytest.mark.parametrize(
    ("evidence", "implementation", "substitutes", "checks", "verdict"),
    [
        ("printed", PAPERS_OWN, "", [YES], "consistent"),  # arithmetic reproduces nothing
        ("released", PAPERS_OWN, "", [YES], "consistent"),
        ("printed", PAPERS_OWN, "", [YES, UNTOLD], "inconclusive"),
        ("printed", PAPERS_OWN, "", [YES, OPEN_LEAD], "consistent"),  # the order is the exhibit
        ("printed", PAPERS_OWN, "", [OPEN_LEAD], "inconclusive"),  # nothing holds
        ("released", PAPERS_OWN, "", [YES, NO, UNTOLD], "inconsistent"),
        ("open", PAPERS_OWN, "", [YES], "reproduced"),
        ("credentialed", PAPERS_OWN, "", [YES, OPEN_LEAD], "reproduced"),
        ("open", PAPERS_OWN, "", [YES, NO], "differs"),
        ("open", PAPERS_OWN, "", [UNTOLD], "inconclusive"),
        ("open", PAPERS_OWN, "other reports", [YES], "holds on other data"),
        ("open", PAPERS_OWN, "other reports", [NO, UNTOLD], "fails on other data"),
        ("printed", PAPERS_OWN, "", [UNTOLD], "inconclusive"),
        ("synthetic", OURS, "generated reports", [], "our experiment"),
        ("synthetic", PAPERS_OWN, "generated reports", [], "our experiment"),  # the generator is ours
        ("open", OURS, "a model of ours", [], "our experiment"),  # whatever the data
        ("credentialed", OURS, "", [], "our experiment"),
        ("definition", PAPERS_OWN, "", [], "implemented"),
    ],
)
def test_verdicts_are_earned(
    evidence: str, implementation: str, substitutes: str, checks: list, verdict: str
) -> None:
    assert judge(verdicts.kind(evidence, substitutes, implementation), checks, {}) == verdict
    assert verdict in verdicts.VERDICTS


def test_an_open_convention_contradicts_nothing() -> None:
    discrepancies = {
        "two": Discrepancy("convention", "two readings", "number"),
        "slip": Discrepancy("paper", "a slip", "slip"),
    }
    convention = replace(NO, discrepancy="two", outcome="inconclusive")
    slip = replace(NO, discrepancy="slip")
    assert judge("numbers", [convention], discrepancies) == "inconclusive: depends on the reading"
    assert judge("numbers", [YES, convention], discrepancies) == "inconclusive: depends on the reading"
    assert judge("numbers", [YES, UNTOLD, convention], discrepancies) == "inconclusive"
    assert judge("data", [YES, slip], discrepancies) == "differs"


def test_what_decides_nothing_of_the_exhibit_supports_nothing() -> None:
    assert judge("numbers", [YES], {}, is_supported=False) == "inconclusive"
    assert judge("numbers", [NO], {}, is_supported=False) == "inconsistent"


def test_coverage_by_hand() -> None:
    table = study.printed("rales.table3")
    column = table[table["task"] == "NLU score"].head(2)
    printed_cells = study.cells_in(column)
    checks = [check_value(Key("mean", cell.keys[0]), cell, cell.value) for cell in printed_cells]
    checks.append(check_statement("of the whole table", "ordered", "it is", True))
    of_table = coverage("rales.table3", "printed", checks)
    assert of_table == verdicts.Coverage(2, int(table["value"].notna().sum()), "cells", 0, 1)
    assert of_table.words == "2 of 134 cells, 1 other statement about it"
    order_and_lead = check_superiority("more", "is higher", {"A": 2.0, "B": 1.0}, first="A")
    stated = coverage("facts.def_alpha", "printed", order_and_lead)
    assert (stated.checked, stated.open_leads) == (0, 0), "order and lead are one statement"
    summed = coverage("rales.table3", "printed", [check_value(Key("sum"), "2", 2, cells=printed_cells)])
    assert (summed.checked, summed.n_others) == (0, 1), "inputs of a sum are not decided by it"


@pytest.mark.parametrize(("order_alone", "verdict"), [(True, "consistent"), (False, "inconclusive")])
def test_a_lead_is_needed_where_a_sentence_says_more_than_its_numbers(
    order_alone: bool, verdict: str
) -> None:
    values = {"A": study.parse("0.53"), "B": study.parse("0.52")}
    checks = check_superiority("n", "A is higher than B", values, first="A", order_alone=order_alone)
    assert judge("numbers", checks, {}) == verdict


@pytest.fixture
def rated(tmp_path: Path) -> PageRun:
    """A run of a page that declares rated pairs and models."""
    return begin("ratescore/rated_pairs", profile="smoke", seed=0, output_dir=str(tmp_path))


def test_what_stands_in_reproduces_nothing(rated: PageRun, run: PageRun) -> None:
    words = rated.substitutes({"rated_paragraphs": "rate_eval/paragraph", "encoder": "packaged-minilm-2"})
    assert words == "rated paragraphs from RadPref (paper: RaTE-Eval)"
    assert rated.substitutes({"rated_paragraphs": "recorded/radpref/grade"}) == ""
    assert (rated.source("rated_paragraphs"), rated.evidence("rated_paragraphs")) == ("RadPref", "recorded")
    assert rated.basis({"rated_paragraphs": "rexval/errors"}).evidence == "recorded"
    public = replace(rated, whole_profile=profile("open"))
    assert public.source("rated_paragraphs") == "RadPref"
    rated_by = public.substitutes({"rated_paragraphs": "rexval/errors"})
    assert rated_by == "rated paragraphs from RadPref (paper: ReXVal)"
    shown = record(run, _exhibit(), evidence="open", checks=[NO], substitutes=words)
    printed = record(run, _exhibit(), evidence="printed", checks=[YES])
    cards = [
        scorecard(results).set_index("exhibit").loc[_exhibit()] for results in ([shown], [shown, printed])
    ]
    assert list(cards[0][["verdict", "first_failure"]]) == ["fails on other data", "fails: 2, found 3"]
    assert (cards[1]["verdict"], cards[1]["evidence"]) == ("consistent", "printed")


def test_a_model_of_ours_makes_an_experiment_of_real_data(rated: PageRun) -> None:
    public = replace(rated, whole_profile=profile("open"))
    data, models = {"rated_paragraphs": "radpref"}, {"encoder": "FremyCompany/BioLORD-2023-C"}
    assert public.basis(data)[0] == "open"
    words = "rated paragraphs from RadPref (paper: ReXVal)"
    stands_in = public.basis({"rated_paragraphs": "rexval/errors"})
    assert stands_in == ("open", words, ("rated_paragraphs",), PAPERS_OWN)
    evidence, substitutes, _, implementation = basis = public.basis(data, models)
    assert (evidence, implementation, basis.judged) == ("open", OURS, False)
    assert "encoder MiniLM with mean pooling (paper: FremyCompany/BioLORD-2023-C)" in substitutes
    assert rated.basis(data)[::3] == ("recorded", PAPERS_OWN)


def test_an_experiment_of_our_own_records_no_check(run: PageRun, tmp_path: Path) -> None:
    with run.exhibit(_exhibit(), "synthetic", "generated reports", remaining="People.") as exhibit:
        exhibit.states("cannot be recorded", "more", "less", False)
    run.experiment(list_notebook_exhibits(NOTEBOOK)[0].id, "generated reports", pd.DataFrame({"f1": [0.5]}))
    second, first = read_all(tmp_path)
    assert (first.verdict, first.checks) == ("our experiment", ())
    assert first.outcome == verdicts.EXPERIMENT
    assert second.table == [{"index": 0, "f1": 0.5}]
    assert "People." in exhibit_html(first)


def test_an_infinite_interval_is_recorded_as_json(run: PageRun) -> None:
    check = check_value("n", "2", study.Estimate(2, float("-inf"), float("inf")))
    kept = record(run, _exhibit(), evidence="printed", checks=[YES, check])
    assert read_all(run.output_dir) == [kept]


def test_a_recorded_table_keeps_ten_significant_digits(run: PageRun) -> None:
    # -1e999 is minus infinity, which JSON does not have.
    table = pd.DataFrame({"w": [1148, 1483], "p": [4.8e-15, None], "f": [2 / 3, -1e999]}, index=["a", "b"])
    kept = record(run, _exhibit(), evidence="printed", checks=[YES], table=table)
    assert kept.table[0] == {"index": "a", "w": 1148, "p": 4.8e-15, "f": 0.6666666667}
    assert kept.table[1] == {"index": "b", "w": 1483, "p": None, "f": "-Infinity"}
    assert read_all(run.output_dir)[0].table == kept.table


def test_an_exhibit_rests_on_what_it_names_in_whatever_order_it_was_read(tmp_path: Path) -> None:
    provenances = []
    for tables in (("rrs.table1", "rales.table6"), ("rales.table6", "rrs.table1")):
        page = study.begin("summarization/dataset", profile="smoke", seed=0, output_dir=str(tmp_path))
        for table in tables:
            study.printed(table)
        page.inputs.note_file("openi", paths.ROOT / "README.md")
        page.inputs.note_file("jobs/rales/fitting", paths.ROOT / "LICENSE")
        with page.exhibit("rrs.claim_size", "printed", rests_on=["table1", "rales/table6"]) as claim:
            claim.add(YES)
        provenances.append(claim.result.provenance)
    assert provenances[0] == provenances[1]
    files = ["rales/table6.csv", "rrs/paper.yml", "rrs/table1.csv"]
    assert list(provenances[0]["data"]) == [f"data_manifests/papers/{file}" for file in files]


@pytest.mark.parametrize("name", ["table2", "rales/table6", "openi", "rales/fitting", "encoder"])
def test_an_exhibit_cannot_rest_on_what_was_not_read(tmp_path: Path, name: str) -> None:
    page = study.begin("summarization/dataset", profile="smoke", seed=0, output_dir=str(tmp_path))
    with pytest.raises(ResultError), page.exhibit("rrs.claim_size", "printed", rests_on=[name]) as claim:
        claim.add(YES)
    assert not read_all(tmp_path)


FILES = [("open", {"README.md", "LICENSE"}), ("synthetic", {"LICENSE"})]


@pytest.mark.parametrize(("evidence", "files"), FILES)
def test_our_experiment_rests_on_jobs_and_unless_it_is_generated_on_data(
    run: PageRun, tmp_path: Path, evidence: str, files: set[str]
) -> None:
    run.inputs.note_file("openi", paths.ROOT / "README.md")
    run.inputs.note_file("jobs/rales/fitting", paths.ROOT / "LICENSE")
    run.experiment(_exhibit(), "generated reports", evidence=evidence)
    (result,) = read_all(tmp_path)
    assert {name for name in result.provenance["data"] if "/" not in name} == files


def test_a_paper_that_the_page_does_not_declare_is_refused(run: PageRun) -> None:
    study.printed("green.table1")
    with pytest.raises(NotebookError), run.exhibit(_exhibit(), "printed") as claim:
        claim.add(YES)


def test_a_verdict_needs_checks_with_names_of_their_own() -> None:
    with pytest.raises(ResultError):
        judge("numbers", [], {})
    with pytest.raises(ResultError):
        judge("numbers", [YES, YES], {})
    with pytest.raises(ResultError):
        verdicts.kind("hearsay")


def test_a_changed_or_cut_file_is_refused(run: PageRun) -> None:
    record(run, _exhibit(), evidence="printed", checks=[YES])
    (path,) = run.output_dir.rglob("*.json")
    whole = path.read_text(encoding="utf-8")
    for broken in (whole[:200], "", "[]", whole.replace(': "consistent"', ': "inconsistent"')):
        path.write_text(broken, encoding="utf-8")
        with pytest.raises(ResultError):
            read(path)


def test_the_scorecard_has_every_exhibit_and_its_strongest_evidence(run: PageRun) -> None:
    record(run, _exhibit(), evidence="synthetic", checks=[])
    record(run, _exhibit(), evidence="printed", checks=[YES], remaining="people.")
    card = scorecard(read_all(run.output_dir)).set_index("exhibit")
    assert list(card.index) == list(ledger())
    row = card.loc[_exhibit()]
    assert list(row[["verdict", "outcome", "evidence"]]) == ["consistent", "holds", "printed"]
    assert list(row[["synthetic", "n_checks", "n_failing", "n_inconclusive"]]) == ["our experiment", 1, 0, 0]
    assert (card.drop(_exhibit())["verdict"] == "not checked").all()
    assert len(audit(read_all(run.output_dir))) == 1


@pytest.mark.parametrize("open_on", ["printed", "released"])
def test_printed_and_released_numbers_must_both_hold(run: PageRun, open_on: str) -> None:
    for evidence in ("printed", "released"):
        record(run, _exhibit(), evidence=evidence, checks=[UNTOLD if evidence == open_on else YES])
    row = scorecard(read_all(run.output_dir)).set_index("exhibit").loc[_exhibit()]
    assert (row["verdict"], row["evidence"]) == ("inconclusive", open_on)


def test_an_unknown_profile_or_notebook_or_a_negative_seed_is_refused() -> None:
    with pytest.raises(ProfileError):
        begin(NOTEBOOK, profile="nope", seed=0)
    with pytest.raises(NotebookError):
        begin("facts/nope", profile="smoke", seed=0)
    with pytest.raises(ParameterError):
        begin(NOTEBOOK, profile="smoke", seed=-1)


def test_random_streams_are_their_own(run: PageRun) -> None:
    assert run.rng("a").random() == run.rng("a").random()
    assert run.rng("a").random() != run.rng("b").random()
    assert replace(run, seed=run.seed + 1).rng("a").random() != run.rng("a").random()


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("*located at*, and **modify**", "<em>located at</em>, and <strong>modify</strong>"),
        ("RadBERT_{1,2} and ELECTRA_{small}", "RadBERT<sub>1,2</sub> and ELECTRA<sub>small</sub>"),
        ("entries: $SEIZURES \\rightarrow CT$ Head \\rightarrow", "entries: SEIZURES → CT Head →"),
        ("5 * 5 < 30, $\\frac{R}{G}$ stays", "5 * 5 &lt; 30, $\\frac{R}{G}$ stays"),
        ('headings “ ct head ", “head ct"', "headings ‘ct head’, ‘head ct’"),  # as some papers set them
    ],
)
def test_a_quotation_is_shown_as_it_was_printed(words: str, shown: str) -> None:
    assert as_printed(words) == shown


@pytest.mark.parametrize(
    ("statement", "shown"),
    [
        ("achieves the highest accuracy", "“achieves the highest accuracy”"),
        ("GatorTron … ELECTRA_{small} the worst", "“GatorTron … ELECTRA_{small} the worst”"),
        ("achieves the highest accuracies", "achieves the highest accuracies (our words)"),
        ("achieves the high", "achieves the high (our words)"),  # not to the end of a word
        ("58,091", "58,091"),
    ],
)
def test_what_is_not_verbatim_is_marked_as_our_words(statement: str, shown: str) -> None:
    assert quote_words(statement, "rales.claim_calibration") == shown
