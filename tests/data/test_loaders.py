"""Every data set by name, from a data root that holds the samples, and what loaders make of files."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from radeval_lib import data, registry
from radeval_lib.data import (
    fetch,
    guard,
    manifests,
    mediqa,
    mimic3_rrs,
    mtsamples,
    openi,
    radgraph,
    radpref,
    radsprl,
    rate_eval,
    rate_ner,
    readers,
    reading,
    rexval,
)
from radeval_lib.data.errors import DataError, FormatError
from radeval_lib.data.records import Entity, NoteError, Relation, Report
from radeval_lib.data.restricted import RestrictedText, reveal
from tests.data.samples import FILES, HEAD, SECTIONS, SPAN, csv_bytes

# By hand from the samples.
EXPECTED = {
    "ct_labels": {"LabelledReport": 1},
    "green_training": {"JudgedPair": 2},
    "iu_systems": {"SystemReport": 12},
    "mediqa2021": {"ReportPair": 2},
    "mediqa2021_mimic_cxr": {"ReportPair train": 2},
    "mimic3_procedure": {"Document train": 6, "Document dev": 2, "Document test": 2},
    "mimic3_rrs": {"ReportPair test": 2},
    "mimic_cxr_rrs": {"ReportPair train": 1},
    "mslr": {"RatedPair": 2},
    "mts_dialog": {"FactRating": 4},
    "mtsamples": {"Document": 3},
    "openi": {"Report": 3},
    "openi_labels": {"CodedStudy": 2},
    "primock57": {"NoteJudgement": 3},
    "radgraph": {"AnnotatedSentence train": 1, "AnnotatedSentence test": 2},
    "radpref": {"RatedPair": 12},
    "radsprl": {"AnnotatedSentence": 2},
    "radsum23": {"ReportPair dev": 1},
    "rate_eval": {"RatedPair train": 3, "RatedPair test": 3},
    "rate_ner": {"AnnotatedSentence train": 2, "AnnotatedSentence test": 2},
    "rexval": {"TextPair": 8},
    "stanza_radiology": {"AnnotatedSentence dev": 2},
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    # The samples stand in for public files whose checksums the manifests state.
    for module in (manifests, fetch):
        monkeypatch.setattr(module, "check_file", lambda path, entry: None)
    return tmp_path


@pytest.mark.parametrize("name", EXPECTED)
def test_records_of_each_set(name: str, root: Path) -> None:
    assert readers.count_records(name, readers.load(name, root)) == EXPECTED[name]


# By hand from the samples: some fields of the first records.
FIELDS: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "openi": ("id impression", [("1", "Normal chest."), ("2", "Left opacity,\nnew."), ("4", "")]),
    "openi_labels": ("id codes normal", [("1", set(), True), ("12", {"Atelectasis", "Effusion"}, False)]),
    "mimic_cxr_rrs": ("id patient split", [("s50", "10", "train")]),
    "mimic3_rrs": ("id patient group", [("9", "70", "CT_head"), ("10", "71", "MR_pelvis")]),
    "radsum23": ("id", [("CT_head/validate.findings.tok/1",)]),
    "radgraph": (
        "id group entities relations",
        [
            (
                *("p1/s1.txt", "MIMIC-CXR"),
                (Entity(0, 1, "OBS-DP"), Entity(1, 2, "ANAT-DP"), Entity(4, 6, "OBS-DA")),
                (Relation(0, 1, "located_at"),),
            ),
            ("c1/labeler_1", "CheXpert", (Entity(1, 2, "OBS-DP"),), ()),
            ("c1/labeler_2", "CheXpert", (), ()),
        ],
    ),
    "mts_dialog": (
        "id case group precision omission",
        [
            ("0/1", "0", "system 1", 0.66666667, 0.571428571),
            ("1/1", "1", "system 1", 1, None),  # -1 is no rate
            ("0/2", "0", "system 2", 1, 1),
        ],
    ),
    "mslr": (
        "id rating rater group reference",  # a quotation mark is a character like others
        [
            ("CD1/ABCDEF", 3.0, "A1", "ABCDEF", 'the "target'),
            ("CD1/XYZXYZ", 4.0, "A1", "XYZXYZ", 'the "target'),
        ],
    ),
    "primock57": (
        "case group rater seconds incorrect omissions",
        [
            ("c01", "m1", "1", 31.0, (), (NoteError("3 days", True),)),
            ("c01", "m1", "2", None, (NoteError("dry cough", False), NoteError("fever", True)), ()),
            ("c01", "doctor", "1", 4.5, (), ()),
        ],
    ),
    "iu_systems": (
        "system id text",
        [
            ("reference", "12", "Small left effusion is seen again."),
            ("reference", "1", "The lungs are clear without effusion."),
            *(("MLRG", "12", "effusion."), ("MLRG", "1", "clear.")),
            *(("MLRG, last image", "12", "clear."), ("MLRG, last image", "1", "clear.")),
            *(("MoERad", "12", "No effusion."), ("MoERad", "1", "Clear.")),
            *(("CvT2DistilGPT2", "12", "clear."), ("CvT2DistilGPT2", "1", "clear.")),
            *(("AAMN", "12", "no effusion ."), ("AAMN", "1", "")),
        ],
    ),
}


@pytest.mark.parametrize("name", FIELDS)
def test_fields(name: str, root: Path) -> None:
    fields, expected = FIELDS[name]
    records = readers.load(name, root)[: len(expected)]
    assert [tuple(getattr(record, field) for field in fields.split()) for record in records] == expected


@pytest.mark.parametrize("name", sorted(registry.READERS))
def test_empty_data_root(name: str, tmp_path: Path) -> None:
    assert readers.load(name, tmp_path) == []


def test_what_may_not_be_passed_on_is_marked(root: Path) -> None:
    for name in EXPECTED:
        manifest = data.load_manifest(name)
        values = [value for record in readers.load(name, root) for value in vars(record).values()]
        parts = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
        marked = [part for part in parts if isinstance(part, RestrictedText)]
        assert bool(marked) is not manifest.redistributable, name
        assert {text.source for text in marked} <= {name}, name


SECRET = "spiculated"
# A file whose SHA-256 its manifest states is what it is; any other may be spoiled.
UNPINNED = [
    (name, file.path)
    for name in EXPECTED
    for file in data.load_manifest(name).files
    if file.path in FILES and file.sha256 is None and not file.path.endswith((".tok", ".gz"))
]


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


def _spoiled(path: str) -> Iterator[bytes]:
    """Yield a file without each column or key, with a wrong value in each place, and cut short."""
    text = FILES[path].decode()
    yield from (b"", text[: len(text) // 2].encode(), b"\xff" + text.encode())
    if path.endswith(".csv"):
        rows = list(csv.reader(io.StringIO(text)))
        for at in range(len(rows[0])):
            for row in (0, 1):
                changed = [list(cells) for cells in rows]
                changed[row][at] = SECRET
                yield csv_bytes(changed)
        yield csv_bytes([*rows, rows[1]])
    elif path.endswith(".xml"):
        for name in ("cs", "tl", "id"):
            yield text.replace(f' {name}="', f' {name}="{SECRET}').encode()
        yield text.replace("<Text>", "<Txt>").replace("</Text>", "</Txt>").encode()
    elif text.startswith(("[", '{"p', '{"c')):
        yield from (json.dumps(changed).encode() for changed in _with_secret(json.loads(text)))
    else:
        first, *rest = text.splitlines()
        yield from (
            "\n".join([json.dumps(changed), *rest]).encode() for changed in _with_secret(json.loads(first))
        )


@pytest.mark.parametrize(("name", "path"), UNPINNED)
def test_a_spoiled_file_is_named_and_its_words_are_not(name: str, path: str, root: Path) -> None:
    refused = 0
    for content in _spoiled(path):
        (root / path).write_bytes(content)
        try:
            readers.load(name, root)
        except FormatError as error:
            refused += 1
            message = str(error)
            assert Path(path).name in message
            assert not {SECRET, "\n", str(root)} & {SECRET if SECRET in message else "", *message}
    assert refused >= 5


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
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        list(reading.read_objects(path) if ".json" in name else reading.read_csv(path, ()))
    assert name in caught.value.where
    assert not content or f"line {line}" in str(caught.value)


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfa,b\r\n1,2\r\n")
    (row,) = reading.read_csv(tmp_path / "t.csv", ("a",))
    assert dict(row) == {"a": "1", "b": "2"}


def test_numbers_are_finite_and_whole_ones_may_have_passed_through_floats() -> None:
    assert reading.convert_value("2.0", reading.Count, "id", "row 2") == 2
    for text in ("inf", "nan", "one", "", "٣"):
        with pytest.raises(FormatError):
            reading.convert_value(text, reading.Number, "time", "row 2")


def test_further_columns_of_one_name_are_all_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"x,text,text,\n1,first cell,second cell,\n")
    (row,) = reading.read_csv(path, ("x",))
    assert dict(row) == {"x": "1", "text": "first cell", "text.2": "second cell", "": ""}
    assert set(guard.read_data_texts(path)) == {"1", "first cell", "second cell"}
    with pytest.raises(FormatError):
        list(reading.read_csv(path, ("text",)))


def test_openi_is_halved_by_text() -> None:
    texts = {"1": ("Clear.", "Normal."), "2": ("Mass.", ""), "4": (" clear", "NORMAL"), "7": ("", "mass")}
    reports = [Report(uid, *text) for uid, text in {**texts, "9": ("Other.", "")}.items()]
    assert openi.assign_halves(reports) == {"1": "odd", "2": "even", "4": "odd", "7": "even", "9": "odd"}
    assert [report.id for report in openi.select_development(reports, {"4"})] == ["9"]


def test_a_uid_of_openi_is_a_number(tmp_path: Path) -> None:
    path = tmp_path / "indiana_reports.csv"
    path.write_text("uid,findings,impression\nx1,Clear.,Normal.\n")
    with pytest.raises(FormatError) as caught:
        openi.load(path)
    assert caught.value.where == "indiana_reports.csv, line 2"


@pytest.mark.parametrize("rows", ["CXR1,2" + ",0" * 13, "\n".join(2 * ["CXR1" + ",0" * 14])])
def test_codes_of_openi_are_0_or_1_and_a_report_has_one_row(tmp_path: Path, rows: str) -> None:
    path = tmp_path / openi.LABELS_FILE
    path.write_text(f"filename,normal,{','.join(openi.LABELS)}\n{rows}\n")
    with pytest.raises(FormatError):
        openi.load_labels(path)


def test_mtsamples_part_leaves_out_the_row_that_was_cut(root: Path) -> None:
    path = root / "mtsamples/mtsamples.csv"
    whole = path.read_bytes()
    documents = mtsamples.load(path, partial=True)
    assert [document.id for document in documents] == ["0", "1", "2"]
    assert [document.id for document in mtsamples.keep_long_descriptions(documents)] == ["1"]
    path.unlink()
    for cut, left in ((whole.index(b"INDICATION") + 4, ["0"]), (len(whole) - 2, ["0", "1"])):
        (root / "mtsamples/mtsamples_part.csv").write_bytes(whole[:cut])
        assert [document.id for document in readers.load("mtsamples", root)] == left


def test_rate_ner_spans(tmp_path: Path) -> None:
    # PURE and DyGIE count words through a document's sentences.
    item = b'\n{"doc_key": "d", "sentences": [["a"], ["left", "lung"]], "ner": [[], [[1, 2, "Anatomy"]]]}'
    (tmp_path / "b.json").write_bytes(SPAN + SPAN.splitlines()[0].replace(b'"a"', b'"c"') + item)
    sentences = rate_ner.load_span(tmp_path / "b.json", "MIMIC-IV")
    assert [sentence.id for sentence in sentences] == ["a", "b", "c", "d-0", "d-1"]
    assert sentences[0].entities == (Entity(0, 1, "Non-Abnormality"), Entity(1, 2, "Anatomy"))
    assert [sentences[at].entities for at in (1, 4)] == [
        (Entity(1, 3, "Abnormality"),),
        (Entity(0, 2, "Anatomy"),),
    ]


@pytest.mark.parametrize(
    ("load", "path"),
    [
        (rexval.load_reports, "rexval/50_samples_gt_and_candidates.csv"),
        (rate_eval.load_pairs, "rate_eval/Task1_sentence_rate/rate_train.csv"),
        (mimic3_rrs.read_radiology_notes, "mimic3/NOTEEVENTS.csv"),
    ],
)
def test_a_repeated_row_is_refused(load: Any, path: str, root: Path) -> None:
    content = FILES[path] if path in FILES else gzip.decompress(FILES[f"{path}.gz"])
    header, *rows = csv.reader(io.StringIO(content.decode()))
    (root / path).write_bytes(csv_bytes([header, *rows, rows[0]]))
    with pytest.raises(FormatError) as caught:
        list(load(root / path))
    assert f"{Path(path).name}, line" in caught.value.where


def test_rexval_reports_and_counts(root: Path) -> None:
    candidates = rexval.load_reports(root / "rexval/50_samples_gt_and_candidates.csv")
    assert [(entry.case, entry.group) for entry in candidates[:4]] == [("0", name) for name in rexval.ORIGINS]
    assert reveal(candidates[5].candidate) == "Normal heart."
    (root / "counts.csv").write_bytes(
        b"study_number,candidate_type,error_category,rater_index,clinically_significant,num_errors\n"
        b"0,bleu,1,0,True,2\n0,bleu,1,0,False,0\n0,s_emb,6,5,True,1\n"
    )
    counts = rexval.load_counts(root / "counts.csv")
    assert [(count.significant, count.count) for count in counts] == [(True, 2), (False, 0), (True, 1)]
    pairs = rexval.make_rated_pairs(candidates, counts)
    assert [(pair.id, pair.rater, pair.rating) for pair in pairs] == [("0/s_emb", "5", 1), ("0/bleu", "0", 2)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"OBS-DP"', '"OBS"'),
        ('"OBS-DP"', '""'),
        ('"tokens": "Clear"', '"tokens": "clear"'),
        ('"located_at", "2"', '"modify", "9"'),
        ('"located_at"', '"near"'),
    ],
)
def test_radgraph_that_contradicts_itself_is_refused(old: str, new: str, root: Path) -> None:
    path = root / "radgraph/train.json"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(FormatError):
        radgraph.load(path)


def test_radsprl_roles_and_gaps(root: Path) -> None:
    first, second = radsprl.load(root / "radsprl/Rad-SpRL.xml")
    assert first.tokens == ("Opacity", "in", "left", "lung", ".")
    assert first.entities == (
        Entity(1, 2, "Indicator"),
        Entity(0, 1, "Trajector"),
        Entity(2, 4, "Landmark"),
        Entity(0, 5, "Hedge"),  # of the first and the last token
    )
    assert [relation.label for relation in first.relations] == ["Trajector", "Landmark", "Hedge"]
    assert second.relations == ()


def test_radpref_pairs_and_errors(root: Path) -> None:
    folder = root / "radpref"
    marks = radpref.read_marks(
        [folder / "radiologist_annotations/user_1.json"], radpref.read_candidates(folder / radpref.CASES_FILE)
    )
    assert marks["false_urgent"].tolist() == [0, 1, 0, 0]
    assert marks["missing_urgent"].tolist() == [0, 0, 1, 0]
    assert marks["attribute_negligible"].tolist() == [0, 0, 0, 1]
    pairs = readers.load("radpref", root)
    assert [(pair.id, pair.rating, pair.group) for pair in pairs[:2]] == [
        ("a/C1", 5.0, "gpt"),
        ("a/C2", 1.0, "medgemma"),
    ]
    on_scale = {
        scale: [pair.rating for pair in pairs if pair.scale == scale] for scale in ("errors", "error_share")
    }
    assert on_scale == {"errors": [0, 1, 1, 2], "error_share": [0, 1, 1, 1]}


def test_files_that_contradict_one_another_are_refused(root: Path) -> None:
    (pair,) = readers.load("mimic_cxr_rrs", root)
    assert reveal(pair.findings) == "The lungs are clear. The heart is normal."
    split = "mimic_cxr/mimic-cxr-2.0.0-split.csv"
    notes = "mimic3/NOTEEVENTS.csv.gz"
    for name, path, spoiled in (
        ("mimic_cxr_rrs", split, FILES[split] + b"a-3,50,10,test\n"),  # in two splits
        ("mimic3_rrs", notes, FILES[notes][:-9]),
        ("radsum23", "radsum23/CT_head/validate.findings.tok", b"clear .\n"),
        ("radsum23", "radsum23/CT_head/validate.findings.tok", b"\nfracture .\n"),
    ):
        (root / path).write_bytes(spoiled)
        with pytest.raises(FormatError):
            readers.load(name, root)
    (root / "radsum23/CT_head/validate.impression.tok").unlink()
    with pytest.raises(DataError):
        readers.load("radsum23", root)


def test_public_files(data_root: Path) -> None:
    """The public files themselves, where a data root holds them; counts from the data root's own README."""
    reports = openi.load(data_root / "openi" / "indiana_reports.csv")
    assert len(reports) == 3851
    assert len(mediqa.load(data_root / "mediqa2021" / "indiana_dev.json")) == 2000
    assert len(readers.load("radpref", data_root)) == 1800  # 3 raters, 200 candidates, 3 scales
    rated = readers.load("mts_dialog", data_root)
    assert (len(rated), len({rating.case for rating in rated})) == (400, 100)
    assert [rating.id for rating in rated if rating.omission is None] == ["44/4", "45/4"]
    # 322 rows, of which the last is cut off.
    assert len(mtsamples.load(data_root / "mtsamples" / "mtsamples_part.csv", partial=True)) == 321
    assert len(readers.load("mslr", data_root)) == 576


