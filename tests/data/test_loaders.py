"""Every loader on a file of its exact format, and on spoiled ones, each of which must name file and place."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from radeval_lib.data import (
    guarded_texts,
    iu_systems,
    mediqa,
    mimic3_rrs,
    mimic_cxr,
    mts_dialog,
    mtsamples,
    openi,
    primock57,
    radgraph,
    radpref,
    radsprl,
    rate_eval,
    rate_ner,
    reading,
    rexval,
    rrs_lines,
)
from radeval_lib.data.errors import DataError, FormatError
from radeval_lib.data.records import Document, Entity, ErrorCount, Relation, Report
from radeval_lib.data.restricted import RestrictedText, reveal
from tests.data import samples
from tests.data.samples import SAMPLES, Sample

SPOILED = [
    pytest.param(sample, content, place, id=f"{sample.name}-{way}")
    for sample in SAMPLES
    for way, (content, place) in sample.spoiled.items()
]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_good_file(sample: Sample, tmp_path: Path) -> None:
    path = tmp_path / sample.file
    path.write_bytes(sample.good)
    assert len(sample.load(path)) == sample.records


@pytest.mark.parametrize(("sample", "content", "place"), SPOILED)
def test_spoiled_file(sample: Sample, content: bytes, place: str, tmp_path: Path) -> None:
    path = tmp_path / sample.file
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        sample.load(path)
    message = str(caught.value)
    assert sample.file in message
    assert place in message
    assert "\n" not in message
    assert str(tmp_path) not in message


def _write(tmp_path: Path, name: str, content: bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


SECRET = "spiculated"


def _with_secret(value: Any) -> Iterator[Any]:
    """Yield a JSON value with the secret in the place of each text, number and key in turn."""
    if isinstance(value, dict):
        for key, inner in value.items():
            rest = {name: value[name] for name in value if name != key}
            yield {SECRET: inner, **rest}
            yield from ({**rest, key: changed} for changed in _with_secret(inner))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from ([*value[:at], changed, *value[at + 1 :]] for changed in _with_secret(inner))
    yield SECRET


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_no_error_repeats_a_text(sample: Sample, tmp_path: Path) -> None:
    """A report may stand anywhere: in a header, a key, or the column of a number."""
    path, contents = tmp_path / sample.file, []
    if path.suffix == ".json":
        whole = sample.good.startswith(b"[") or sample.good.count(b"\n") > 2
        value = json.loads(sample.good) if whole and sample.name != "rate_ner span" else None
        contents = [samples.json_bytes(changed) for changed in _with_secret(value)] if value else []
    elif path.suffix == ".csv":
        rows = list(csv.reader(io.StringIO(sample.good.decode())))
        for at in range(len(rows[0])):
            for row in (0, 1):
                changed = [list(cells) for cells in rows]
                changed[row][at] = SECRET
                contents.append(samples.csv_bytes(changed))
    for content in contents:
        path.write_bytes(content)
        try:
            sample.load(path)
        except FormatError as error:
            assert SECRET not in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("t.csv", b"a,b\n1,2\n3\n", 3),
        ("t.csv", b'a,b\n1,2\n"3,', 3),
        ("t.csv", b'a,b\n"1\n1",2\n\xff,4\n', 4),
        ("t.csv", b"", 1),
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n")[:-9], 3),
        ("t.json", b'[{"a": 1},\n{"a": \xff}]', 2),
        ("t.json", b'[{"a": 1},\n{"a": ', 2),
        ("t.json", b'{"a": 1}\n{"a"}\n', 2),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_the_line(
    tmp_path: Path, name: str, content: bytes, line: int
) -> None:
    path = _write(tmp_path, name, content)
    with pytest.raises(FormatError) as caught:
        list(reading.read_objects(path) if ".json" in name else reading.read_csv(path, ()))
    assert name in caught.value.where
    assert not content or f"line {line}" in str(caught.value)


def test_a_byte_order_mark_is_dropped_and_a_missing_file_named(tmp_path: Path) -> None:
    (row,) = reading.read_csv(_write(tmp_path, "t.csv", b"\xef\xbb\xbfa,b\r\n1,2\r\n"), ("a",))
    assert dict(row) == {"a": "1", "b": "2"}
    for read in (reading.read_text, lambda path: list(reading.read_csv(path, ()))):
        with pytest.raises(FormatError):
            read(tmp_path / "none.csv")


def test_numbers_are_finite_and_whole_ones_may_have_passed_through_floats() -> None:
    assert reading.value("2.0", reading.Count, "id", "row 2") == 2
    for text in ("inf", "nan", "one", "", "٣"):
        with pytest.raises(FormatError):
            reading.value(text, reading.Number, "time", "row 2")


def test_further_columns_of_one_name_are_all_read(tmp_path: Path) -> None:
    path = _write(tmp_path, "t.csv", b"x,text,text,\n1,first cell,second cell,\n")
    (row,) = reading.read_csv(path, ("x",))
    assert dict(row) == {"x": "1", "text": "first cell", "text.2": "second cell", "": ""}
    assert set(guarded_texts.of_file(path)) == {"1", "first cell", "second cell"}
    with pytest.raises(FormatError):
        list(reading.read_csv(path, ("text",)))


def test_openi_fields(tmp_path: Path) -> None:
    reports = openi.load(_write(tmp_path, "indiana_reports.csv", samples.csv_bytes(samples.OPENI)))
    assert [report.id for report in reports] == ["1", "2", "4"]
    assert reports[1].impression == "Left opacity,\nnew."
    assert [pair.id for pair in openi.pairs(reports)] == ["1"]  # 2 has no findings, 4 no impression


def test_openi_is_halved_by_text() -> None:
    texts = {"1": ("Clear.", "Normal."), "2": ("Mass.", ""), "4": (" clear", "NORMAL"), "7": ("", "mass")}
    reports = [Report(uid, *text) for uid, text in {**texts, "9": ("Other.", "")}.items()]
    assert openi.halves(reports) == {"1": "odd", "2": "even", "4": "odd", "7": "even", "9": "odd"}
    assert [report.id for report in openi.to_develop_on(reports, {"4"})] == ["9"]


def _systems(folder: Path, **changed: bytes) -> dict[tuple[str, str], str]:
    for name, content in (samples.IU_SYSTEMS | changed).items():
        _write(folder, name, content)
    return {(record.system, record.id): record.text for record in iu_systems.load(folder)}


def test_outputs_of_systems_are_matched_by_uid(tmp_path: Path) -> None:
    texts = _systems(tmp_path)
    assert list(texts)[:3] == [("reference", "12"), ("reference", "1"), ("MLRG", "12")]
    assert (texts["MLRG", "12"], texts["MLRG, last image", "12"]) == ("effusion.", "clear.")
    assert texts["MLRG", "1"] == texts["MLRG, last image", "1"] == "clear."
    assert texts["CvT2DistilGPT2", "1"] == "clear."
    assert (texts["AAMN", "12"], texts["AAMN", "1"]) == ("no effusion .", "")


def test_rows_in_another_order_are_refused(tmp_path: Path) -> None:
    references = b"the lungs are clear without\nsmall left effusion is seen\n"
    with pytest.raises(FormatError):
        _systems(tmp_path, **{iu_systems.ORDERED_REFERENCES: references})
    with pytest.raises(FormatError):
        _systems(tmp_path, **{"aamn_res.csv": b"no effusion .\n"})
    with pytest.raises(FormatError):
        _systems(tmp_path, **{"moerad_preds.csv": b"study_id,report\nCXR12_IM-3,Clear.\n"})
    with pytest.raises(FormatError):
        _systems(tmp_path, **{"moerad_preds.csv": b"study_id,report\nCXR12_a,x\nCXR12_b,x\n"})


def test_missing_column_error_says_what_is_wanted_and_shows_nothing_of_the_file(tmp_path: Path) -> None:
    path = _write(tmp_path, "rate_test.csv", b"reference,candidate,rating\na,b,1\n")
    with pytest.raises(FormatError):
        rate_eval.load_pairs(path)


def test_mtsamples_part_leaves_out_the_row_that_was_cut(tmp_path: Path) -> None:
    whole = samples.csv_bytes(samples.MTSAMPLES)
    for cut in (whole.index(b"INDICATION") + 4, len(whole) - 2):  # inside a quoted cell; in the last row
        path = _write(tmp_path, "part.csv", whole[:cut])
        documents = mtsamples.load(path, partial=True)
        assert [document.id for document in documents] == ["0", "1"][: 1 if cut < len(whole) - 2 else 2]
    documents = mtsamples.load(_write(tmp_path, "whole.csv", whole), partial=True)
    assert [document.id for document in documents] == ["0", "1", "2"]
    assert [document.id for document in mtsamples.with_long_descriptions(documents)] == ["1"]
    assert mtsamples.counts(documents) == {
        "reports": 3,
        "specialties": 2,
        "reports of the smallest specialty": 1,
        "reports of the largest specialty": 2,
        "reports kept": 1,
        "training": 0,
        "development": 0,
        "test": 1,
    }


def test_mtsamples_splits_each_specialty() -> None:
    documents = [
        Document(id=f"{group} {number}", text="x", group=group)
        for group, size in (("Surgery", 24), ("Diets", 7), ("Rare", 1))
        for number in range(size)
    ]
    parted = mtsamples.split(documents, np.random.default_rng(0))
    assert [document.id for document in parted] == [document.id for document in documents]
    sizes = Counter((document.group, document.split) for document in parted)
    # floor(0.8 n), then the smaller half of the rest: 19, 2, 3; 5, 1, 1; 0, 0, 1.
    assert sizes == {
        ("Surgery", "train"): 19,
        ("Surgery", "dev"): 2,
        ("Surgery", "test"): 3,
        ("Diets", "train"): 5,
        ("Diets", "dev"): 1,
        ("Diets", "test"): 1,
        ("Rare", "test"): 1,
    }
    assert parted != mtsamples.split(documents, np.random.default_rng(1))


@given(st.integers(1, 2000))
def test_split_sizes_are_those_of_scikit_learn(n: int) -> None:
    train, development, test = mtsamples.split_sizes(n)
    assert train + development + test == n
    if train:
        first, rest = train_test_split(range(n), test_size=0.2, random_state=0)
        assert len(first) == train
        if development:
            second, third = train_test_split(rest, test_size=0.5, random_state=0)
            assert (len(second), len(third)) == (development, test)


def test_rate_ner_spans(tmp_path: Path) -> None:
    read = rate_ner.load_span(_write(tmp_path, "b.json", samples.json_bytes(samples.SPAN)), "MIMIC-IV")
    assert read[0].entities == (Entity(0, 1, "Non-Abnormality"), Entity(1, 2, "Anatomy"))
    assert read[1].entities == (Entity(1, 3, "Abnormality"),)
    assert isinstance(read[0].tokens[0], RestrictedText)


def test_rate_ner_document_level_indices(tmp_path: Path) -> None:
    """PURE and DyGIE count words through a document's sentences."""
    item = b'{"doc_key": "d", "sentences": [["a"], ["left", "lung"]], "ner": [[], [[1, 2, "Anatomy"]]]}'
    sentences = rate_ner.load_span(_write(tmp_path, "a.json", item))
    assert [sentence.id for sentence in sentences] == ["d-0", "d-1"]
    assert sentences[1].entities == (Entity(0, 2, "Anatomy"),)


