"""How the observations by rules agree with what people coded in Open-i.

Fixed before the even half was scored:

- sections: findings and impression, which the coders saw; history and comparison are not read;
- labels: the thirteen codes of :data:`radeval_lib.data.openi.LABELS`, read by
  :func:`radeval_lib.rules.reader.observations.coded`;
- uncertain mentions: a code counts where it is stated, probable or one of two ("scarring or atelectasis"),
  not where it is merely possible ("may", "possibly", "cannot exclude", "concerning for"). On the odd half
  people coded 39 of 59 of the former and 1 of 86 of the latter;
- halves: of distinct texts (:func:`radeval_lib.data.openi.halves`), 3,037 of 3,851. Confusions were corrected
  on the odd half alone, without the 590 studies of the test split and without texts that equal one of theirs;
- measure: micro F1 over reports and codes of the even half, by resampling of distinct texts; the studies of
  the test split beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.data import iu_systems, openi
from radeval_lib.data.errors import DataError
from radeval_lib.data.manifests import find
from radeval_lib.data.openi import LABELS
from radeval_lib.data.records import CodedStudy, Report
from radeval_lib.data.restricted import reveal
from radeval_lib.rules.reader.observations import coded
from radeval_lib.stats.resampling import sum_estimates

ALL = "all"
HALVES = {
    "even": "the even half",
    "test": "the test split",
    "develop": "the odd half, on which confusions were corrected",
}


@dataclass(frozen=True)
class Reading:
    """Codes of people and codes that were read, each of shape (reports, codes), and each report's text."""

    gold: NDArray[np.bool_]
    found: NDArray[np.bool_]
    texts: NDArray[np.intp]

    def sums(self) -> NDArray[np.float64]:
        """Return codes in both, found wrongly and missed, of each text: shape (texts, 3)."""
        counts = np.stack([self.gold & self.found, ~self.gold & self.found, self.gold & ~self.found], axis=-1)
        of_texts = np.zeros((int(self.texts.max()) + 1, 3))
        np.add.at(of_texts, self.texts, counts.sum(axis=1))
        return of_texts


def read(reports: Sequence[Report], codes: Sequence[CodedStudy], keys: Sequence[str]) -> Reading:
    """Read the codes of reports, of which ``keys`` name the texts: reports of one key have one text.

    Raises
    ------
    DataError
        Where there is no report, or one whose codes by people are not there.
    """
    people = {study.id: study.codes for study in codes}
    if not reports or (uncoded := [report.id for report in reports if report.id not in people]):
        wrong = f"no codes of report {uncoded[0]!r}" if reports else "no report"
        raise DataError(wrong, "coded findings", "Give reports with the codes of each.")
    known = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    stated = [coded(f"{reveal(report.findings)}\n{reveal(report.impression)}") for report in reports]
    return Reading(
        np.array([[name in people[report.id] for name in LABELS] for report in reports]),
        np.array([[name in codes_of_report for name in LABELS] for codes_of_report in stated]),
        np.array([known[key] for key in keys]),
    )


def f1_of_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return micro F1 of codes in both, found wrongly and missed, which stand in the last axis; 1 where there
    are none."""
    both, wrong, missed = np.moveaxis(sums, -1, 0)
    total = 2 * both + wrong + missed
    return np.divide(2 * both, total, out=np.ones_like(total), where=total > 0)


def agreement(root: Path, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return codes that people and the observations have in common, by half (:data:`HALVES`) and code, and
    over all codes with micro F1 and its interval; empty where the root lacks a file."""
    paths = [
        find("openi", root, "indiana_reports.csv"),
        find("openi_labels", root, openi.LABELS_FILE),
        find("iu_systems", root, iu_systems.REFERENCES),
    ]
    there = [path for path in paths if path is not None]
    if len(there) < len(paths):
        return pd.DataFrame()
    reports, codes = openi.load(there[0]), openi.load_labels(there[1])
    tested = set(iu_systems.references(there[2]))
    half = openi.halves(reports)
    chosen = {
        "even": [one for one in reports if half[one.id] == "even"],
        "test": [one for one in reports if one.id in tested],
        "develop": openi.to_develop_on(reports, tested),
    }
    rows: list[tuple[object, ...]] = []
    for name, reports_of_half in chosen.items():
        keys = [openi.text_key(one) for one in reports_of_half]
        reading = read(reports_of_half, codes, keys)
        sizes = (len(reports_of_half), len(set(keys)))
        for place, label in enumerate(LABELS):
            gold, own = reading.gold[:, place], reading.found[:, place]
            counts = (int((gold & own).sum()), int((~gold & own).sum()), int((gold & ~own).sum()))
            rows.append(
                (name, label, *sizes, *counts, float(f1_of_sums(np.array(counts, float))), None, None)
            )
        sums = reading.sums()
        (f1,) = sum_estimates(sums, lambda one: f1_of_sums(one)[..., None], resamples=resamples, rng=rng)
        rows.append((name, ALL, *sizes, *map(int, sums.sum(axis=0)), f1.value, f1.low, f1.high))
    columns = ["half", "code", "reports", "texts", "both", "wrong", "missed", "f1", "low", "high"]
    return pd.DataFrame(rows, columns=columns).round(6)
