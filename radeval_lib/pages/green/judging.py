"""The judge that a run's profile names, and what judges counted, as numbers."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from radeval_lib.data.categories import LETTERS
from radeval_lib.metrics.green import clean, parse
from radeval_lib.models.judges.base import Judge
from radeval_lib.models.judges.opening import open_judge
from radeval_lib.study.runs import Run

QUANTITIES = ("significant errors", "insignificant errors", "matched findings", "GREEN")


def judge_of(run: Run) -> Judge:
    """The judge that fills the role in the run's profile; answers of language models are kept beside its
    results."""
    return open_judge(run.model("judge"), cache=run.output_dir / "cache" / "judge", device=run.profile.device)


def counted(analyses: Sequence[str]) -> pd.DataFrame:
    """What analyses count, read by the rules of the released parser, which scores malformed ones too.

    Returns
    -------
    DataFrame
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
            for kind, counts in (("significant", read.significant), ("insignificant", read.insignificant))
            for letter, count in zip(LETTERS, counts, strict=True)
        }
        totals = (sum(read.significant), sum(read.insignificant), read.matched, read.score)
        whole = not parse(text, "strict").faults
        rows.append({**dict(zip(QUANTITIES, totals, strict=True)), **by_letter, "well formed": whole})
    return pd.DataFrame(rows)
