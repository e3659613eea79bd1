"""What radiologists said of reports, as GREEN's pages read it: RadPref's grades and marks, ReXVal's counts.

ReXVal's counts come as ``significant``, ``insignificant`` and ``total``, each of shape (pairs, 6 categories,
6 radiologists), with four pairs of each case one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from radeval_lib.data import radpref, recorded, rexval
from radeval_lib.data.errors import AbsentDataError
from radeval_lib.data.records import ErrorCount
from radeval_lib.stats.inputs import FloatArray
from radeval_lib.study.runs import Run

Counts = Mapping[str, FloatArray]
"""Counts of errors by kind."""
KINDS: tuple[rexval.Kind, ...] = ("significant", "insignificant")


RADPREF = "radpref"
"""The data set of which pages read the radiologists' own marks."""


def radpref_of(run: Run) -> tuple[pd.DataFrame, pd.DataFrame] | None:
    """RadPref's candidates (:func:`radpref.candidates`) by number, with placeholders for texts that are
    recorded as numbers alone, and what its radiologists marked (:func:`radpref.marks`); None where neither
    fills the role of rated pairs nor is in the data root.

    Raises
    ------
    AbsentDataError
        Where only some of RadPref's files are in the data root.
    """
    if run.filler("data", "rated_pairs").startswith("recorded/radpref"):
        run.load("rated_pairs")  # which notes the files
        kept = recorded.load(RADPREF)
        named = recorded.texts(RADPREF).rename(columns={"candidate": "text"})
        return kept.table.set_index("number").join(named), kept.parts["ratings"]
    paths = {file: run.find(RADPREF, file) for file in (radpref.CASES_FILE, *radpref.RATING_FILES)}
    if paths[radpref.CASES_FILE] is None:
        return None
    if None in paths.values():
        remedy = "`radbook data status radpref` says how to get the rest"
        raise AbsentDataError("RadPref, which the page reads, is there only in part", remedy=remedy)
    cases, ratings = radpref.load(paths.__getitem__)
    return radpref.candidates(cases).set_index("number"), radpref.marks(cases, ratings)


def rexval_counts(records: Sequence[ErrorCount]) -> dict[str, FloatArray]:
    """``significant``, ``insignificant`` and ``total`` errors, each (pairs, 6, radiologists)."""
    kinds: tuple[rexval.Kind, ...] = (*KINDS, "total")
    return {kind: rexval.counts_array(records, kind) for kind in kinds}


def cases_of(counts: FloatArray) -> list[int]:
    """The case of each pair of ReXVal; along the first axis of ``counts``, four pairs of a case adjoin. Any
    other number of pairs is a ValueError."""
    if len(counts) % 4:
        raise ValueError(f"{len(counts)} pairs are not four of each case")
    return [pair // 4 for pair in range(len(counts))]
