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
"""The names of RadPref's systems, by what its files and the stored set call them."""
SYSTEMS |= {1: "MedGemma", "system 1": "MedGemma", 2: "GPT", "system 2": "GPT"}
MARKS = tuple((kind, significance) for kind in ("false", "missing") for significance in SIGNIFICANCES)
MARKS += (("attribute", "significant"), ("attribute", "negligible"))
"""The kind and significance of each error that a radiologist can mark."""
SIGNIFICANT = frozenset(["urgent", "actionable_not_urgent", "significant"])
"""The significances that GREEN would call clinically significant, because they call for action."""
Mark = tuple[str, int, str]
"""Kind, number of the finding, and significance of one marked error."""


def candidates(path: Path) -> pd.DataFrame:
    """Return one row per candidate of ``preference_data.json``, in the file's order, numbered from 0.

    Returns
    -------
    DataFrame
        ``number``; ``case``, a number for each reference; ``set``, a number for each two candidates that were
        graded side by side;
        ``system``, numbered from 1 by first appearance; ``reference_findings``, ``candidate_findings``: the
        numbers of listed findings. These are not stored: ``reference`` and ``text``, ``name`` (``<case>/C1``)
        and ``source``, the system's name in the file.
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
    """Return the number of marks of each radiologist on each candidate, a row for each of both.

    Parameters
    ----------
    paths : the radiologists' files ``user_<n>.json``.
    table : the rows of :func:`candidates`.

    Returns
    -------
    DataFrame
        ``number`` of the candidate; ``rater``, from 1 in the order of the files; ``grade``, from 1 (worst) to
        5. Numbers of findings: ``stated``; ``clean``, without a mark; ``right``, not marked as false;
        ``passable``, without a false or significant mark. These three are at least 0 although findings beyond
        the listed ones can be marked. Numbers of each of :data:`MARKS`, such as ``false_urgent``. Not stored:
        ``user``, the radiologist's name in the file.
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
    """Yield every marked error of a candidate: ``false`` (a finding that the image does not show) and
    ``attribute`` with the number of the candidate's finding, ``missing`` with the reference's."""
    for finding, error in judged["finding_errors"].items():
        if error.get("error_type") == "attribute":
            for significance in error["attributes"].values():
                yield "attribute", int(finding), significance
        else:
            yield "false", int(finding), error["clinical_significance"]
    for finding, error in judged["missing_findings"].items():
        yield "missing", int(finding), error["clinical_significance"]


def _rated_pairs(rows: pd.DataFrame) -> Iterator[RatedPair]:
    """Yield every rating with its two texts, scale by scale.

    ``grade`` is from 1 to 5; ``errors`` is the number of marked errors of any significance; ``error_share``
    divides it by the number of findings that both texts list and is at most 1. If neither text lists a
    finding, it is 1 if an error was marked, else 0. ``rows`` has the columns of :func:`marks` and
    :func:`candidates`.
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