def test_rate_ner_counts(tmp_path: Path) -> None:
    items = [*samples.SPAN, samples.SPAN[0] | {"doc_key": "c"}]
    sentences = rate_ner.load_span(_write(tmp_path, "b.json", samples.json_bytes(items)), "MIMIC-IV")
    counts = rate_ner.counts([replace(sentence, split="train") for sentence in sentences])
    assert counts["sentences, MIMIC-IV, train"] == 3
    assert counts["entities, MIMIC-IV, Anatomy, train, all"] == 2
    assert counts["entities, MIMIC-IV, Anatomy, train, distinct"] == 1


def test_rexval_reports_and_counts(tmp_path: Path) -> None:
    path = _write(tmp_path, "r.csv", samples.csv_bytes(samples.REXVAL_REPORTS))
    candidates = rexval.load_reports(path)
    assert [(entry.study, entry.origin) for entry in candidates[:4]] == [
        (0, origin) for origin in rexval.ORIGINS
    ]
    assert reveal(candidates[5].candidate) == "Normal heart."
    counts = rexval.load_counts(_write(tmp_path, "c.csv", samples.csv_bytes(samples.REXVAL_COUNTS)))
    assert [(count.significant, count.count) for count in counts] == [(True, 2), (False, 0), (True, 1)]


