"""Every data set by name: its records from a data root, its counts, and the texts that the guard watches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
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
    radgraph,
    radpref,
    radsprl,
    rate_eval,
    rate_ner,
    raw_texts,
    rexval,
    rrs_lines,
)
from radeval_lib.data.construction import notes, procedure, rrs
from radeval_lib.data.manifests import find, load_manifest, names, restricted_in
from radeval_lib.paths import PAPERS

Records = list[Any]
Counts = dict[str, int]
_SPLITS = ("train", "dev", "test")
_SPLIT_FILES = tuple(f"{split}.json" for split in _SPLITS)
# What authors of code wrote, without a word of a report.
_WITHOUT_REPORTS = ("idx2label.json", "procedure_titles_mapped.csv", "rules.json")


@dataclass(frozen=True)
class Reader:
    """How a data set is read: ``load(root)`` gives records, ``count(records)`` counts named as printed."""

    load: Callable[[Path], Records]
    count: Callable[[Records], Counts] = lambda records: {}


def _found(name: str, root: Path) -> list[Path | None]:
    """The files of a data set in its manifest's order, None for each that is not there."""
    return [find(name, root, file.path) for file in load_manifest(name).files]


def _each(name: str, load: Callable[[Path], Iterable[Any]], *files: str) -> Callable[[Path], Records]:
    """What reads those files of a data set that are there; a record tells the split by which its file is
    called."""

    def read(root: Path) -> Records:
        records: Records = []
        for file in files:
            path = find(name, root, file)
            split = Path(file).name.split("_")[0].split(".")[0]
            for record in load(path) if path else []:
                told = split in _SPLITS and hasattr(record, "split")
                records.append(replace(record, split=split) if told else record)
        return records

    return read


def _by_split(records: Iterable[Any]) -> Counts:
    return dict(sorted(Counter(record.split for record in records).items()))


def _rate_ner(root: Path) -> Records:
    """Span files, which need no list of labels; the IOB files hold the same sentences."""
    records: Records = []
    for folder, group in rate_ner.SOURCES.items():
        spans = [f"rate_ner/{folder}/{split}_span.json" for split in _SPLITS]
        records += _each("rate_ner", partial(rate_ner.load_span, group=group), *spans)(root)
    return records


# Scale of the records and name in Table 3 of each task's folder.
_RATE_EVAL_TASKS = {
    "Task1_sentence_rate": ("sentence", "sentence level"),
    "Task2_paragraph_rate": ("paragraph", "paragraph level"),
}


def _rate_eval_pairs(path: Path) -> Records:
    split, task = path.stem.removeprefix("rate_"), path.parent.name
    scale = _RATE_EVAL_TASKS[task][0]
    return [replace(one, group=task, split=split, scale=scale) for one in rate_eval.load_pairs(path)]


def _rate_eval(root: Path) -> Records:
    tables = [file.path for file in load_manifest("rate_eval").files if file.path.endswith(".csv")]
    pairs = _each("rate_eval", _rate_eval_pairs, *tables)(root)
    return pairs + _each("rate_eval", rate_eval.load_triads, "triads.json")(root)


def _rate_eval_counts(records: Records) -> Counts:
    rest = ("", "simulated reports")
    return Counter(_RATE_EVAL_TASKS.get(getattr(record, "group", ""), rest)[1] for record in records)


def _radgraph_counts(records: Records) -> Counts:
    reports = {record.id.partition("/labeler_")[0]: record for record in records}
    return {**_by_split(reports.values()), "reports": len(reports)}


def _radsum(root: Path) -> Records:
    records: Records = []
    files = [path for path in _found("radsum23", root) if path is not None]
    for path in files:
        impressions = path.with_name(path.name.replace(".findings.", ".impression."))
        if impressions != path and impressions in files:
            split = path.name.split(".")[0].replace("validate", "dev")
            records += rrs_lines.load(path, impressions, group=path.parent.name, split=split)
    return records


def _mimic_cxr(root: Path) -> Records:
    sections, splits = _found("mimic_cxr_rrs", root)
    if not (sections and splits):
        return []
    return mimic_cxr.pairs(mimic_cxr.load_sections(sections), mimic_cxr.load_splits(splits))


def _mimic3_rrs(root: Path) -> Records:
    path, listed = _found("mimic3_rrs", root)
    if path is None:
        return []
    rules = rrs.load_rules(listed) if listed else rrs.PatternRules()
    return rrs.report_split(rrs.build(notes.radiology_notes(path), rules))


def _mtsamples(root: Path) -> Records:
    whole, part = _found("mtsamples", root)
    if whole:
        return list(mtsamples.load(whole))
    return list(mtsamples.load(part, partial=True)) if part else []


def _mts_dialog(root: Path) -> Records:
    scores, summaries = _found("mts_dialog", root)
    return list(mts_dialog.load(scores, summaries)) if scores and summaries else []


def _mslr(root: Path) -> Records:
    """Ratings by facet, then preferences."""
    rated = _each("mslr", mslr.load_ratings, *(f"{one}.tsv" for one in mslr.RATERS))(root)
    return rated + _each("mslr", mslr.load_preferences, *(f"{one}.tsv" for one in mslr.JUDGES))(root)


