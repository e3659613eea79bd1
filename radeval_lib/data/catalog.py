"""Every data set by name: its records from a data root, its counts, and the texts that the guard watches."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

from radeval_lib.data import (
    green_training,
    iob,
    mediqa,
    mimic_cxr,
    mslr,
    mts_dialog,
    mtsamples,
    openi,
    primock57,
    procedure,
    radgraph,
    radpref,
    radsprl,
    rate_eval,
    rate_ner,
    reading,
    rexval,
    rrs_lines,
)
from radeval_lib.data.construction import notes, rrs
from radeval_lib.data.construction import procedure as build_procedures
from radeval_lib.data.manifests import find, load_manifest, names, restricted_in
from radeval_lib.data.restricted import RestrictedText, Text
from radeval_lib.paths import PAPERS

Records = list[Any]
_LONG_NUMBER = re.compile(r"\d{8,}")  # shorter ones may stand for anything


@dataclass(frozen=True)
class Reader:
    """How a data set is read: ``load(root)`` gives records, ``count(records)`` counts named as printed."""

    load: Callable[[Path], Records]
    count: Callable[[Records], dict[str, int]]


def _each(
    name: str, root: Path, load: Callable[..., Iterable[Any]], *files: str, split: bool = False
) -> Records:
    """Records of those files of a data set that are there; ``load`` gets the path and, where wanted, the
    split that the file's name begins with."""
    found = [(path, file) for file in files if (path := find(name, root, file)) is not None]
    return [
        record for path, file in found for record in (load(path, split=_split(file)) if split else load(path))
    ]


def _reader(
    name: str,
    load: Callable[..., Iterable[Any]],
    *files: str,
    count: Callable[[Records], dict[str, int]] = lambda records: {},
    split: bool = False,
) -> Reader:
    """The reader of a data set whose files are each read by themselves."""
    return Reader(lambda root: _each(name, root, load, *files, split=split), count)


def _split(file: str) -> str:
    return Path(file).name.split("_")[0].split(".")[0]


def _by_split(records: Sequence[Any]) -> dict[str, int]:
    splits = [record.split for record in records]
    return {split: splits.count(split) for split in sorted(set(splits))}


def _rate_ner(root: Path) -> Records:
    """Span files, which need no list of labels; the IOB files hold the same sentences."""
    files = [file.path for file in load_manifest("rate_ner").files if file.path.endswith("_span.json")]
    return [
        record
        for file in files
        for record in _each(
            "rate_ner",
            root,
            partial(rate_ner.load_span, group=rate_ner.SOURCES[Path(file).parts[1]]),
            file,
            split=True,
        )
    ]


# Scale of the records and name in Table 3 of each task's folder.
_RATE_EVAL_TASKS = {
    "Task1_sentence_rate": ("sentence", "sentence level"),
    "Task2_paragraph_rate": ("paragraph", "paragraph level"),
}


def _rate_eval_pairs(path: Path) -> Records:
    split, task = path.stem.removeprefix("rate_"), path.parent.name
    return list(rate_eval.load_pairs(path, group=task, split=split, scale=_RATE_EVAL_TASKS[task][0]))


def _rate_eval(root: Path) -> Records:
    tables = [file.path for file in load_manifest("rate_eval").files if file.path.endswith(".csv")]
    pairs = _each("rate_eval", root, _rate_eval_pairs, *tables)
    return pairs + _each("rate_eval", root, rate_eval.load_triads, "triads.json")


def _rate_eval_counts(records: Records) -> dict[str, int]:
    rest = ("", "simulated reports")
    of_part = [_RATE_EVAL_TASKS.get(getattr(record, "group", ""), rest)[1] for record in records]
    return {part: of_part.count(part) for part in sorted(set(of_part))}


def _radgraph_counts(records: Records) -> dict[str, int]:
    reports = {(record.id.partition("/labeler_")[0], record.split) for record in records}
    splits = [split for _, split in reports]
    return {split: splits.count(split) for split in sorted(set(splits))} | {"reports": len(reports)}


def _radsum(root: Path) -> Records:
    records: Records = []
    names_in_paper = {"validate": "dev"}
    for file in load_manifest("radsum23").files:
        if not file.path.endswith(".findings.tok"):
            continue
        first = find("radsum23", root, file.path)
        second = find("radsum23", root, file.path.replace(".findings.", ".impression."))
        if first and second:
            _, group, name = file.path.split("/")
            split = names_in_paper.get(_split(name), _split(name))
            records += rrs_lines.load(
                first, second, source="radsum23", group=group, split=split, skip_empty=True
            )
    return records


