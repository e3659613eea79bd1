"""RadPref: chest X-ray reports with two machine-generated candidates each, rated by three radiologists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib.data import reading
from radeval_lib.data.readers import Find
from radeval_lib.data.recorded import Recording, tabulate_placeholders
from radeval_lib.data.records import RatedPair

CASES_FILE = "preference_data.json"
RATING_FILES = ("user_1.json", "user_2.json", "user_3.json")  # one per radiologist
CANDIDATES = ("C1", "C2")
SIGNIFICANCES = ("urgent", "actionable_not_urgent", "not_actionable_not_urgent", "benign_expected")
# A mapping from a system's name in RadPref's files or in the stored set to the name that pages show.
SYSTEMS: dict[str | int, str] = {"medgemma": "MedGemma", "gpt": "GPT"}
SYSTEMS |= {1: "MedGemma", "system 1": "MedGemma", 2: "GPT", "system 2": "GPT"}
# Kind and significance of each error that a radiologist can mark.
MARKS = tuple((kind, significance) for kind in ("false", "missing") for significance in SIGNIFICANCES)
MARKS += (("attribute", "significant"), ("attribute", "negligible"))
# Significances that GREEN would call clinically significant, because they call for action.
SIGNIFICANT = frozenset(["urgent", "actionable_not_urgent", "significant"])
Mark = tuple[str, int, str]  # kind, number of the finding, and significance of one marked error


def read_candidates(path: Path) -> pd.DataFrame:
    """Return one row per candidate of ``preference_data.json``, in the file's order, numbered from 0.

    Returns
    -------
    DataFrame
        ``number`` of the candidate; ``case``, a number for each reference, from 0; ``set``, a number for each
        pair of candidates that were graded side by side, from 0; ``system``, numbered from 1 in the order of
        appearance; ``reference_findings`` and ``candidate_findings``, the numbers of listed findings. Not
        part of the stored set: ``reference`` and ``text``, the texts of reference and candidate; ``name``,
        such as ``<id>/C1``; and ``source``, the system's name in the file.

    Raises
    ------
    FormatError
        If the file is not JSON, or an item is not an object.
    KeyError
        If an object lacks a key.
    """
    table = pd.DataFrame(
        {
            "number": len(CANDIDATES) * set_number + position,
            "case": case["ground_truth_report"],
            "set": set_number,
            "system": case[f"{key}_source"],
            "reference_findings": len(case["ground_truth_findings"]),
            "candidate_findings": len(case[f"{key}_findings"]),
            "reference": case["ground_truth_report"],
            "text": case[f"{key}_report"],
            "name": f"{case['id']}/{key}",
            "source": case[f"{key}_source"],
        }
        for set_number, case in enumerate(reading.read_objects(path))
        for position, key in enumerate(CANDIDATES)
    )
    return table.assign(case=pd.factorize(table["case"])[0], system=pd.factorize(table["system"])[0] + 1)


def read_marks(paths: Sequence[Path], table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per radiologist and candidate: the grade and the numbers of marked errors.

    Parameters
    ----------
    paths : the radiologists' files ``user_<n>.json``.
    table : the rows of :func:`read_candidates`.

    Returns
    -------
    DataFrame
        Sorted by ``rater`` (from 1, in the order of the files) and ``number`` (of the candidate). ``grade``
        is from 1 (worst) to 5. Four columns count the candidate's findings: ``stated``, all that are listed;
        ``clean``, those without a marked error; ``right``, those not marked as false; ``passable``, those
        marked neither as false nor with an error in :data:`SIGNIFICANT`. The last three are at least 0,
        although radiologists can also mark findings that are not listed. One column for each of
        :data:`MARKS`, such as ``false_urgent``, has the number of these errors. Not part of the stored set:
        ``user``, the radiologist's name in the file.

    Raises
    ------
    FormatError
        If a file is not a JSON object.
    KeyError
        If a key is missing, or a judgement is on a candidate that ``table`` lacks.
    """
    listed_findings = zip(table["number"], table["candidate_findings"], strict=True)
    by_name = dict(zip(table["name"], listed_findings, strict=True))
    rows = []
    for rater, path in enumerate(paths, start=1):
        content = reading.read_json(path, dict)
        for case, judgements in content["annotations"].items():
            for key in CANDIDATES:
                number, stated = by_name[f"{case}/{key}"]
                errors = list(_list_marks(judgements[key]))
                in_candidate = [error for error in errors if error[0] != "missing"]
                false_findings = {finding for kind, finding, _ in in_candidate if kind == "false"}
                significant = {finding for _, finding, weight in in_candidate if weight in SIGNIFICANT}
                row = {
                    "number": number,
                    "rater": rater,
                    "grade": judgements[key]["rating"],
                    "stated": stated,
                    "clean": max(0, stated - len({finding for _, finding, _ in in_candidate})),
                    "right": max(0, stated - len(false_findings)),
                    "passable": max(0, stated - len(false_findings | significant)),
                }
                counts = Counter((kind, significance) for kind, _, significance in errors)
                row |= {"_".join(mark): counts[mark] for mark in MARKS}
                rows.append({**row, "user": content["user_id"]})
    return pd.DataFrame(rows).sort_values(["rater", "number"], ignore_index=True)


