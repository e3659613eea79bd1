"""Every role is filled without any data file, and real files fill roles where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from radeval_lib import registry
from radeval_lib.data.errors import AbsentDataError
from radeval_lib.data.records import AnnotatedSentence
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics.green import parse
from radeval_lib.roles import ROLES, RoleError, evidence, filling, generated, load
from radeval_lib.rules.generator import green_pairs, tokenize
from radeval_lib.study.profiles import names, profile
from tests.data import samples


@pytest.mark.parametrize("role", [role for role, filled in ROLES.items() if filled.generator])
def test_the_generator_fills_the_role_reproducibly(role: str) -> None:
    records = load(role, "synthetic", size=12, seed=3, root=None)
    assert records
    assert all(isinstance(record, registry.find(ROLES[role].record)) for record in records)
    assert records == load(role, "synthetic", size=12, seed=3, root=None)
    assert records != load(role, "synthetic", size=12, seed=4, root=None)


@pytest.mark.parametrize("name", names())
def test_profiles_fill_every_role_with_something_known(name: str) -> None:
    settings = profile(name)
    assert set(settings.roles) == set(ROLES)
    for role, filler in settings.roles.items():
        assert evidence(filler) in {"synthetic", "recorded", "absent", "open", "credentialed"}
        assert filler != "synthetic" or settings.sizes[role] > 0


def test_the_default_profile_needs_no_data() -> None:
    for role, filler in profile("embedded").roles.items():
        if filler != "absent":
            assert load(role, filler, size=4, seed=0, root=None)
    lacking = [role for role, filler in profile("embedded").roles.items() if filler == "absent"]
    assert lacking == ["error_counts", "note_judgements"]


def test_no_rating_is_generated() -> None:
    rated = [role for role, filled in ROLES.items() if not filled.generator]
    assert rated == [
        *("edited_reports", "rated_sentences", "rated_paragraphs", "rated_pairs", "rated_errors"),
        *("error_counts", "fact_ratings", "note_judgements"),
    ]
    for role in rated:
        with pytest.raises(RoleError, match="the generator rates nothing"):
            load(role, "synthetic", size=4, seed=0, root=None)


def test_texts_come_from_any_ratings(data_root: Path) -> None:
    for filler, size, group in (("radpref/grade", 200, 2), ("mts_dialog", 400, 4)):
        pairs = load("text_pairs", filler, size=0, seed=0, root=data_root)
        assert len(pairs) == size
        assert len({one.case for one in pairs}) == size // group


@pytest.mark.parametrize(
    ("role", "filler"),
    [(role, filler) for role, filler in profile("open").roles.items() if filler != "synthetic"],
)
def test_public_files_fill_their_roles(role: str, filler: str, data_root: Path) -> None:
    try:
        records = load(role, filler, size=0, seed=0, root=data_root)
    except RoleError:
        pytest.skip(f"the data root does not hold {filler}")
    assert all(isinstance(record, registry.find(ROLES[role].record)) for record in records)


def test_what_cannot_fill_a_role_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RoleError, match="unknown role 'juror'"):
        load("juror", "synthetic", size=1, seed=0, root=None)
    with pytest.raises(RoleError, match="'hearsay' cannot fill"):
        load("reports", "hearsay", size=1, seed=0, root=None)
    with pytest.raises(RoleError, match="needs a data root"):
        load("reports", "openi", size=1, seed=0, root=None)
    with pytest.raises(RoleError, match="radbook data status openi"):
        load("reports", "openi", size=1, seed=0, root=tmp_path)


def test_spatial_roles_join_their_indicator() -> None:
    for document in load("spatial_corpus", "synthetic", size=20, seed=0, root=None):
        for relation in document.relations:
            assert document.entities[relation.head].label == "Indicator"
            assert document.entities[relation.tail].label == relation.label


def test_written_analyses_parse_to_their_gold_counts() -> None:
    pairs = green_pairs(15, 1)
    for record, pair in zip(generated.judged_pairs(15, 1), pairs, strict=True):
        read = parse(record.analysis, mode="strict")
        assert read.faults == ()
        assert read.significant == tuple(pair.comparison.count(True).values())
        assert read.insignificant == tuple(pair.comparison.count(False).values())
        agreed = len(pair.comparison.matched) + len(pair.comparison.agreed_negatives)
        assert read.matched == agreed


def _reports(rows: list[AnnotatedSentence]) -> set[tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for row in rows:
        report = row.id.partition("/")[0]
        found[report] = found.get(report, ()) + tuple(row.tokens)
    return set(found.values())


def test_a_model_is_not_tried_on_reports_that_it_learned_from() -> None:
    taught = _reports(load("ner_corpus", "synthetic", size=60, seed=1, root=None))
    tried = load("reports", "synthetic", size=60, seed=1, root=None)
    assert not taught & {tokenize(reveal(one.findings)) for one in tried}
    # Drawn from one stream the two would share reports.
    same = _reports(list(generated.ner_corpus(60, 1)))
    assert same & {tokenize(reveal(one.findings)) for one in generated.reports(60, 1)}


def test_of_a_joined_filler_the_part_that_is_there_is_taken(tmp_path: Path) -> None:
    both = "mediqa2021_mimic_cxr+mediqa2021"
    assert filling.present(both, tmp_path) == ""
    with pytest.raises(AbsentDataError, match=r"MEDIQA-2021 .* is not in the data root. .*data status"):
        load("summaries", both, size=0, seed=0, root=tmp_path)
    (tmp_path / "mediqa2021").mkdir()
    (tmp_path / "mediqa2021/dev.json").write_bytes(samples.json_bytes(samples.MEDIQA))
    assert filling.present(both, tmp_path) == "mediqa2021_mimic_cxr"
    assert len(load("summaries", both, size=0, seed=0, root=tmp_path)) == 2
    assert filling.present("synthetic", None) == "synthetic"


def test_a_file_that_gives_no_record_of_the_role_is_named(tmp_path: Path) -> None:
    (tmp_path / "rexval").mkdir()
    reports = tmp_path / "rexval" / "50_samples_gt_and_candidates.csv"
    reports.write_bytes(samples.csv_bytes(samples.REXVAL_REPORTS))
    with pytest.raises(AbsentDataError, match=r"ReXVal, .* is there only in part"):
        load("error_counts", "rexval", size=0, seed=0, root=tmp_path)


@pytest.mark.parametrize(
    ("role", "filler", "said"),
    [
        (
            "rated_pairs",
            "recorded/radpref/grades",
            "holds nothing that fills it. Scales: error_share, errors, grade",
        ),
        ("rated_pairs", "recorded/openi", "'recorded/openi' holds nothing that fills it"),
        ("reports", "openi+openi", "names a part twice"),
        ("reports", "synthetic", "size is 0"),
    ],
)
def test_a_filler_that_gives_nothing_or_things_twice_is_refused(role: str, filler: str, said: str) -> None:
    with pytest.raises(RoleError, match=said):
        load(role, filler, size=0, seed=0, root=None)


def test_a_scale_that_a_data_set_has_not_is_not_missing_data(data_root: Path) -> None:
    with pytest.raises(RoleError, match="'openi/grade' holds nothing") as caught:
        load("reports", "openi/grade", size=0, seed=0, root=data_root)
    assert not isinstance(caught.value, AbsentDataError)


def test_of_several_parts_the_least_open_decides_on_the_evidence() -> None:
    assert evidence("recorded/radpref+rexval") == evidence("rexval+recorded/radpref") == "credentialed"
    assert evidence("synthetic+openi") == "open"