def test_the_guard_gets_the_long_numbers_of_records(root: Path) -> None:
    path = root / "mimic_cxr/mimic_cxr_sectioned.csv"
    path.write_text(path.read_text().replace("s50,", "s50414267,"))
    path = root / "mimic_cxr/mimic-cxr-2.0.0-split.csv"
    path.write_text(path.read_text().replace(",50,10,", ",50414267,10000032,"))
    texts = [reveal(text) for text in guard.list_restricted_texts(root)["mimic_cxr_rrs"]]
    assert {"50414267", "10000032", "id a-1", "id 10000032"} <= set(texts)


def test_the_guard_gets_what_loaders_leave_out(root: Path) -> None:
    """Reports with one section or without a split, other columns, and the words of annotated files."""
    root.joinpath("mimic_cxr/mimic-cxr-2.0.0-split.csv").unlink()
    more = b"s53,,,A mass. Seen again at the left base.,Seen again at the left base.\n"
    root.joinpath("mimic_cxr/mimic_cxr_sectioned.csv").write_bytes(SECTIONS + more)
    corpora = guard.list_restricted_texts(root)
    assert readers.load("mimic_cxr_rrs", root) == []
    texts = list(corpora["mimic_cxr_rrs"])
    assert {"Normal.", "The lungs are clear.\n The heart is normal."} <= set(texts)
    assert sum("Seen again" in text for text in texts) == 1, "a part that a row repeats is one text"
    assert HEAD.strip() in set(corpora["mimic3_rrs"])
    assert not any("Slept" in text for text in corpora["mimic3_rrs"])
    for name in ("radgraph", "rate_ner", "stanza_radiology"):
        sentences = {" ".join(text.split()) for text in corpora[name]}
        for record in readers.load(name, root)[:1]:
            assert " ".join(reveal(token) for token in record.tokens) in sentences


def test_a_restricted_set_without_anything_to_search_for_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mimic_cxr/mimic_cxr_sectioned.csv"
    path.parent.mkdir()
    path.write_text("study,impression,findings\n")
    with pytest.raises(DataError):
        guard.scan(tmp_path, guard.list_restricted_texts(tmp_path))


def test_tags_of_entities_are_no_text(tmp_path: Path) -> None:
    tagged = {"tokens": ["No", "effusion", "."], "ner_tags": ["O", "B-ABNORMALITY", "O"]}
    rows = [tagged, {"tokens": ["O", "B"]}]
    (tmp_path / "dev_IOB.json").write_text(json.dumps(rows))
    assert list(guard.read_data_texts(tmp_path / "dev_IOB.json")) == ["No effusion .", "O B"]
