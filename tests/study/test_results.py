"""Verdicts, recorded results, and what the scorecard makes of them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from radeval_lib import checksums, study
from radeval_lib.errors import LedgerError, NotebookError, ParameterError, ProfileError, ResultError
from radeval_lib.pages.across import at_a_glance
from radeval_lib.papers.exhibits import of_notebook
from radeval_lib.study import (
    audit,
    begin,
    check_statement,
    check_value,
    ledger,
    pages,
    record,
    scorecard,
    verdicts,
)
from radeval_lib.study.checks import Check
from radeval_lib.study.display import _as_printed, exhibit_html, verdict_sentence
from radeval_lib.study.profiles import profile
from radeval_lib.study.results import judge, read, read_all
from radeval_lib.study.runs import Run

NOTEBOOK = "facts/fact_counting"
YES, NO = check_value("holds", "2", 2), check_value("fails", "2", 3)
UNTOLD = check_statement("cannot tell", "more", "no interval", None)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return begin(NOTEBOOK, profile="smoke", seed=0, output_dir=str(tmp_path))


def _exhibit() -> str:
    return of_notebook(NOTEBOOK)[0].id


@pytest.mark.parametrize(
    ("evidence", "checks", "stand_in", "remaining", "verdict"),
    [
        ("print", [YES], "", "", "consistent"),  # arithmetic reproduces nothing
        ("released", [YES], "", "", "consistent"),
        ("print", [YES], "", "people.", "consistent in part"),
        ("print", [YES, UNTOLD], "", "", "consistent in part"),
        ("released", [YES, NO, UNTOLD], "", "people.", "inconsistent"),
        ("open", [YES], "", "", "reproduced"),
        ("credentialed", [YES], "", "people.", "reproduced in part"),
        ("open", [YES, NO], "", "", "differs"),
        ("synthetic", [], "generated reports", "people.", "own experiment"),
        ("open", [YES], "other reports", "", "holds on other data"),
        ("open", [YES], "other reports", "people.", "holds in part on other data"),
        ("open", [NO], "other reports", "", "fails on other data"),
        ("print", [UNTOLD], "", "", "cannot tell"),
    ],
)
def test_verdicts_are_earned(
    evidence: str, checks: list, stand_in: str, remaining: str, verdict: str
) -> None:
    assert judge(evidence, checks, remaining=remaining, stand_in=stand_in) == verdict
    assert verdict in verdicts.VERDICTS


def test_an_open_convention_contradicts_nothing() -> None:
    convention, slip = {NO.name: ("definition", "two readings")}, {NO.name: ("paper", "a slip")}
    assert judge("print", [NO], causes=convention) == "cannot tell"
    assert judge("print", [YES, NO], causes=convention) == "consistent in part"
    assert judge("open", [YES, NO], causes=slip) == "differs"


def test_each_word_states_one_outcome() -> None:
    assert {verdicts.outcome_of(word) for word in verdicts.VERDICTS} == set(verdicts.OUTCOMES)
    assert verdicts.outcome_of("fails on other data") == verdicts.FAILS
    assert verdicts.outcome_of("cannot tell") == verdicts.CANNOT_TELL


@pytest.fixture
def rated(tmp_path: Path) -> Run:
    """A run of a page that declares rated pairs and models."""
    return begin("ratescore/rated_pairs", profile="smoke", seed=0, output_dir=str(tmp_path))


def test_what_stands_in_reproduces_nothing(rated: Run, run: Run) -> None:
    words = rated.stand_in({"rated_pairs": "rate_eval/paragraph", "encoder": "packaged-minilm-2"})
    assert words == "rated pairs from the generator, not RaTE-Eval"
    assert rated.stand_in({"rated_pairs": "synthetic"}) == ""
    assert rated.source("rated_pairs") == "the generator"
    public = replace(rated, whole_profile=profile("open"))
    assert public.source("rated_pairs") == "RadPref"
    assert public.stand_in({"rated_pairs": "rexval/errors"}) == "rated pairs from RadPref, not ReXVal"
    shown = record(run, _exhibit(), evidence="open", checks=[NO], stand_in=words)
    printed = record(run, _exhibit(), evidence="print", checks=[YES])
    assert shown.verdict == "fails on other data"
    assert words in verdict_sentence(shown)
    card = scorecard([shown, printed]).set_index("exhibit").loc[_exhibit()]
    assert (card["verdict"], card["evidence"]) == ("consistent", "print")


def test_a_model_of_ours_makes_an_experiment_of_real_data(rated: Run) -> None:
    public = replace(rated, whole_profile=profile("open"))
    data, models = {"rated_pairs": "radpref"}, {"encoder": "FremyCompany/BioLORD-2023-C"}
    assert public.basis(data)[0] == "open"
    stands_in = public.basis({"rated_pairs": "rexval/errors"})
    assert stands_in == ("open", "rated pairs from RadPref, not ReXVal", ("rated_pairs",))
    evidence, stand_in, _ = public.basis(data, models)
    assert evidence == "synthetic"
    assert "encoder MiniLM with mean pooling, not FremyCompany/BioLORD-2023-C" in stand_in
    assert rated.basis(data)[0] == "synthetic"


def test_an_experiment_of_our_own_records_no_check(tmp_path: Path) -> None:
    page = study.begin(NOTEBOOK, profile="smoke", seed=0, output_dir=str(tmp_path))
    with page.exhibit(_exhibit(), "synthetic", "generated reports", remaining="People.") as exhibit:
        exhibit.states("cannot be recorded", "more", "less", False)
    page.experiment(of_notebook(NOTEBOOK)[1].id, "generated reports", pd.DataFrame({"f1": [0.5]}))
    first, second = read_all(tmp_path)
    assert (first.verdict, first.checks) == ("own experiment", ())
    assert first.outcome == verdicts.EXPERIMENT
    assert second.table == [{"index": 0, "f1": 0.5}]
    assert "Shown, not judged: a verdict on the paper needs " in exhibit_html(first)
    assert "Made with generated reports." in exhibit_html(first)
    assert "Left open: People." in exhibit_html(first)
    with pytest.raises(ResultError, match="checks nothing that a paper states"):
        judge("synthetic", [YES])


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


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"format": 2}, "results format 2, where 4 is wanted"),
        ({"verdict": "borne out"}, "'borne out' is no verdict of this version"),
        ({"evidence": "hearsay"}, "'hearsay' is no evidence of this version"),
        ({"exhibit": "facts.table99"}, "unknown exhibit 'facts.table99'"),
        ({"notebook": "facts/agreement"}, "the ledger gives"),
        ({"causes": {"fails": ["weather", "It rained."]}}, "'weather' is no cause of this version"),
        ({"checks": [{"name": "of another form"}]}, "cut short or of another version"),
        ({"checks": None}, "cut short or of another version"),
        ({"causes": {"fails": "a slip"}}, "cut short or of another version"),
        ({"a_new_key": 1}, "cut short or of another version"),
    ],
)
def test_a_result_of_another_version_is_refused_in_one_line(
    run: Run, changes: dict[str, object], says: str
) -> None:
    record(run, _exhibit(), evidence="print", checks=[YES, NO])
    (path,) = run.output_dir.rglob("*.print.json")
    content = {**json.loads(path.read_text(encoding="utf-8")), **changes}
    rest = {key: value for key, value in content.items() if key not in ("format", "sha256")}
    content["sha256"] = checksums.of_text(json.dumps(rest, sort_keys=True, ensure_ascii=False))
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ResultError, match=re.escape(says)) as refused:
        read_all(run.output_dir)
    assert "Run `radbook build`" in str(refused.value)


def test_a_result_in_another_pages_folder_is_refused(run: Run) -> None:
    record(run, _exhibit(), evidence="print", checks=[YES])
    (path,) = run.output_dir.rglob("*.print.json")
    path.parent.rename(path.parent.with_name("agreement"))
    with pytest.raises(ResultError, match="these are results of facts/fact_counting, not of this page"):
        read_all(run.output_dir)


def test_the_sentence_says_what_was_found(run: Run) -> None:
    def told(*checks: Check, **change: str) -> str:
        return verdict_sentence(record(run, _exhibit(), evidence="print", checks=checks, **change))

    more = check_value("holds too", "1", 1)
    rests = "On printed numbers, "
    assert told(YES) == f"{rests}the one check holds."
    assert told(YES, more) == f"{rests}both checks hold."
    assert told(YES, UNTOLD) == f"{rests}1 of 2 checks holds and 1 cannot tell."
    assert told(YES, NO, UNTOLD) == f"{rests}1 of 3 checks fails and 1 cannot tell."
    assert told(NO) == f"{rests}the one check fails."
    assert told(UNTOLD) == f"{rests}the one check cannot tell."
    assert told(YES, stand_in="RadPref, not ReXVal").endswith(" Used here: RadPref, not ReXVal.")


def test_the_box_lists_what_fails(run: Run) -> None:
    html = exhibit_html(record(run, _exhibit(), evidence="print", checks=[YES, NO], remaining="People."))
    assert "<p>Not checked: People.</p>" in html
    assert 'class="verdict-box fails"' in html
    assert "fails: printed 2; follows 3<br><em>Cause not known.</em>" in html
    assert html.count("<tr>") == 1  # what holds, folded


def test_a_box_with_many_checks_leads_to_the_audit(run: Run) -> None:
    many = [check_value(f"value {place}", "1", 2) for place in range(9)]
    html = exhibit_html(record(run, _exhibit(), evidence="print", checks=many))
    assert "value 1: printed 1; follows 2, and seven more<br>" in html
    assert f'<a href="../across/audit.html?q=[{_exhibit()}]">All 9 checks</a>' in html
    assert "<tr>" not in html


def test_an_exhibit_belongs_to_one_notebook(run: Run) -> None:
    with pytest.raises(ResultError, match="belongs to notebook"):
        record(run, "rales.table3", evidence="print", checks=[YES])
    with pytest.raises(LedgerError, match="unknown exhibit"):
        record(run, "facts.table9", evidence="print", checks=[YES])


def test_a_changed_or_cut_file_is_refused(run: Run) -> None:
    record(run, _exhibit(), evidence="print", checks=[YES])
    (path,) = run.output_dir.rglob("*.json")
    whole = path.read_text(encoding="utf-8")
    for broken in (
        whole[:200],
        "",
        "[]",
        whole.replace('"verdict": "consistent"', '"verdict": "inconsistent"'),
    ):
        path.write_text(broken, encoding="utf-8")
        with pytest.raises(ResultError, match="Run `radbook build`"):
            read(path)


def test_the_scorecard_has_every_exhibit_and_its_strongest_evidence(run: Run) -> None:
    record(run, _exhibit(), evidence="synthetic", checks=[])
    record(run, _exhibit(), evidence="print", checks=[YES], remaining="people.")
    card = scorecard(read_all(run.output_dir)).set_index("exhibit")
    assert list(card.index) == list(ledger())
    row = card.loc[_exhibit()]
    assert (row["verdict"], row["outcome"], row["evidence"]) == (
        "consistent in part",
        "holds in part",
        "print",
    )
    assert (row["synthetic"], row["checks"], row["failing"], row["undetermined"]) == (
        "own experiment",
        1,
        0,
        0,
    )
    assert (card.drop(_exhibit())["verdict"] == "not attempted").all()
    assert len(audit(read_all(run.output_dir))) == 1


def test_what_cannot_tell_gives_way_to_what_can(run: Run) -> None:
    record(run, _exhibit(), evidence="print", checks=[UNTOLD])
    record(run, _exhibit(), evidence="open", checks=[YES], stand_in="other reports")
    record(run, _exhibit(), evidence="synthetic", checks=[])
    card = scorecard(read_all(run.output_dir)).set_index("exhibit")
    row = card.loc[_exhibit()]
    assert (row["verdict"], row["evidence"]) == ("holds on other data", "open")
    assert (row["print"], row["undetermined"]) == ("cannot tell", 1)


def test_released_numbers_do_not_hide_what_print_contradicts(run: Run) -> None:
    record(run, _exhibit(), evidence="print", checks=[NO])
    record(run, _exhibit(), evidence="released", checks=[YES])
    row = scorecard(read_all(run.output_dir)).set_index("exhibit").loc[_exhibit()]
    assert (row["verdict"], row["evidence"], row["released"]) == ("inconsistent", "print", "consistent")


def test_the_front_page_counts_what_the_verdicts_rest_on(run: Run) -> None:
    first, second = of_notebook(NOTEBOOK)[:2]
    record(run, first.id, evidence="print", checks=[NO])
    record(run, second.id, evidence="open", checks=[YES], stand_in="other reports")
    card = scorecard(read_all(run.output_dir))
    counted = {"rebuilt": 2, "arithmetic": 1, "data": 1, "simulation": 0}
    assert at_a_glance.counts(card) == {"exhibits": len(ledger()), **counted}
    html = pages.tiles(card).data
    assert html.count('class="tile ') == len(ledger())
    assert "<span>inconsistent</span>" in html, "a tile's verdict stands in words beside it"


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


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (
            "*suggestive of*, *located at*, and **modify**",
            "<em>suggestive of</em>, <em>located at</em>, and <strong>modify</strong>",
        ),
        ("the $E1-E2-E3$ column", "the E1-E2-E3 column"),
        ("RadBERT_{1,2} and ELECTRA_{small}", "RadBERT<sub>1,2</sub> and ELECTRA<sub>small</sub>"),
        ("entries: $SEIZURES \\rightarrow CT$ Head \\rightarrow", "entries: SEIZURES → CT Head →"),
        ("5 * 5 < 30, $\\frac{R}{G}$ stays", "5 * 5 &lt; 30, $\\frac{R}{G}$ stays"),
    ],
)
def test_a_quotation_is_shown_as_it_was_printed(words: str, shown: str) -> None:
    assert _as_printed(words) == shown
