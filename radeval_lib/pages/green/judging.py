"""What GREEN's pages share: settings, data of radiologists, printed tables, and scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from pydantic import BaseModel, Field

from radeval_lib.data import radpref, recorded, rexval
from radeval_lib.data.errors import AbsentDataError
from radeval_lib.data.records import ErrorCount
from radeval_lib.models.training import TrainingSettings
from radeval_lib.stats.inputs import FloatArray
from radeval_lib.study.profiles import Profile, Size
from radeval_lib.study.runs import Run

KINDS: tuple[rexval.Kind, ...] = ("significant", "insignificant")
RADPREF = "radpref"
"""The data set of which pages read the radiologists' own marks."""
CHEST = ("X-Ray", "CHEST")
"""The generator's modality and anatomy of GREEN's reports."""


class GreenSettings(BaseModel, extra="forbid", frozen=True):
    """The section ``green`` of a profile's ``experiments``: how a language model learns to judge."""

    start: str
    small: dict[str, int] = {}
    ranks: list[Size] = Field(min_length=1)
    examples: Size
    held: Size
    longest: Size
    answer: Size
    training: dict[str, Any]
    summarized: Size

    def tuning(self, seed: int, device: str) -> TrainingSettings:
        """The training's settings; the epoch is chosen by the likelihood of held-out analyses."""
        return TrainingSettings(**self.training, measure="likelihood", seed=seed, device=device)


def settings(profile: Profile) -> GreenSettings:
    """The profile's settings of GREEN."""
    return profile.section("green", GreenSettings)


def seed_of(run: Run, name: str) -> int:
    """A seed for a generator that takes one, drawn from the run's stream of this name."""
    return int(run.rng(name).integers(2**31))


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
    """The case of each pair of ReXVal; along the first axis of ``counts``, four pairs of a case adjoin."""
    return [pair // 4 for pair in range(len(counts))]


def oriented(run: Run, key: str, references: Sequence[str], candidates: Sequence[str]) -> FloatArray:
    """Scores of a metric, turned so that higher is better."""
    metric = run.metric(key)
    return metric.sign() * metric.score(references, candidates).values
