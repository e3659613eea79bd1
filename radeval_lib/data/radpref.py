"""RadPref: chest X-ray reports with two machine-written candidates each, rated by three radiologists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib.data import reading
from radeval_lib.data.readers import Find, Reader
from radeval_lib.data.recorded import Recording, texts
from radeval_lib.data.records import RatedPair
from radeval_lib.stats.base import FloatArray

CASES_FILE = "preference_data.json"
RATING_FILES = ("user_1.json", "user_2.json", "user_3.json")
"""The ratings of each radiologist."""
CANDIDATES = ("C1", "C2")
SIGNIFICANCES = ("urgent", "actionable_not_urgent", "not_actionable_not_urgent", "benign_expected")
SYSTEMS: dict[str | int, str] = {"medgemma": "MedGemma", "gpt": "GPT"}
"""RadPref's systems in the words of its authors, by their names in its files and in its stored numbers."""
SYSTEMS |= {1: "MedGemma", "system 1": "MedGemma", 2: "GPT", "system 2": "GPT"}
MARKS = tuple(
    (kind, significance)
    for kind, significances in (
        ("false", SIGNIFICANCES),
        ("missing", SIGNIFICANCES),
        ("attribute", ("significant", "negligible")),
    )
    for significance in significances
)
"""Kind and significance of every error that a radiologist can mark."""
SIGNIFICANT = frozenset(["urgent", "actionable_not_urgent", "significant"])
"""The marks that GREEN would call clinically significant: they ask for something to be done."""


@dataclass(frozen=True)
class Case:
    """A radiologist's report and two candidates; findings are listed for each."""

    id: str
    reference: str
    reference_findings: tuple[str, ...]
    candidates: dict[str, str]
    candidate_findings: dict[str, tuple[str, ...]]
    sources: dict[str, str]


@dataclass(frozen=True)
class MarkedError:
    """An error that a radiologist marked.

    ``kind`` is ``false`` (finding that is not there), ``missing`` (finding left out) or ``attribute``;
    ``finding`` the number of the finding, in the candidate's list or, where missing, in the reference's;
    ``significance`` one of :data:`SIGNIFICANCES`, or for an attribute ``significant`` or ``negligible``.
    """

    kind: str
    finding: int
    significance: str
    attribute: str = ""


@dataclass(frozen=True)
class RadPrefRating:
    """What one radiologist said about one candidate: a rating from 1 (worst) to 5, and the errors marked."""

    case: str
    candidate: str
    rater: str
    rating: int
    errors: tuple[MarkedError, ...]


def load(find: Find) -> tuple[list[Case], list[RadPrefRating]]:
    """Return the cases, and the ratings of one radiologist after the other, all in the order of the cases:
    each radiologist's file has an order of its own. Both are empty if the cases are absent."""
    path = find(CASES_FILE)
    cases = load_cases(path) if path else []
    order = {case.id: number for number, case in enumerate(cases)}
    by_rater = [load_ratings(path) for path in map(find, RATING_FILES) if path] if cases else []
    return cases, [
        rating for ratings in by_rater for rating in sorted(ratings, key=lambda rating: order[rating.case])
    ]


def load_cases(path: Path) -> list[Case]:
    """Return cases of ``preference_data.json``, in the file's order."""
    return [
        Case(
            id=item["id"],
            reference=item["ground_truth_report"],
            reference_findings=tuple(item["ground_truth_findings"]),
            candidates={name: item[f"{name}_report"] for name in CANDIDATES},
            candidate_findings={name: tuple(item[f"{name}_findings"]) for name in CANDIDATES},
            sources={name: item[f"{name}_source"] for name in CANDIDATES},
        )
        for item in reading.read_objects(path)
    ]


def load_ratings(path: Path) -> list[RadPrefRating]:
    """Return ratings of one ``user_<n>.json``: two for each case, in the file's order."""
    content = reading.read_json(path, dict)
    return [
        RadPrefRating(case, name, content["user_id"], item[name]["rating"], tuple(_errors(item[name])))
        for case, item in content["annotations"].items()
        for name in CANDIDATES
    ]


def _errors(judged: dict[str, Any]) -> Iterator[MarkedError]:
    """Yield every error of a candidate, those in it first; the file has them by the number of the finding."""
    for finding, error in judged["finding_errors"].items():
        if error.get("error_type") == "attribute":
            for attribute, significance in error["attributes"].items():
                yield MarkedError("attribute", int(finding), significance, attribute)
        else:
            yield MarkedError("false", int(finding), error["clinical_significance"])
    for finding, error in judged["missing_findings"].items():
        yield MarkedError("missing", int(finding), error["clinical_significance"])


