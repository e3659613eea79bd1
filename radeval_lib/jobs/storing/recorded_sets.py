"""The public test sets that can be recorded, and what is known of each beside scores.

Of most sets a row stands for a candidate with one score by each metric (:data:`SETS`); of others the table is
more than that, or other (:data:`TABLES`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pandas as pd

from radeval_lib.data import mts_dialog, radpref, readers
from radeval_lib.data.manifests import find
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import ParameterError
from radeval_lib.jobs.facts import copying
from radeval_lib.jobs.green import labelled_sentences
from radeval_lib.jobs.rales import impression_versions
from radeval_lib.jobs.storing import trial_reviews
from radeval_lib.jobs.storing.facts_by_metric import FOUND, found_in_source
from radeval_lib.metrics.base import Metric
from radeval_lib.study import recordings
from radeval_lib.study.runs import Run

DECIMALS = 9  # of stored scores
WORDS: dict[str, tuple[str, ...]] = {"openi": ("pneumothorax", "cardiomegaly", "radiodensity")}
"""Words that a report of a set has or not: those that RaLEs calls frequent."""
RATINGS = {
    "radpref": ("grade_1", "grade_2", "grade_3"),
    "mts_dialog": ("f1",),
    "mslr": ("rating",),
    "mediqa2021": ("normal",),
}
"""The columns whose mean a column of scores is correlated with, of a set that has ratings."""
SCORING = {
    "mediqa2021": ("rouge_2", "rouge_l", "bleu", "bertscore", "observations"),
    "mslr": trial_reviews.WORDS,
    "mtsamples": ("rouge_1", "rouge_l"),
    "openi": ("green_rules_errors",),
}
"""The metrics that score texts of a set of :data:`TABLES`; of Open-i's sentences, the judge by rules is the
instrument."""
CHOOSERS = {"mediqa2021": "observations"}
"""The metric that also chooses the texts of a set, whose other columns are out of date with its own."""

Parts = dict[str, pd.DataFrame]
"""Further tables of a set, by name."""
Metrics = Mapping[str, Metric]


def names() -> list[str]:
    """Return every set that can be recorded."""
    return [*SETS, *TABLES, recordings.SYSTEMS]


def _lengths(name: str, root: Path) -> pd.DataFrame:
    """Return the words of each report's sections, and whether it has a word that a paper asks for."""
    records = readers.load(name, root)
    frame = pd.DataFrame(
        {
            "number": range(len(records)),
            "findings_words": [len(reveal(record.findings).split()) for record in records],
            "impression_words": [len(reveal(record.impression).split()) for record in records],
        }
    )
    for word in WORDS.get(name, ()):
        texts = [f"{reveal(record.findings)} {reveal(record.impression)}".lower() for record in records]
        frame[f"word_{word}"] = [int(word in text) for text in texts]
    return frame


def _mediqa(run: Run, root: Path, metrics: Metrics) -> tuple[pd.DataFrame, Parts]:
    """Return lengths of reports; normal and other impressions beside normal ones, with ``case`` (the
    reference) and ``normal``."""
    scored = impression_versions.real_impressions(run, metrics)
    kept = pd.DataFrame(
        {
            "number": range(len(scored)),
            "case": scored["report"].astype(int),
            "normal": (scored["phenomenon"] == impression_versions.NORMAL).astype(int),
            **{f"{side}_words": scored[side].str.split().str.len() for side in ("reference", "candidate")},
            **{key: scored[key].round(DECIMALS) for key in metrics},
        }
    )
    return _lengths("mediqa2021", root), {"impressions": kept}


def _openi(run: Run, root: Path, metrics: Metrics) -> tuple[pd.DataFrame, Parts]:
    """Return lengths and words of reports; what the rules answer of labelled sentences, and of pairs of
    them."""
    sentences, pairs = labelled_sentences.answers(run)
    return _lengths("openi", root), {"sentences": sentences, "pairs": pairs}


