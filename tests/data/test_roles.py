"""Every role has a source without any data file, and real files are one where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from radeval_lib import registry
from radeval_lib.data import generated, roles
from radeval_lib.data.errors import AbsentDataError, RoleError
from radeval_lib.data.ratings import tabulate_texts
from radeval_lib.data.records import AnnotatedSentence
from radeval_lib.data.restricted import reveal
from radeval_lib.data.roles import classify, load
from radeval_lib.metrics.green import parse
from radeval_lib.registry import ROLES
from radeval_lib.rules.generator import green_pairs, tokenize
from radeval_lib.study.profiles import profile, profile_names
from tests.data import samples


@pytest.mark.parametrize("role", [role for role, entry in ROLES.items() if entry.generator])
def test_the_generator_gives_the_same_records_for_a_seed(role: str) -> None:
    records = load(role, "synthetic", size=12, seed=3, root=None)
    assert records
    assert all(isinstance(record, registry.find(ROLES[role].record)) for record in records)
    assert records == load(role, "synthetic", size=12, seed=3, root=None)
    assert records != load(role, "synthetic", size=12, seed=4, root=None)


@pytest.mark.parametrize("name", profile_names())
def test_profiles_name_a_source_of_every_role(name: str) -> None:
    settings = profile(name)
    assert set(settings.roles) == set(ROLES)
    for role, source in settings.roles.items():
        assert classify(source) in {"synthetic", "recorded", "absent", "open", "credentialed"}
        assert source != "synthetic" or settings.sizes[role] > 0


def test_the_default_profile_needs_no_data() -> None:
    sources = profile("embedded").roles
    for role, source in sources.items():
        assert source == "absent" or load(role, source, size=4, seed=0, root=None)
    assert [role for role in sources if sources[role] == "absent"] == ["error_counts", "note_judgements"]


@pytest.mark.parametrize(
    ("role", "source"),
    [(role, source) for role, source in profile("open").roles.items() if source != "synthetic"],
)
def test_public_files_give_records_of_their_roles(role: str, source: str, data_root: Path) -> None:
    try:
        records = load(role, source, size=0, seed=0, root=data_root)
    except RoleError:
        pytest.skip(f"the data root does not hold {source}")
    assert all(isinstance(record, registry.find(ROLES[role].record)) for record in records)


@pytest.mark.parametrize(
    ("role", "source"),
    [
        ("juror", "synthetic"),
        ("rated_pairs", "synthetic"),
        ("fact_ratings", "absent"),
        ("reports", "hearsay"),
        ("reports", "openi"),
        ("rated_pairs", "recorded/radpref/grades"),
        ("rated_pairs", "recorded/openi"),
        ("reports", "openi+openi"),
        ("reports", "synthetic"),
    ],
)
def test_a_source_that_gives_nothing_or_things_twice_is_refused(role: str, source: str) -> None:
    with pytest.raises(RoleError) as caught:
        load(role, source, size=0, seed=0, root=None)
    assert role in str(caught.value)


def test_a_scale_that_a_data_set_has_not_is_not_missing_data(data_root: Path) -> None:
    with pytest.raises(RoleError) as caught:
        load("reports", "openi/grade", size=0, seed=0, root=data_root)
    assert not isinstance(caught.value, AbsentDataError)


def test_of_joined_sources_the_part_that_is_there_is_taken(tmp_path: Path) -> None:
    both = "mediqa2021_mimic_cxr+mediqa2021"
    assert roles.keep_loadable(both, tmp_path) == ""
    with pytest.raises(AbsentDataError) as caught:
        load("summaries", both, size=0, seed=0, root=tmp_path)
    assert "radbook data status mediqa2021_mimic_cxr" in caught.value.remedy
    (tmp_path / "mediqa2021").mkdir()
    (tmp_path / "mediqa2021/dev.json").write_bytes(samples.MEDIQA)
    assert roles.keep_loadable(both, tmp_path) == "mediqa2021_mimic_cxr"
    assert len(load("summaries", both, size=0, seed=0, root=tmp_path)) == 2


def test_a_data_set_that_is_there_in_part_is_absent(tmp_path: Path) -> None:
    (tmp_path / "rexval").mkdir()
    reports = tmp_path / "rexval" / "50_samples_gt_and_candidates.csv"
    reports.write_bytes(samples.REXVAL_REPORTS)
    with pytest.raises(AbsentDataError):
        load("error_counts", "rexval", size=0, seed=0, root=tmp_path)


def test_of_several_parts_the_least_open_decides_on_the_evidence() -> None:
    assert classify("recorded/radpref+rexval") == classify("rexval+recorded/radpref") == "credentialed"
    assert classify("synthetic+openi") == "open"


def test_written_analyses_parse_to_their_gold_counts() -> None:
    for record, pair in zip(generated.generate_judged_pairs(15, 1), green_pairs(15, 1), strict=True):
        parsed = parse(record.analysis, mode="strict")
        assert parsed.faults == ()
        assert parsed.significant == tuple(pair.comparison.count(True).values())
        assert parsed.insignificant == tuple(pair.comparison.count(False).values())
        assert parsed.matched == len(pair.comparison.matched) + len(pair.comparison.agreed_negatives)


def test_a_model_is_not_tried_on_reports_that_it_learned_from() -> None:
    def reports(rows: list[AnnotatedSentence]) -> set[tuple[str, ...]]:
        tokens: dict[str, tuple[str, ...]] = {}
        for row in rows:
            tokens[row.report] = tokens.get(row.report, ()) + tuple(map(reveal, row.tokens))
        return set(tokens.values())

    taught = reports(load("ner_corpus", "synthetic", size=60, seed=1, root=None))
    tried = load("reports", "synthetic", size=60, seed=1, root=None)
    assert not taught & {tokenize(reveal(report.findings)) for report in tried}
    # Drawn from one stream the two would share reports.
    same = reports(list(generated.generate_ner_corpus(60, 1)))
    assert same & {tokenize(reveal(report.findings)) for report in generated.generate_reports(60, 1)}


def test_generated_pairs_are_cases_of_four_with_candidates_in_words_of_their_own() -> None:
    table = tabulate_texts(load("text_pairs", "synthetic", size=62, seed=3, root=None))
    assert table.groupby("case", sort=False).size().tolist() == [4] * 15 + [2]
    assert table.groupby("case")["reference"].nunique().eq(1).all()
    kept = [
        len({*reference.split(". ")} & {*candidate.split(". ")}) / len({*reference.split(". ")})
        for reference, candidate in zip(table["reference"], table["candidate"], strict=True)
    ]
    assert sum(kept) / len(kept) < 0.4