def test_radgraph_graph_and_two_labelers(tmp_path: Path) -> None:
    report = radgraph.load(_write(tmp_path, "train.json", samples.json_bytes(samples.RADGRAPH)))[0]
    assert report.entities[2] == Entity(4, 6, "OBS-DA")
    assert report.relations == (Relation(0, 1, "located_at"),)
    both = radgraph.load(_write(tmp_path, "test.json", samples.json_bytes(samples.RADGRAPH_TEST)))
    assert [(record.id, len(record.entities), record.group) for record in both] == [
        ("c1/labeler_1", 1, "CheXpert"),
        ("c1/labeler_2", 0, "CheXpert"),
    ]


def test_radsprl_roles_and_gaps(tmp_path: Path) -> None:
    first, second = radsprl.load(_write(tmp_path, "x.xml", samples.RADSPRL.encode()))
    assert first.tokens == ("Opacity", "in", "left", "lung", ".")
    assert first.entities == (
        Entity(1, 2, "Indicator"),
        Entity(0, 1, "Trajector"),
        Entity(2, 4, "Landmark"),
        Entity(0, 5, "Hedge"),  # of the first and the last token
    )
    assert [relation.label for relation in first.relations] == ["Trajector", "Landmark", "Hedge"]
    assert second.relations == ()


