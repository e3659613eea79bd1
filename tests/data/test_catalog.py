"""Every data set by name, from a data root that holds the samples at the manifests' own paths."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from radeval_lib import data, registry
from radeval_lib.data import guard, guarded_texts, manifests, readers
from radeval_lib.data.errors import DataError
from radeval_lib.data.restricted import RestrictedText, reveal
from radeval_lib.papers.data_counts import check_dataset
from tests.data import samples
from tests.data import test_mslr as mslr_samples
from tests.data.test_construction import HEAD


def tsv(*rows: list[str]) -> bytes:
    return "".join("\t".join(row) + "\n" for row in rows).encode()


_HEAD_NOTE = ["9", "70", "", "", "Radiology", "CT HEAD W/O CONTRAST", "", HEAD]
# Enough of each code to stand in every split.
PROCEDURES = [
    samples.PROCEDURE[0],
    *([str(row), f"Reason {row}", ("24725-4", "24627-2")[row % 2]] for row in range(1, 11)),
]
FILES: dict[str, bytes] = {
    "openi/indiana_reports.csv": samples.csv_bytes(samples.OPENI),
    "openi_labels/openi_gld_std14.csv": samples.csv_bytes(samples.OPENI_LABELS),
    "ct_labels/ct_val_200.csv": samples.csv_bytes(samples.CT_LABELS),
    **{f"iu_xray_systems/{name}": content for name, content in samples.IU_SYSTEMS.items()},
    "mediqa2021/indiana_dev.json": samples.json_bytes(samples.MEDIQA),
    "mediqa2021/train.json": samples.json_bytes(samples.MEDIQA),
    "mts_dialog/MTS-Dialog-Manual-Scores4CorrelationStudy.csv": samples.csv_bytes(samples.MTS_SCORES),
    "mts_dialog/MTS-Dialog-Automatic-Summaries-ValidationSet.csv": samples.csv_bytes(samples.MTS_SUMMARIES),
    "mslr/annotations/A1.tsv": tsv(mslr_samples.RATED, mslr_samples.rating("2: Yes", "0: No", "0: No")),
    "mslr/pairwise/A3.tsv": tsv(mslr_samples.CHOSEN, ["CD1", "t", "AAAAAA", "a", "BBBBBB", "b", "A", ""]),
    "mtsamples/mtsamples.csv": samples.csv_bytes(samples.MTSAMPLES),
    "primock57/results.csv": samples.csv_bytes(samples.PRIMOCK),
    "radpref/preference_data.json": samples.json_bytes(samples.CASES),
    "radpref/radiologist_annotations/user_1.json": samples.json_bytes(samples.USER),
    "rate_ner/MIMIC_IV/train_span.json": samples.lines_bytes(samples.SPAN),
    "rate_ner/Radiopaedia/test_span.json": samples.lines_bytes(samples.SPAN),
    "rate_eval/Task1_sentence_rate/rate_train.csv": samples.csv_bytes(samples.TASK2),
    "rate_eval/Task2_paragraph_rate/rate_test.csv": samples.csv_bytes(samples.TASK2),
    "rate_eval/Task3_synthetic_rate/triads.json": samples.json_bytes(samples.TRIADS),
    "rexval/50_samples_gt_and_candidates.csv": samples.csv_bytes(samples.REXVAL_REPORTS),
    "radgraph/train.json": samples.json_bytes(samples.RADGRAPH),
    "radgraph/test.json": samples.json_bytes(samples.RADGRAPH_TEST),
    "radsprl/Rad-SpRL.xml": samples.RADSPRL.encode(),
    "stanza_radiology/dev.json": samples.json_bytes(samples.STANZA),
    "mimic3/NOTEEVENTS.csv.gz": gzip.compress(samples.csv_bytes([*samples.NOTES, _HEAD_NOTE])),
    "mimic3_procedure/annotated_dataset.csv": samples.csv_bytes(PROCEDURES),
    "mimic_cxr/mimic_cxr_sectioned.csv": samples.csv_bytes(samples.SECTIONS),
    "mimic_cxr/mimic-cxr-2.0.0-split.csv": samples.csv_bytes(samples.SPLITS),
    "radsum23/CT_head/validate.findings.tok": b"the lungs\nare clear\n",
    "radsum23/CT_head/validate.impression.tok": b"clear\n\n",
    "green_training/train.json": samples.json_bytes(samples.GREEN),
}

# By hand from the samples: records, and some counts by the names that the papers' counts have.
EXPECTED: dict[str, tuple[int, dict[str, int]]] = {
    "ct_labels": (2, {}),
    "green_training": (2, {"pairs": 2}),
    "iu_systems": (12, {}),
    "mediqa2021": (2, {}),
    "mediqa2021_mimic_cxr": (2, {"train": 2}),
    "mimic3_procedure": (10, {"documents": 10, "classes": 2}),
    "mimic3_rrs": (1, {"reports": 1, "pairs of modality and anatomy": 1}),
    "mimic_cxr_rrs": (1, {"reports": 1}),
    "mslr": (2, {}),
    "mts_dialog": (4, {}),
    "mtsamples": (3, {"reports": 3, "specialties": 2, "reports kept": 1}),
    "openi": (3, {"pairs with findings and impression": 1}),
    "openi_labels": (2, {}),
    "primock57": (3, {}),
    "radgraph": (3, {"train": 1, "test": 1, "reports": 2}),
    "radpref": (12, {}),
    "radsprl": (2, {"reports": 2}),
    "radsum23": (1, {"reports": 1, "CT Head, dev": 1, "CT Head, total": 1}),
    "rate_eval": (8, {"sentence level": 3, "paragraph level": 3, "simulated reports": 2}),
    "rate_ner": (4, {"sentences, MIMIC-IV, train": 2, "entities, Radiopaedia, Abnormality, test, all": 1}),
    "rexval": (8, {"pairs": 8}),
    "stanza_radiology": (2, {"dev": 2}),
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    # The samples stand in for public files whose checksums the manifests state.
    monkeypatch.setattr(manifests, "check_file", lambda path, entry: None)
    return tmp_path


def test_every_sample_is_a_file_of_its_manifest() -> None:
    known = {file.path for name in data.names() for file in data.load_manifest(name).files}
    assert set(FILES) <= known


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_load_and_check(name: str, root: Path) -> None:
    records, expected = EXPECTED[name]
    assert len(readers.load(name, root)) == records
    checks = {check.name: check for check in check_dataset(name, root)}
    assert {key: checks[key].loaded for key in expected} == expected
    assert all(check.agrees in (None, False) for check in checks.values()), "no sample is a whole data set"


@pytest.mark.parametrize("name", sorted(registry.READERS))
def test_empty_data_root(name: str, tmp_path: Path) -> None:
    assert readers.load(name, tmp_path) == []
    assert check_dataset(name, tmp_path) == []


def test_a_part_of_a_set_is_loaded_but_not_compared(root: Path) -> None:
    (root / "mtsamples/mtsamples.csv").rename(root / "mtsamples/mtsamples_part.csv")
    assert len(readers.load("mtsamples", root)) == 3
    assert {check.agrees for check in check_dataset("mtsamples", root)} == {None}


def test_procedures_are_built_from_notes_and_a_mapping(root: Path) -> None:
    (root / "mimic3_procedure/annotated_dataset.csv").unlink()
    assert readers.load("mimic3_procedure", root) == []  # the mapping is missing
    notes = [samples.NOTES[0], *([str(row), *_HEAD_NOTE[1:]] for row in range(1, 11))]
    (root / "mimic3/NOTEEVENTS.csv.gz").write_bytes(gzip.compress(samples.csv_bytes(notes)))
    mapping = [["procedure_titles", "LOINC_NUM"], ["['CT HEAD W/O CONTRAST']", "24725-4"]]
    (root / "mimic3_procedure/procedure_titles_mapped.csv").write_bytes(samples.csv_bytes(mapping))
    splits = Counter(document.split for document in readers.load("mimic3_procedure", root))
    assert splits == {"train": 6, "dev": 2, "test": 2}


def test_what_may_not_be_passed_on_is_marked(root: Path) -> None:
    for name in EXPECTED:
        manifest = data.load_manifest(name)
        marked = [text for record in readers.load(name, root) for text in _restricted(record)]
        assert bool(marked) is not manifest.redistributable, name
        assert {text.source for text in marked} <= {name}, name


def _restricted(record: Any) -> Iterator[RestrictedText]:
    for value in vars(record).values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, RestrictedText):
                yield part


def test_the_guard_gets_the_long_numbers_of_records(root: Path) -> None:
    path = root / "mimic_cxr/mimic_cxr_sectioned.csv"
    path.write_text(path.read_text().replace("s50,", "s50414267,"))
    path = root / "mimic_cxr/mimic-cxr-2.0.0-split.csv"
    path.write_text(path.read_text().replace(",50,10,", ",50414267,10000032,"))
    texts = [reveal(text) for text in guarded_texts.restricted_texts(root)["mimic_cxr_rrs"]]
    assert {"50414267", "10000032", "id a-1", "id 10000032"} <= set(texts)


def test_the_guard_gets_what_loaders_leave_out(root: Path) -> None:
    """Reports with one section or without a split, other columns, and the words of annotated files."""
    root.joinpath("mimic_cxr/mimic-cxr-2.0.0-split.csv").unlink()
    rows = [
        *samples.SECTIONS,
        ["s53", "", "", "A mass. Seen again at the left base.", "Seen again at the left base."],
    ]
    root.joinpath("mimic_cxr/mimic_cxr_sectioned.csv").write_bytes(samples.csv_bytes(rows))
    corpora = guarded_texts.restricted_texts(root)
    assert readers.load("mimic_cxr_rrs", root) == []
    texts = list(corpora["mimic_cxr_rrs"])
    assert {"Normal.", "The lungs are clear.\n The heart is normal."} <= set(texts)
    assert sum("Seen again" in text for text in texts) == 1, "a part that a row repeats is one text"
    assert " ".join(samples.STANZA[0]["tokens"]) in corpora["stanza_radiology"]
    assert not any("Slept" in text for text in corpora["mimic3_rrs"])
    for name in ("radgraph", "rate_ner"):
        texts = {" ".join(text.split()) for text in corpora[name]}
        for record in readers.load(name, root)[:1]:
            assert " ".join(reveal(token) for token in record.tokens) in texts


def test_files_without_reports_are_named_in_their_manifest() -> None:
    named = {
        file.path
        for name in data.names()
        for file in data.load_manifest(name).files
        if not file.holds_reports
    }
    assert named == {
        "mimic3_procedure/procedure_titles_mapped.csv",
        "mimic3_rrs/rules.json",
        "rate_ner/idx2label.json",
    }


def test_a_restricted_set_without_anything_to_search_for_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mimic_cxr/mimic_cxr_sectioned.csv"
    path.parent.mkdir()
    path.write_text("study,impression,findings\n")
    with pytest.raises(DataError):
        guard.scan(tmp_path, guarded_texts.restricted_texts(tmp_path))


def test_rexval_counts_name_pairs_and_raters() -> None:
    from radeval_lib.data.records import ErrorCount

    counts = [ErrorCount(0, origin, 1, rater, True, 1) for origin in ("bleu", "s_emb") for rater in "ab"]
    assert readers.reader("rexval_counts").count(counts) == {"pairs": 2, "raters": 2}


def test_public_data_root(data_root: Path) -> None:
    """Open-i as redistributed has other counts than the paper prints; the check says so."""
    (check,) = check_dataset("openi", data_root)
    assert (check.printed, check.loaded, check.agrees) == ("3,268", 3331, False)
    scales = [record.scale for record in readers.load("radpref", data_root)]
    assert Counter(scales) == {"grade": 600, "errors": 600, "error_share": 600}


def test_tags_of_entities_are_no_text(tmp_path: Path) -> None:
    tagged = {"tokens": ["No", "effusion", "."], "ner_tags": ["O", "B-ABNORMALITY", "O"]}
    rows = [tagged, {"tokens": ["O", "B"]}]
    (tmp_path / "dev_IOB.json").write_text(json.dumps(rows))
    assert list(guarded_texts.of_file(tmp_path / "dev_IOB.json")) == ["No effusion .", "O B"]
