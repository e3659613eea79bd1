"""What committed outputs of real systems say, and what metrics say of them.

**The observations against Open-i's codes.** Fixed before the even half was scored:

- sections: findings and impression, which the coders saw; history and comparison are not read;
- labels: the thirteen codes of :data:`radeval_lib.data.openi_labels.LABELS`, read by
  :func:`radeval_lib.metrics.observations.coded`;
- uncertain mentions: a code counts where it is stated, probable or one of two ("scarring or atelectasis"),
  not where it is merely possible ("may", "possibly", "cannot exclude", "concerning for"). On the odd half
  people coded 39 of 59 of the former and 1 of 86 of the latter;
- halves: of distinct texts (:func:`radeval_lib.data.openi.halves`), 3,037 of 3,851. Confusions were mended
  on the odd half alone, without the 590 studies of the test split and without texts that equal one of theirs;
- measure: micro F1 over reports and codes of the even half, by resampling of distinct texts; the studies of
  the test split beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radeval_lib.data.openi_labels import LABELS
from radeval_lib.data.records import CodedStudy, Report
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics.observations import coded


@dataclass(frozen=True)
class Reading:
    """Codes of people and codes that were read, each of shape (reports, codes), and each report's text."""

    gold: NDArray[np.bool_]
    found: NDArray[np.bool_]
    texts: NDArray[np.intp]

    def sums(self) -> NDArray[np.float64]:
        """Codes in both, found wrongly and missed, of each text: shape (texts, 3)."""
        counts = np.stack([self.gold & self.found, ~self.gold & self.found, self.gold & ~self.found], axis=-1)
        of_texts = np.zeros((int(self.texts.max()) + 1, 3))
        np.add.at(of_texts, self.texts, counts.sum(axis=1))
        return of_texts


def read(reports: Sequence[Report], codes: Sequence[CodedStudy], keys: Sequence[str]) -> Reading:
    """Read the codes of reports, of which ``keys`` name the texts."""
    people = {study.id: study.codes for study in codes}
    known = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    found = [coded(f"{reveal(report.findings)}\n{reveal(report.impression)}") for report in reports]
    return Reading(
        np.array([[name in people[report.id] for name in LABELS] for report in reports]),
        np.array([[name in of for name in LABELS] for of in found]),
        np.array([known[key] for key in keys]),
    )


def f1_of_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Micro F1 of codes in both, found wrongly and missed, which stand in the last axis; 1 where there are
    none."""
    both, wrong, missed = np.moveaxis(sums, -1, 0)
    total = 2 * both + wrong + missed
    return np.divide(2 * both, total, out=np.ones_like(total), where=total > 0)