def test_mts_dialog_joins_by_row_and_keeps_what_is_no_rate(tmp_path: Path) -> None:
    scores = _write(tmp_path, mts_dialog.SCORES, b"\xef\xbb\xbf" + samples.csv_bytes(samples.MTS_SCORES))
    summaries = _write(tmp_path, mts_dialog.SUMMARIES, samples.csv_bytes(samples.MTS_SUMMARIES))
    first, second, third, _ = mts_dialog.load(scores, summaries)
    assert (first.id, first.case, first.group) == ("0/1", "0", "system 1")
    assert (third.id, third.case, third.group) == ("0/2", "0", "system 2")
    assert (first.precision, first.omission, first.fault) == (0.66666667, 0.571428571, "")
    assert (second.omission, second.fault) == (None, "OmissionRate -1 is not a rate")
    assert third.candidate == "Unremarkable."


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("FactualF1", "0.5", "f1 0.5 is not the harmonic mean 0.4 of precision and recall"),
        ("HallucinationRate", "0.5", "hallucination 0.5 exceeds 1 - precision"),
        ("FactualRecall", "1.2", "recall"),
        ("OmissionRate", "-0.5", "omission"),
    ],
)
def test_mts_dialog_rates_that_contradict(column: str, value: str, message: str, tmp_path: Path) -> None:
    rows = [list(cells) for cells in samples.MTS_SCORES]
    rows[1][rows[0].index(column)] = value
    scores = _write(tmp_path, mts_dialog.SCORES, samples.csv_bytes(rows))
    summaries = _write(tmp_path, mts_dialog.SUMMARIES, samples.csv_bytes(samples.MTS_SUMMARIES))
    with pytest.raises(FormatError, match=message) as caught:
        mts_dialog.load(scores, summaries)
    assert f"{mts_dialog.SCORES}, line 2" in str(caught.value)


def test_primock57_lists_errors(tmp_path: Path) -> None:
    first, second, third = primock57.load(_write(tmp_path, "r.csv", samples.csv_bytes(samples.PRIMOCK)))
    assert (first.case, first.group, first.rater, first.seconds) == ("day1_c01", "m1", "1", 31.0)
    assert [(error.text, error.critical) for error in first.omissions] == [("3 days", True)]
    assert [(error.text, error.critical) for error in second.incorrect] == [
        ("dry cough", False),
        ("fever", True),
    ]
    assert second.seconds is None
    assert third.incorrect == third.omissions == ()


def test_radpref_pairs_and_errors(tmp_path: Path) -> None:
    cases = radpref.load_cases(_write(tmp_path, "p.json", samples.json_bytes(samples.CASES)))
    ratings = radpref.load_ratings(_write(tmp_path, "user_1.json", samples.json_bytes(samples.USER)))
    assert [error.kind for rating in ratings for error in rating.errors] == [
        "false",
        "missing",
        "attribute",
        "attribute",
    ]
    pairs = radpref.rated_pairs(cases, ratings)
    assert [(pair.id, pair.rating, pair.group) for pair in pairs[:2]] == [
        ("a/C1", 5.0, "gpt"),
        ("a/C2", 1.0, "medgemma"),
    ]
    on_scale = {
        scale: [pair.rating for pair in pairs if pair.scale == scale] for scale in ("errors", "error_share")
    }
    assert on_scale == {"errors": [0, 1, 1, 2], "error_share": [0, 1, 1, 1]}


def test_mimic_cxr_pairs_need_both_sections_and_a_split(tmp_path: Path) -> None:
    studies = mimic_cxr.load_sections(_write(tmp_path, "s.csv", samples.csv_bytes(samples.SECTIONS)))
    splits = mimic_cxr.load_splits(_write(tmp_path, "split.csv", samples.csv_bytes(samples.SPLITS)))
    pairs = mimic_cxr.pairs(studies, splits)
    assert [(pair.id, pair.patient, pair.split) for pair in pairs] == [("s50", "10", "train")]
    assert reveal(pairs[0].findings) == "The lungs are clear. The heart is normal."


