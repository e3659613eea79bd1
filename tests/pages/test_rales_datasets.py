"""Label schemes, and lengths of reports."""

from pathlib import Path

from radeval_lib import study
from radeval_lib.jobs.rales import datasets


def test_names_are_found_whatever_their_signs() -> None:
    names = datasets.italic("labels *located at, modify* and *suggestive-of*")
    assert names == ["located at", "modify", "suggestive-of"]
    assert datasets.named_in(names, "Located_At; suggestive of") == ["located at", "suggestive-of"]


def test_other_shares_that_would_decide_the_same() -> None:
    assert datasets.same_outcomes([(0.6, 0.7), (0.06, 0.08), (0.0001, 0.002)], 0.01) == (0.002, 0.06)
    assert datasets.same_outcomes([(0.005, 0.3)], 0.01) == (0.005, 0.3)  # inconclusive within
    assert datasets.same_outcomes([(0.5, 0.7)], 0.01) == (0.0, 0.5)
    assert datasets.same_outcomes([(0.5, 0.7)], 0.5) == (0.5, 0.5)  # any other share moves past the end


def test_sources_are_counted_as_the_prose_names_them() -> None:
    table1 = study.printed("rales.table1")
    told = [quote for _, quote in study.quotations("rales.table1")]
    found = {check.key.row: check.outcome for check in datasets.check_sources(table1, told)}
    assert found.pop("MEDIQA 2021") == "inconclusive"  # three, or two of the test reports
    assert set(found.values()) == {"holds"}
    assert len(found) == 5
    first = datasets.check_sources(table1, [quote.replace("CheXpert", "") for quote in told])[0]
    assert (first.key.row, first.outcome) == ("RadGraph", "fails")


def test_body_parts_are_those_of_the_prose() -> None:
    printed = study.printed("rales.table6").assign(part=lambda t: t["modality"] + " " + t["body_part"])
    counts = study.wide(printed, "part", "split")
    told = [words for _, words in study.quotations("rales.table6")]
    parts, unseen = datasets.check_parts(counts, told)
    assert parts.outcome == "inconclusive"  # necks and pelvises, too, which the prose may leave out
    assert parts.computed.endswith("besides: pelvis, neck")
    assert (unseen.outcome, unseen.computed[:7]) == ("holds", "5 of 11")
    some = counts[~counts.index.str.contains("Neck|elvis")]
    assert datasets.check_parts(some, told)[0].outcome == "holds"
    of_training = counts[counts["train"] > 0]
    parts, unseen = datasets.check_parts(of_training, told)
    assert (parts.outcome, unseen.outcome) == ("fails", "fails")  # no sinuses, and nothing unseen


def test_of_a_recorded_set_only_the_table_of_its_records_is_noted(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    where = {"output_dir": str(tmp_path / "out"), "data_root": str(tmp_path / "data")}
    run = study.begin("rales/datasets", profile="smoke", seed=0, **where)
    records, evidence = run.public("openi")
    assert (len(records), evidence) == (3851, "recorded")
    assert [Path(name).name for name in run.reading.files["openi"]] == ["openi.csv"]