def candidates(cases: Sequence[Case]) -> pd.DataFrame:
    """Return one row per candidate, in the file's order, numbered from 0.

    Returns
    -------
    DataFrame
        ``number``; ``case``: equal where the reference is; ``set``: which two were graded side by side;
        ``system``, numbered by first appearance; ``reference_findings``, ``candidate_findings``: how many are
        listed; ``reference`` and ``text``.
    """
    rows = [(number, case, key) for number, case in enumerate(cases) for key in CANDIDATES]
    return pd.DataFrame(
        {
            "number": range(len(rows)),
            "case": pd.factorize(pd.Series([case.reference for _, case, _ in rows]))[0],
            "set": [number for number, _, _ in rows],
            "system": pd.factorize(pd.Series([case.sources[key] for _, case, key in rows]))[0] + 1,
            "reference_findings": [len(case.reference_findings) for _, case, _ in rows],
            "candidate_findings": [len(case.candidate_findings[key]) for _, case, key in rows],
            "reference": [case.reference for _, case, _ in rows],
            "text": [case.candidates[key] for _, case, key in rows],
        }
    )


def marks(cases: Sequence[Case], ratings: Sequence[RadPrefRating]) -> pd.DataFrame:
    """Return the counts of a radiologist's marks on each candidate: one row for each two, by radiologist and
    candidate.

    Returns
    -------
    DataFrame
        ``number`` of the candidate; ``rater``, from 1 in the order of the ratings; ``grade``; ``stated``
        findings, those without a mark (``clean``), with none that is false (``right``), or that is false or
        significant (``passable``); and a count for each of :data:`MARKS`, as ``false_urgent``. Marks on
        findings beyond those listed count too, so that the three numbers are cut at 0.
    """
    numbers = {case.id: number for number, case in enumerate(cases)}
    names = dict.fromkeys(rating.rater for rating in ratings)
    raters = {name: number for number, name in enumerate(names, start=1)}
    rows = []
    for rating in ratings:
        stated = len(cases[numbers[rating.case]].candidate_findings[rating.candidate])
        in_candidate = [error for error in rating.errors if error.kind != "missing"]
        false = {error.finding for error in in_candidate if error.kind == "false"}
        significant = {error.finding for error in in_candidate if error.significance in SIGNIFICANT}
        row = {
            "number": numbers[rating.case] * len(CANDIDATES) + CANDIDATES.index(rating.candidate),
            "rater": raters[rating.rater],
            "grade": rating.rating,
            "stated": stated,
            "clean": max(0, stated - len({error.finding for error in in_candidate})),
            "right": max(0, stated - len(false)),
            "passable": max(0, stated - len(false | significant)),
        }
        for mark in MARKS:
            row["_".join(mark)] = sum((error.kind, error.significance) == mark for error in rating.errors)
        rows.append(row)
    return pd.DataFrame(rows).sort_values(["rater", "number"], ignore_index=True)


def rated_pairs(cases: Sequence[Case], ratings: Sequence[RadPrefRating]) -> list[RatedPair]:
    """Return every rating with the two texts that it is about, on one scale after the other; ``group`` is the
    system that wrote the candidate.

    ``grade`` is the rating from 1 to 5; ``errors`` how many errors the rater marked, of any significance;
    ``error_share`` that number by the findings that both texts list (:func:`error_share`).
    """
    by_id = {case.id: case for case in cases}
    pairs: dict[str, list[RatedPair]] = {"grade": [], "errors": [], "error_share": []}
    for rating in ratings:
        case, errors = by_id[rating.case], len(rating.errors)
        possible = len(case.reference_findings) + len(case.candidate_findings[rating.candidate])
        share = float(error_share(errors, possible))
        values: dict[str, float] = {"grade": rating.rating, "errors": errors, "error_share": share}
        for scale, value in values.items():
            pair = RatedPair(
                id=f"{rating.case}/{rating.candidate}",
                reference=case.reference,
                candidate=case.candidates[rating.candidate],
                rating=float(value),
                rater=rating.rater,
                group=case.sources[rating.candidate],
                scale=scale,
            )
            pairs[scale].append(pair)
    return [pair for on_scale in pairs.values() for pair in on_scale]


def error_share(marked: Any, possible: Any) -> FloatArray:
    """Return errors by the findings that could be wrong or missing, at most 1; of texts that list no finding,
    1 if an error was marked all the same. Both are numbers or arrays of one shape."""
    return np.where(possible > 0, np.minimum(1, marked / np.maximum(possible, 1)), marked > 0)


def recorded_pairs(recording: Recording) -> Iterator[RatedPair]:
    """Yield the rated pairs on every scale, from what is recorded of them."""
    pairs = texts(recording.name)
    rows = recording.parts["ratings"].merge(recording.table, on="number")
    marked = rows[["_".join(mark) for mark in MARKS]].sum(axis=1)
    possible = rows["reference_findings"] + rows["candidate_findings"]
    shares = error_share(marked, possible)
    for scale, values in (("grade", rows["grade"]), ("errors", marked), ("error_share", shares)):
        for row, value in zip(rows.itertuples(), values, strict=True):
            yield RatedPair(
                id=f"{row.set:03d}/{CANDIDATES[row.number % len(CANDIDATES)]}",
                reference=pairs.at[row.number, "reference"],
                candidate=pairs.at[row.number, "candidate"],
                rating=float(value),
                rater=str(row.rater),
                group=f"system {row.system}",
                scale=scale,
            )


READER = Reader(lambda find: rated_pairs(*load(find)))
