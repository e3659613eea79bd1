"""RadPref: chest X-ray reports with two machine-written candidates each, rated by three radiologists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib.data import reading
from radeval_lib.data.readers import Find
from radeval_lib.data.recorded import Recording, placeholder_table
from radeval_lib.data.records import RatedPair

CASES_FILE = "preference_data.json"
RATING_FILES = ("user_1.json", "user_2.json", "user_3.json")
"""The ratings of each radiologist."""
CANDIDATES = ("C1", "C2")
SIGNIFICANCES = ("urgent", "actionable_not_urgent", "not_actionable_not_urgent", "benign_expected")
SYSTEMS: dict[str | int, str] = {"medgemma": "MedGemma", "gpt": "GPT"}
"""RadPref's systems in the words of its authors, by their names in its files and in its stored numbers."""
SYSTEMS |= {1: "MedGemma", "system 1": "MedGemma", 2: "GPT", "system 2": "GPT"}
MARKS = tuple((kind, significance) for kind in ("false", "missing") for significance in SIGNIFICANCES)
MARKS += (("attribute", "significant"), ("attribute", "negligible"))
"""Kind and significance of every error that a radiologist can mark."""
SIGNIFICANT = frozenset(["urgent", "actionable_not_urgent", "significant"])
"""The marks that GREEN would call clinically significant: they ask for something to be done."""


Mark = tuple[str, int, str]
"""Kind, number of the finding, and significance of one marked error."""


def candidates(path: Path) -> pd.DataFrame:
    """Return one row per candidate of ``preference_data.json``, in the file's order, numbered from 0.

    Returns
    -------
    DataFrame
        ``number``; ``case``: equal if the reference is; ``set``: which two were graded side by side;
        ``system``, numbered by first appearance; ``reference_findings``, ``candidate_findings``: how many are
        listed. Of the files alone, not stored: ``reference`` and ``text``, ``name`` (``<case>/C1``) and
        ``source``, the system.
    """
    table = pd.DataFrame(
        {
            "number": len(CANDIDATES) * side_by_side + at,
            "case": case["ground_truth_report"],
            "set": side_by_side,
            "system": case[f"{key}_source"],
            "reference_findings": len(case["ground_truth_findings"]),
            "candidate_findings": len(case[f"{key}_findings"]),
            "reference": case["ground_truth_report"],
            "text": case[f"{key}_report"],
            "name": f"{case['id']}/{key}",
            "source": case[f"{key}_source"],
        }
        for side_by_side, case in enumerate(reading.read_objects(path))
        for at, key in enumerate(CANDIDATES)
    )
    return table.assign(case=pd.factorize(table["case"])[0], system=pd.factorize(table["system"])[0] + 1)


def marks(paths: Sequence[Path], table: pd.DataFrame) -> pd.DataFrame:
    """Return how many marks each radiologist made on each candidate, by radiologist and candidate.

    Parameters
    ----------
    paths : a radiologist's ``user_<n>.json`` each.
    table : of :func:`candidates`.

    Returns
    -------
    DataFrame
        ``number`` of the candidate; ``rater``, from 1 in the order of the files; ``grade``, from 1 (worst) to
        5; ``stated`` findings, those without a mark (``clean``), with none that is false (``right``), or that
        is false or significant (``passable``); and a count for each of :data:`MARKS`, as ``false_urgent``.
        Marks on findings beyond those listed count too, so that the three numbers are cut at 0. Of the files
        alone: ``user``, what they call the radiologist.
    """
    listed = zip(table["number"], table["candidate_findings"], strict=True)
    by_name = dict(zip(table["name"], listed, strict=True))
    rows = []
    for rater, path in enumerate(paths, start=1):
        content = reading.read_json(path, dict)
        for case, judged in content["annotations"].items():
            for key in CANDIDATES:
                number, stated = by_name[f"{case}/{key}"]
                errors = list(_errors(judged[key]))
                in_candidate = [error for error in errors if error[0] != "missing"]
                false = {finding for kind, finding, _ in in_candidate if kind == "false"}
                significant = {finding for _, finding, weight in in_candidate if weight in SIGNIFICANT}
                row = {
                    "number": number,
                    "rater": rater,
                    "grade": judged[key]["rating"],
                    "stated": stated,
                    "clean": max(0, stated - len({finding for _, finding, _ in in_candidate})),
                    "right": max(0, stated - len(false)),
                    "passable": max(0, stated - len(false | significant)),
                }
                counted = Counter((kind, weight) for kind, _, weight in errors)
                row |= {"_".join(mark): counted[mark] for mark in MARKS}
                rows.append({**row, "user": content["user_id"]})
    return pd.DataFrame(rows).sort_values(["rater", "number"], ignore_index=True)


def _errors(judged: dict[str, Any]) -> Iterator[Mark]:
    """Yield every error that was marked in a candidate: ``false`` (a finding that is not there) and
    ``attribute`` with the number of the candidate's finding, ``missing`` with that of the reference's."""
    for finding, error in judged["finding_errors"].items():
        if error.get("error_type") == "attribute":
            for significance in error["attributes"].values():
                yield "attribute", int(finding), significance
        else:
            yield "false", int(finding), error["clinical_significance"]
    for finding, error in judged["missing_findings"].items():
        yield "missing", int(finding), error["clinical_significance"]


def _rated_pairs(rows: pd.DataFrame) -> Iterator[RatedPair]:
    """Yield every rating with the two texts that it is about, on one scale after the other.

    ``grade`` is the rating from 1 to 5; ``errors`` how many errors the rater marked, of any significance;
    ``error_share`` that number by the findings that both texts list, at most 1; of texts that list none, 1 if
    an error was marked all the same. ``rows`` has the columns of :func:`marks` and :func:`candidates`.
    """
    marked = rows[["_".join(mark) for mark in MARKS]].sum(axis=1)
    possible = rows["reference_findings"] + rows["candidate_findings"]
    shares = np.where(possible > 0, np.minimum(1, marked / np.maximum(possible, 1)), marked > 0)
    for scale, values in (("grade", rows["grade"]), ("errors", marked), ("error_share", shares)):
        for row, value in zip(rows.itertuples(), values, strict=True):
            texts = row.reference, row.text
            yield RatedPair(row.name, *texts, float(value), row.user, group=row.source, scale=scale)


def recorded_pairs(recording: Recording) -> Iterator[RatedPair]:
    """Yield the rated pairs on every scale, from the recording."""
    rows = recording.parts["ratings"].merge(recording.table, on="number")
    placeholders = placeholder_table(recording.name).loc[rows["number"]]
    names = [f"{row.set:03d}/{CANDIDATES[row.number % len(CANDIDATES)]}" for row in rows.itertuples()]
    return _rated_pairs(
        rows.assign(
            name=names,
            reference=placeholders["reference"].to_numpy(),
            text=placeholders["candidate"].to_numpy(),
            user=rows["rater"].astype(str),
            source="system " + rows["system"].astype(str),
        )
    )


def read(find: Find) -> list[RatedPair]:
    cases, given = find(CASES_FILE), [path for path in map(find, RATING_FILES) if path]
    if cases is None or not given:
        return []
    table = candidates(cases)
    return list(_rated_pairs(marks(given, table).merge(table, on="number")))
