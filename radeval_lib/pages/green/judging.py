"""What GREEN's pages share: settings, the judge of a run, what judges and radiologists counted, and data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from IPython.display import Markdown
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from radeval_lib.data import radpref, rexval
from radeval_lib.data.categories import LETTERS
from radeval_lib.metrics.green import clean, parse
from radeval_lib.models.judges.base import Judge
from radeval_lib.models.judges.opening import open_judge
from radeval_lib.models.training import TrainingSettings
from radeval_lib.papers.printed_numbers import wide
from radeval_lib.stats import agreement
from radeval_lib.study.profiles import Profile, Size
from radeval_lib.study.runs import Run
from radeval_lib.synthetic import SyntheticError, SyntheticReport, rewrite
from radeval_lib.synthetic.rewrites import RewriteKind

FloatArray = NDArray[np.float64]
QUANTITIES = ("significant errors", "insignificant errors", "matched findings", "GREEN")
KINDS: tuple[rexval.Kind, ...] = ("significant", "insignificant")
CHEST = ("X-Ray", "CHEST")
"""The generator's modality and anatomy of GREEN's reports."""

WITHOUT_COUNTS = Markdown(
    "*Left out of this build: this part needs ReXVal's error counts (numbers only, published in the GREEN "
    "repository) in the data root; see* Reproduce it yourself."
)
WITHOUT_RATINGS = Markdown(
    "This build has no ratings to compute on, so nothing is shown. The ratings of RadPref are public: "
    "`radbook data add radpref` says how to get them."
)


class Settings(BaseModel):
    """The section ``green`` of a profile's ``experiments``: how a language model learns to judge."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    start: str
    small: dict[str, int] = {}
    ranks: list[Size] = Field(min_length=1)
    examples: Size
    held: Size
    longest: Size
    answer: Size
    training: dict[str, Any]
    teaching: Size
    judging: Size
    worded: Size
    summarized: Size
    permuted: Size

    def tuning(self, seed: int, device: str) -> TrainingSettings:
        """The training's settings; the epoch is chosen by the likelihood of held-out analyses."""
        return TrainingSettings(**self.training, measure="likelihood", seed=seed, device=device)

    @property
    def effective_batch(self) -> int:
        """Examples that one step of the optimizer sees."""
        tuning = self.tuning(0, "cpu")
        return tuning.batch_size * tuning.accumulate


def settings(profile: Profile) -> Settings:
    """The profile's settings of GREEN."""
    return profile.section("green", Settings)


def seed_of(run: Run, name: str) -> int:
    """A seed for a generator that takes one, drawn from the run's stream of this name."""
    return int(run.rng(name).integers(2**31))


def as_printed(frame: pd.DataFrame, rows: str | list[str], columns: str = "quantity") -> pd.DataFrame:
    """A printed table with cells as ``mean ± sd``."""
    keys = [*([rows] if isinstance(rows, str) else rows), columns]
    cells = frame.pivot_table(index=keys, columns="statistic", values="printed", aggfunc="first", sort=False)
    both = (cells["mean"] + " ± " + cells["sd"]).rename("cell").reset_index()
    return wide(both, rows, columns, "cell").fillna("")


def reworded(report: SyntheticReport, seed: int, kind: RewriteKind = "synonym") -> SyntheticReport:
    """The report in other words or another style, so that shared wording does not give its errors away; as
    it is where it has no other wording."""
    try:
        return rewrite(report, kind, seed)
    except SyntheticError:
        return report


def judge_of(run: Run) -> Judge:
    """The judge that fills the role in the run's profile; answers of language models are kept beside its
    results."""
    return open_judge(run.model("judge"), cache=run.output_dir / "cache" / "judge", device=run.profile.device)


def counted(analyses: Sequence[str]) -> pd.DataFrame:
    """What analyses count, read by the rules of the released parser, which scores malformed ones too.

    One row an analysis: the columns of :data:`QUANTITIES`, ``significant a`` to ``insignificant f``, and
    ``well formed``, whether a strict reading finds no fault.
    """
    rows = []
    for analysis in analyses:
        text = clean(analysis)
        read = parse(text)
        assert read.significant is not None
        assert read.insignificant is not None
        by_letter = {
            f"{kind} {letter}": count
            for kind, counts in zip(KINDS, (read.significant, read.insignificant), strict=True)
            for letter, count in zip(LETTERS, counts, strict=True)
        }
        totals = (sum(read.significant), sum(read.insignificant), read.matched, read.score)
        whole = not parse(text, "strict").faults
        rows.append({**dict(zip(QUANTITIES, totals, strict=True)), **by_letter, "well formed": whole})
    return pd.DataFrame(rows)


def radpref_of(run: Run) -> tuple[list[radpref.Case], list[radpref.Rating]] | None:
    """RadPref's cases and the ratings of its three radiologists, or None where a file is not there."""
    found = run.find("radpref", "radpref/preference_data.json")
    ratings = [run.find("radpref", f"radpref/radiologist_annotations/user_{n}.json") for n in (1, 2, 3)]
    if found is None or any(path is None for path in ratings):
        return None
    return radpref.load_cases(found), [one for path in ratings if path for one in radpref.load_ratings(path)]


def rexval_counts(run: Run) -> dict[rexval.Kind, FloatArray] | None:
    """ReXVal's ``significant``, ``insignificant`` and ``total`` errors, each (pairs, 6, radiologists); None
    where the data root does not hold them."""
    path = run.find("rexval_counts")
    if path is None:
        return None
    records = rexval.load(path)
    kinds: tuple[rexval.Kind, ...] = (*KINDS, "total")
    return {kind: rexval.counts_array(records, kind) for kind in kinds}


def experts_differences(counts: FloatArray) -> FloatArray:
    """Absolute differences of each radiologist from the others' mean, shape (pairs, 6, radiologists)."""
    return np.stack(
        [np.abs(counts[:, c] - agreement.mean_of_others(counts[:, c])) for c in range(len(LETTERS))], axis=1
    )


def oriented(run: Run, key: str, references: Sequence[str], candidates: Sequence[str]) -> NDArray[np.float64]:
    """Scores of a metric, turned so that higher is better."""
    metric = run.metric(key)
    values = metric.score(references, candidates).values
    return values if metric.higher_is_better else -values