def _mtsamples(run: Run, root: Path, metrics: Metrics) -> tuple[pd.DataFrame, Parts]:
    """Return a row per transcription: ``case`` (its text), ``specialty``, words of both texts, and how much
    of the description is copied."""
    documents = readers.load("mtsamples", root)
    texts, summaries = ([reveal(getattr(note, side)) for note in documents] for side in ("text", "summary"))
    frame = pd.DataFrame(
        {
            "number": range(len(documents)),
            "case": pd.factorize(pd.Series(texts))[0],
            "specialty": pd.factorize(pd.Series([note.group for note in documents]))[0] + 1,
            "text_words": [len(text.split()) for text in texts],
            "description_words": [len(text.split()) for text in summaries],
        }
    )
    return frame.join(copying.measured(texts, summaries).round(DECIMALS)), {}


def _mslr(run: Run, root: Path, metrics: Metrics) -> tuple[pd.DataFrame, Parts]:
    """Return summaries of trials with facet ratings, and decided preferences, both with scores."""
    judged = trial_reviews.load(run, metrics)
    return judged.summaries, {"preferences": judged.preferences}


def _radpref(root: Path) -> tuple[pd.DataFrame, Parts]:
    """Return RadPref's candidates (:func:`radpref.candidates`) with the grade that each radiologist gave,
    from 1 to 5, and what each marked (:func:`radpref.marks`) as ``ratings``."""
    cases, ratings = radpref.load(partial(_found, "radpref", root))
    marks = radpref.marks(cases, ratings)
    frame = radpref.candidates(cases).drop(columns=["reference", "text"])
    grades = marks.pivot(index="number", columns="rater", values="grade")
    for rater in grades:
        frame[f"grade_{rater}"] = frame["number"].map(grades[rater])
    return frame, {"ratings": marks}


def _mts_dialog(root: Path) -> tuple[pd.DataFrame, Parts]:
    """Return a row per candidate: ``number``, ``case`` (a dialogue), ``system``, the experts' rates, the
    words of the dialogue, and the share of the candidate's words that it holds."""
    records = readers.load("mts_dialog", root)
    rates = pd.read_csv(_found("mts_dialog", root, mts_dialog.SCORES))
    frame = pd.DataFrame(
        {
            "number": range(len(records)),
            "case": pd.factorize(pd.Series([record.case for record in records]))[0],
            "system": [int(record.group.removeprefix("system ")) for record in records],
            **{
                rate: [getattr(record, rate) for record in records]
                for rate in ("precision", "recall", "f1", "hallucination", "omission")
            },
            "edit_distance": rates["Edit Distance (Correction)"].to_numpy(),
            "source_words": [len(record.source.split()) for record in records],
            FOUND: [round(found_in_source(record.source, record.candidate), DECIMALS) for record in records],
        }
    )
    return frame, {}


def _fingerprints(root: Path) -> tuple[pd.DataFrame, Parts]:
    """Return a row per edit of a report: ``number``, ``case`` (the report) and ``edit``."""
    pairs = recordings.edited_reports(root)
    return pd.DataFrame(
        {
            "number": range(len(pairs)),
            "case": [int(pair.case) for pair in pairs],
            "edit": [pair.group for pair in pairs],
        }
    ), {}


def _found(name: str, root: Path, file: str) -> Path:
    path = find(name, root, file)
    if path is None:
        raise ParameterError(f"the data root has no {file}", name, f"See `radbook data status {name}`.")
    return path


SETS: dict[str, Callable[[Path], tuple[pd.DataFrame, Parts]]] = {
    "radpref": _radpref,
    "mts_dialog": _mts_dialog,
    "fingerprints": _fingerprints,
}
"""What is known of each candidate of a set beside its scores, and further tables by name."""
TABLES: dict[str, Callable[[Run, Path, Metrics], tuple[pd.DataFrame, Parts]]] = {
    "mediqa2021": _mediqa,
    "mslr": _mslr,
    "mtsamples": _mtsamples,
    "openi": _openi,
}
"""Sets of which the table is more, or other, than candidates with one score by each metric."""