def _mimic_cxr(root: Path) -> Records:
    sections, splits = (
        find("mimic_cxr_rrs", root, file.path) for file in load_manifest("mimic_cxr_rrs").files
    )
    if not (sections and splits):
        return []
    return mimic_cxr.pairs(mimic_cxr.load_sections(sections), mimic_cxr.load_splits(splits))


def _mimic3_rrs(root: Path) -> Records:
    path, listed = (find("mimic3_rrs", root, file.path) for file in load_manifest("mimic3_rrs").files)
    if path is None:
        return []
    rules = rrs.load_rules(listed) if listed else rrs.PatternRules()
    return rrs.report_split(rrs.build(notes.radiology_notes(path), rules).pairs)


def _mtsamples(root: Path) -> Records:
    whole = find("mtsamples", root)
    if whole is not None:
        return list(mtsamples.load(whole))
    return _each("mtsamples", root, partial(mtsamples.load, partial=True), "mtsamples_part.csv")


def _mts_dialog(root: Path) -> Records:
    scores, summaries = (find("mts_dialog", root, name) for name in (mts_dialog.SCORES, mts_dialog.SUMMARIES))
    return list(mts_dialog.load(scores, summaries)) if scores and summaries else []


def _mslr(root: Path) -> Records:
    """Ratings by facet, then preferences."""
    rated = _each("mslr", root, mslr.load_ratings, *(f"{one}.tsv" for one in mslr.RATERS))
    return rated + _each("mslr", root, mslr.load_preferences, *(f"{one}.tsv" for one in mslr.JUDGES))


def _radpref(root: Path) -> Records:
    cases = _each("radpref", root, radpref.load_cases, "preference_data.json")
    users = [f"user_{number}.json" for number in (1, 2, 3)]
    ratings = _each("radpref", root, radpref.load_ratings, *users)
    if not cases:
        return []
    return [
        pair
        for scale in ("grade", "errors", "error_share")
        for pair in radpref.rated_pairs(cases, ratings, scale)
    ]


def _rexval(root: Path) -> Records:
    """Candidates, counts, and where both are there the pairs with each rater's errors."""
    reports = _each("rexval", root, rexval.load_reports, "50_samples_gt_and_candidates.csv")
    counts = _each("rexval", root, rexval.load_counts, "6_valid_raters_per_rater_error_categories.csv")
    return [*reports, *counts, *rexval.rated_pairs(reports, counts)]


def _procedure(root: Path) -> Records:
    """The documents as somebody built them, else built from the notes, with the paper's split."""
    names = ("NOTEEVENTS.csv.gz", "procedure_titles_mapped.csv", "annotated_dataset.csv")
    notes_path, mapping, built = (find("mimic3_procedure", root, name) for name in names)
    if built:
        return build_procedures.report_split(procedure.load(built))
    if not (notes_path and mapping):
        return []
    codes = build_procedures.load_mapping(mapping)
    return build_procedures.report_split(build_procedures.build(notes.radiology_notes(notes_path), codes))


_SPLITS = ("train.json", "dev.json", "test.json")