def _radpref(root: Path) -> Records:
    first, *users = _found("radpref", root)
    if first is None:
        return []
    cases = radpref.load_cases(first)
    ratings = [rating for path in users if path for rating in radpref.load_ratings(path)]
    scales: tuple[radpref.Scale, ...] = ("grade", "errors", "error_share")
    return [pair for scale in scales for pair in radpref.rated_pairs(cases, ratings, scale)]


def _rexval(root: Path) -> Records:
    """Candidates, counts, and where both are there the pairs with each rater's errors."""
    first, second = _found("rexval", root)
    reports = rexval.load_reports(first) if first else []
    counts = rexval.load_counts(second) if second else []
    return [*reports, *counts, *rexval.rated_pairs(reports, counts)]


def _procedure(root: Path) -> Records:
    """The documents as somebody built them, else built from the notes, with the paper's split."""
    events, mapping, built = _found("mimic3_procedure", root)
    if built:
        return procedure.report_split(procedure.load(built))
    if not (events and mapping):
        return []
    codes = procedure.load_mapping(mapping)
    return procedure.report_split(procedure.build(notes.radiology_notes(events), codes))


READERS = {
    "green_training": Reader(
        _each("green_training", green_training.load, "train.json"), lambda records: {"pairs": len(records)}
    ),
    # The paper prints only the sum with MIMIC-CXR's half.
    "mediqa2021": Reader(_each("mediqa2021", mediqa.load, "indiana_dev.json")),
    "mediqa2021_mimic_cxr": Reader(
        _each(
            "mediqa2021_mimic_cxr",
            partial(mediqa.load, group="MIMIC-CXR", restricted=True),
            *_SPLIT_FILES[:2],
        ),
        lambda records: {"train": sum(record.split == "train" for record in records)},
    ),
    "mimic3_procedure": Reader(
        _procedure,
        lambda records: {
            "documents": len(records),
            "classes": len({record.label for record in records}),
        },
    ),
    "mimic3_rrs": Reader(
        _mimic3_rrs,
        lambda records: {
            "reports": len(records),
            "pairs of modality and anatomy": len({record.group for record in records}),
        },
    ),
    "mimic_cxr_rrs": Reader(_mimic_cxr, lambda records: {"reports": len(records)}),
    "mslr": Reader(_mslr),
    "mtsamples": Reader(_mtsamples, mtsamples.counts),
    "mts_dialog": Reader(_mts_dialog),
    "openi": Reader(
        _each("openi", openi.load, "indiana_reports.csv"),
        lambda records: {"pairs with findings and impression": len(openi.pairs(records))},
    ),
    "primock57": Reader(_each("primock57", primock57.load, "results.csv")),
    "radgraph": Reader(_each("radgraph", radgraph.load, *_SPLIT_FILES), _radgraph_counts),
    "radpref": Reader(_radpref),
    "radsprl": Reader(
        _each("radsprl", radsprl.load, "Rad-SpRL.xml"), lambda records: {"reports": len(records)}
    ),
    "radsum23": Reader(_radsum, rrs_lines.counts),
    "rate_eval": Reader(_rate_eval, _rate_eval_counts),
    "rate_ner": Reader(_rate_ner, rate_ner.counts),
    "rexval": Reader(
        _rexval, lambda records: {"pairs": sum(isinstance(record, rexval.Candidate) for record in records)}
    ),
    "rexval_counts": Reader(
        _each("rexval_counts", rexval.load, ""),
        lambda records: {
            "pairs": len({(record.study, record.origin) for record in records}),
            "raters": len({record.rater for record in records}),
        },
    ),
    "stanza_radiology": Reader(_each("stanza_radiology", iob.load, *_SPLIT_FILES), _by_split),
}


def load(name: str, root: Path) -> Records:
    """Records of a data set; empty where the data root does not hold it."""
    load_manifest(name)
    return READERS[name].load(root)


@dataclass(frozen=True)
class RestrictedTexts:
    """The texts and identifiers of a restricted data set, as its files have them, streamed each time that one
    goes through them: a loader keeps less, such as only the reports that have both sections."""

    name: str
    root: Path

    def __iter__(self) -> Iterator[str]:
        for file in load_manifest(self.name).files:
            yield from self.of_file(file.path)

    def of_file(self, file: str) -> Iterator[str]:
        """Those of one file; nothing where it is not there."""
        path = find(self.name, self.root, file)
        if path is not None and path.name not in _WITHOUT_REPORTS:
            yield from raw_texts.of_file(path, load_manifest(self.name).identifiers)


def restricted_texts(root: Path) -> dict[str, RestrictedTexts]:
    """Texts of the restricted data sets that a data root holds, for the guard."""
    return {name: RestrictedTexts(name, root) for name in restricted_in(root)}


def public_texts(root: Path | None) -> Iterator[str]:
    """Texts that are no leak anywhere: what the papers print, and the open data sets of a data root."""
    for path in sorted(PAPERS.rglob("*.*")):
        if path.suffix in (".yml", ".csv"):
            yield path.read_text(encoding="utf-8")
    for name in names() if root is not None else []:
        if root is not None and not load_manifest(name).restricted:
            for record in load(name, root):
                yield from (value for value in vars(record).values() if isinstance(value, str))