def _list_marks(judgement: dict[str, Any]) -> Iterator[Mark]:
    """Yield (kind, number of the finding, significance) for each error that a radiologist marked.

    ``judgement`` is one radiologist's entry on a candidate. There are three kinds:

    - ``false``: the image does not show the finding. The number is that of the candidate's finding, and the
      significance one of :data:`SIGNIFICANCES`.
    - ``attribute``: an attribute of the finding is wrong. The number is that of the candidate's finding, and
      the significance ``significant`` or ``negligible``. A finding with several wrong attributes yields one
      error for each.
    - ``missing``: the candidate lacks the finding. The number is that of the reference's finding, and the
      significance one of :data:`SIGNIFICANCES`.
    """
    for finding, error in judgement["finding_errors"].items():
        if error.get("error_type") == "attribute":
            for significance in error["attributes"].values():
                yield "attribute", int(finding), significance
        else:
            yield "false", int(finding), error["clinical_significance"]
    for finding, error in judgement["missing_findings"].items():
        yield "missing", int(finding), error["clinical_significance"]


def _make_rated_pairs(rows: pd.DataFrame) -> Iterator[RatedPair]:
    """Yield a rated pair for each row of ``rows``, on each of three scales in turn.

    ``grade`` is from 1 (worst) to 5. ``errors`` is the number of marked errors of any significance.
    ``error_share`` divides this number by the number of findings listed in either text, and is at most 1; if
    no finding is listed, it is 1 if an error was marked, else 0. ``rows`` has the columns of
    :func:`read_marks` and :func:`read_candidates`.
    """
    errors = rows[["_".join(mark) for mark in MARKS]].sum(axis=1)
    n_findings = rows["reference_findings"] + rows["candidate_findings"]
    shares = np.where(n_findings > 0, np.minimum(1, errors / np.maximum(n_findings, 1)), errors > 0)
    for scale, values in (("grade", rows["grade"]), ("errors", errors), ("error_share", shares)):
        for row, value in zip(rows.itertuples(), values, strict=True):
            texts = row.reference, row.text
            yield RatedPair(row.name, *texts, float(value), row.user, group=row.source, scale=scale)


def restore_pairs(recording: Recording) -> Iterator[RatedPair]:
    """Yield one rated pair per radiologist and candidate of the stored set, on each of three scales in turn.

    The scales are ``grade`` (1, the worst, to 5), ``errors`` (the number of marked errors) and
    ``error_share`` (0 to 1; see :func:`_make_rated_pairs`). Texts are placeholders.
    """
    rows = recording.parts["ratings"].merge(recording.table, on="number")
    placeholders = tabulate_placeholders(recording.name).loc[rows["number"]]
    names = [f"{row.set:03d}/{CANDIDATES[row.number % len(CANDIDATES)]}" for row in rows.itertuples()]
    return _make_rated_pairs(
        rows.assign(
            name=names,
            reference=placeholders["reference"].to_numpy(),
            text=placeholders["candidate"].to_numpy(),
            user=rows["rater"].astype(str),
            source="system " + rows["system"].astype(str),
        )
    )


def read(find: Find) -> list[RatedPair]:
    """Return the rated pairs on each scale; empty if the texts or all radiologists' files are missing."""
    cases_path, rating_paths = find(CASES_FILE), [path for path in map(find, RATING_FILES) if path]
    if cases_path is None or not rating_paths:
        return []
    table = read_candidates(cases_path)
    return list(_make_rated_pairs(read_marks(rating_paths, table).merge(table, on="number")))