READERS = {
    "green_training": _reader(
        "green_training",
        green_training.load,
        "train.json",
        count=lambda records: {"pairs": len(records)},
    ),
    # The paper prints only the sum with MIMIC-CXR's half.
    "mediqa2021": _reader("mediqa2021", mediqa.load, "indiana_dev.json"),
    "mediqa2021_mimic_cxr": _reader(
        "mediqa2021_mimic_cxr",
        partial(mediqa.load, group="MIMIC-CXR", restricted=True),
        *_SPLITS[:2],
        count=lambda records: {key: count for key, count in _by_split(records).items() if key == "train"},
        split=True,
    ),
    "mimic3_procedure": Reader(
        _procedure,
        lambda records: {key: procedure.counts(records)[key] for key in ("documents", "classes")},
    ),
    "mimic3_rrs": Reader(
        _mimic3_rrs,
        lambda records: {
            "reports": len(records),
            "pairs of modality and anatomy": len({record.group for record in records}),
        },
    ),
    "mimic_cxr_rrs": Reader(_mimic_cxr, lambda records: {"reports": len(records)}),
    "mslr": Reader(_mslr, lambda records: {}),
    "mtsamples": Reader(_mtsamples, mtsamples.counts),
    "mts_dialog": Reader(_mts_dialog, lambda records: {}),
    "openi": _reader(
        "openi",
        openi.load,
        "indiana_reports.csv",
        count=lambda records: {"pairs with findings and impression": len(openi.pairs(records))},
    ),
    "primock57": _reader("primock57", primock57.load, "results.csv"),
    "radgraph": _reader("radgraph", radgraph.load, *_SPLITS, count=_radgraph_counts, split=True),
    "radpref": Reader(_radpref, lambda records: {}),
    "radsprl": _reader(
        "radsprl", radsprl.load, "Rad-SpRL.xml", count=lambda records: {"reports": len(records)}
    ),
    "radsum23": Reader(_radsum, rrs_lines.counts),
    "rate_eval": Reader(_rate_eval, _rate_eval_counts),
    "rate_ner": Reader(_rate_ner, rate_ner.counts),
    "rexval": Reader(
        _rexval, lambda records: {"pairs": sum(isinstance(record, rexval.Candidate) for record in records)}
    ),
    "rexval_counts": _reader(
        "rexval_counts",
        rexval.load,
        "",
        count=lambda records: {
            "pairs": len({(record.study, record.origin) for record in records}),
            "raters": len({record.rater for record in records}),
        },
    ),
    # Sentences of chest CT reports, in the form that RaLEs reads (Zhang et al. 2021).
    "stanza_radiology": _reader(
        "stanza_radiology",
        partial(iob.load, source="stanza_radiology", restricted=True),
        *_SPLITS,
        count=_by_split,
        split=True,
    ),
}


def load(name: str, root: Path) -> Records:
    """Records of a data set; empty where the data root does not hold it.

    Raises
    ------
    ManifestError, ChecksumError, FormatError
        Where the data set is unknown, or a file of it is not what its manifest or its format says.
    """
    load_manifest(name)
    return READERS[name].load(root)


def texts(record: Any) -> Iterator[RestrictedText]:
    """The restricted texts of a record; a sequence of words is one text."""
    if not is_dataclass(record):
        return
    for one in fields(record):
        value = getattr(record, one.name)
        if isinstance(value, RestrictedText):
            yield value
        elif isinstance(value, tuple) and value and all(isinstance(item, RestrictedText) for item in value):
            yield RestrictedText(" ".join(item.reveal() for item in value), value[0].source)


def identifiers(name: str, root: Path) -> Iterator[str]:
    """What stands in the columns of a data set's tables that its manifest declares to hold identifiers."""
    manifest = load_manifest(name)
    for file in manifest.files if manifest.identifiers else ():
        path = find(name, root, file.path)
        if path is None:
            continue
        if path.suffix == ".json":
            found = json.loads(reading.read_text(path))
            rows: Iterable[Any] = (one for one in found if isinstance(one, dict))
        else:
            rows = (row for _, row in reading.read_csv(path, ()))
        for row in rows:
            yield from (f"id {row[key]}" for key in manifest.identifiers if row.get(key))


def numbers(record: Any) -> Iterator[str]:
    """The long numbers by which a record names its patient and study."""
    for name in ("id", "patient", "study_id"):
        yield from _LONG_NUMBER.findall(getattr(record, name, ""))


@dataclass(frozen=True)
class RestrictedTexts:
    """The texts and long numbers of a restricted data set, streamed from its files each time that one goes
    through them."""

    name: str
    root: Path

    def __iter__(self) -> Iterator[Text]:
        return _stream(self.name, self.root)


def restricted_texts(root: Path) -> dict[str, RestrictedTexts]:
    """Texts of the restricted data sets that a data root holds, for the guard."""
    return {name: RestrictedTexts(name, root) for name in restricted_in(root)}


def _stream(name: str, root: Path) -> Iterator[Text]:
    events = next((file for file in load_manifest(name).files if "NOTEEVENTS" in file.path), None)
    path = find(name, root, events.path) if events else None
    if path is not None:  # whole notes hold more than the sections that records keep
        for note in notes.radiology_notes(path):
            yield note.text
            yield from numbers(note)
    for record in READERS[name].load(root) if path is None else []:
        yield from texts(record)
        yield from numbers(record)
    yield from identifiers(name, root)


def public_texts(root: Path | None) -> Iterator[str]:
    """Texts that are no leak anywhere: what the papers print, and the open data sets of a data root."""
    for path in sorted(PAPERS.rglob("*.*")):
        if path.suffix in (".yml", ".csv"):
            yield path.read_text(encoding="utf-8")
    for name in names() if root is not None else []:
        if root is not None and not load_manifest(name).restricted:
            for record in load(name, root):
                yield from (value for value in vars(record).values() if isinstance(value, str))