def test_mimic_cxr_study_in_two_splits(tmp_path: Path) -> None:
    rows = [*samples.SPLITS, ["a-3", "50", "10", "test"]]
    with pytest.raises(FormatError):
        mimic_cxr.load_splits(_write(tmp_path, "split.csv", samples.csv_bytes(rows)))


def test_line_files_skip_empty_impressions(tmp_path: Path) -> None:
    findings, impressions = _write(tmp_path, "f", b"a b\nc d\n"), _write(tmp_path, "i", b"e\n\n")
    pairs = rrs_lines.load(findings, impressions, group="CT_head", split="train")
    assert [pair.id for pair in pairs] == ["CT_head/f/1"]
    assert rrs_lines.counts(pairs)["CT Head, total"] == 1


@pytest.mark.parametrize(("present", "missing"), [("findings", "impression"), ("impression", "findings")])
def test_line_files_without_their_counterpart_are_named(tmp_path: Path, present: str, missing: str) -> None:
    (tmp_path / "CT_head").mkdir()
    (tmp_path / "CT_head" / f"train.{present}.tok").write_bytes(b"clear .\n")

    def find(file: str) -> Path | None:
        path = tmp_path / file.removeprefix("radsum23/")
        return path if path.is_file() else None

    says = f"CT_head/train.{present}.tok: CT_head/train.{missing}.tok is missing"
    with pytest.raises(DataError, match=says):
        rrs_lines.READER.load(find)
    (tmp_path / "CT_head" / f"train.{missing}.tok").write_bytes(b"fracture .\n")
    assert [pair.id for pair in rrs_lines.READER.load(find)] == ["CT_head/train.findings.tok/1"]


def test_mediqa_marks_restricted_files(tmp_path: Path) -> None:
    path = _write(tmp_path, "train.json", samples.json_bytes(samples.MEDIQA))
    assert isinstance(mediqa.load(path)[0].findings, str)
    assert isinstance(mediqa.load(path, group="MIMIC-CXR", restricted=True)[0].findings, RestrictedText)


def test_notes_from_gzip_and_cut_gzip(tmp_path: Path) -> None:
    packed = gzip.compress(samples.csv_bytes(samples.NOTES))
    read = list(mimic3_rrs.radiology_notes(_write(tmp_path, "NOTEEVENTS.csv.gz", packed)))
    assert [(note.id, note.patient, note.description) for note in read] == [
        ("1", "7", "CT HEAD W/O CONTRAST"),
        ("3", "7", "MR HEAD W/ CONTRAST"),
    ]
    with pytest.raises(FormatError):
        list(mimic3_rrs.radiology_notes(_write(tmp_path, "NOTEEVENTS.csv.gz", packed[:-9])))


def test_public_files(data_root: Path) -> None:
    """The public files themselves, where a data root holds them; counts from the data root's own README."""
    reports = openi.load(data_root / "openi" / "indiana_reports.csv")
    assert len(reports) == 3851
    assert len(mediqa.load(data_root / "mediqa2021" / "indiana_dev.json")) == 2000
    cases = radpref.load_cases(data_root / "radpref" / "preference_data.json")
    users = [
        data_root / "radpref" / "radiologist_annotations" / f"user_{number}.json" for number in (1, 2, 3)
    ]
    ratings = [rating for user in users for rating in radpref.load_ratings(user)]
    assert len(radpref.rated_pairs(cases, ratings)) == 1800  # 3 raters, 200 candidates, 3 scales
    # 322 rows, of which the last is cut off.
    rated = mts_dialog.load(
        data_root / "mts_dialog" / mts_dialog.SCORES, data_root / "mts_dialog" / mts_dialog.SUMMARIES
    )
    assert (len(rated), len({rating.case for rating in rated})) == (400, 100)
    assert [rating.id for rating in rated if rating.fault] == ["44/4", "45/4"]
    assert len(mtsamples.load(data_root / "mtsamples" / "mtsamples_part.csv", partial=True)) == 321


def test_rexval_pairs_join_candidates_with_each_raters_errors() -> None:
    reports = [rexval.Candidate(0, "7", origin, "reference", "candidate") for origin in ("bleu", "s_emb")]
    counts = [
        ErrorCount(0, "bleu", category, rater, significant, count)
        for rater, count in (("a", 2), ("b", 0))
        for category in (1, 4)
        for significant in (True, False)
    ]
    pairs = rexval.rated_pairs(reports, counts)
    assert [(pair.id, pair.rater, pair.rating) for pair in pairs] == [("0/bleu", "a", 8), ("0/bleu", "b", 0)]
    assert {pair.scale for pair in pairs} == {"errors"}
