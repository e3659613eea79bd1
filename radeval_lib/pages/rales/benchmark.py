"""What choosing by the test set is worth, and how that grows with the number of trials.

The released code of RaLEs keeps the trial that is best on the test set and reports its score there. Two
numbers tell what that does. The *advantage* is how much higher the reported score is than that of the trial
which validation would have chosen. The *optimism* is the part of the reported score that is luck: the score
less what the same choice yields on documents that had no part in it. It is estimated by cross-validation:
each tenth of the test documents is scored with the trial that is best on the other nine tenths. Halves
instead of tenths would tell the luck of a choice on half as many documents, which is larger.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib import wording
from radeval_lib.models.naming import UNTRAINED
from radeval_lib.pages.rales.encoders import IN_DOMAIN, SHALLOW
from radeval_lib.pages.rales.leaderboard import micro_f1
from radeval_lib.pages.rales.tasks import IN, OUT

FloatArray = NDArray[np.float64]
_ENDS = (0.025, 0.975)
_FOLDS = 10


def optimism_by_trials(
    trials: pd.DataFrame, sizes: Sequence[int], *, resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Advantage and optimism with so many trials.

    Parameters
    ----------
    trials : one row a search, trial and case: ``search``, ``trial``, ``case``, ``matched``, ``predicted``,
        ``gold`` on test, and ``value``, the trial's measure on validation.
    sizes : numbers of trials, each at most those of a search.
    resamples : how often searches, trials and the folds of the test documents are drawn.

    Returns
    -------
    DataFrame
        One row a size: ``trials``; ``advantage`` and ``optimism`` in points of F1, means over resamples, each
        with ``_low`` and ``_high`` (95 % of resamples). The test documents are the same in all of them, so
        these ends say nothing of what other documents could change.

    Raises
    ------
    ValueError
        Where searches differ in their trials or cases, a size is too large, or there are fewer than two
        cases.
    """
    table, values = _arrays(trials)
    searches, most, cases, _ = table.shape
    if cases < 2:
        raise ValueError("optimism needs at least two test cases")
    if max(sizes) > most:
        raise ValueError(f"{max(sizes)} trials are asked for, a search has {most}")
    totals = table.sum(axis=2)
    whole = micro_f1(totals)
    folds = min(_FOLDS, cases)
    found: dict[int, list[tuple[float, float]]] = {size: [] for size in sizes}
    for _ in range(resamples):
        drawn: list[int] = list(rng.integers(0, searches, size=(searches,)))
        order = np.stack([rng.permutation(most) for _ in drawn])
        fold = rng.permutation(np.arange(cases) % folds)
        # shape (searches, trials, folds, 3): counts in each fold, and in all others
        inside = np.stack([table[:, :, fold == k].sum(axis=2) for k in range(folds)], axis=2)
        others = micro_f1(totals[:, :, None] - inside)
        for size in sizes:
            rows = [(search, order[place, :size]) for place, search in enumerate(drawn)]
            gains = [whole[s, k].max() - whole[s, k[values[s, k].argmax()]] for s, k in rows]
            luck = [whole[s, k].max() - _unseen(inside[s, k], others[s, k]) for s, k in rows]
            found[size].append((float(np.mean(gains)), float(np.mean(luck))))
    rows_ = []
    for size, draws in found.items():
        array = np.array(draws)
        low, high = np.quantile(array, _ENDS, axis=0)
        row: dict[str, float] = {"trials": size}
        for place, name in enumerate(("advantage", "optimism")):
            row |= {name: array[:, place].mean(), f"{name}_low": low[place], f"{name}_high": high[place]}
        rows_.append(row)
    return pd.DataFrame(rows_).astype({"trials": int})


def _unseen(inside: FloatArray, others: FloatArray) -> float:
    """F1 of all folds together, each scored with the trial that is best on the others.

    Parameters
    ----------
    inside : counts, shape (trials, folds, 3).
    others : F1 outside of each fold, shape (trials, folds).
    """
    best = others.argmax(axis=0)
    return float(micro_f1(inside[best, np.arange(len(best))].sum(axis=0)))


def _arrays(trials: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
    """Counts, shape (searches, trials, cases, 3), and the measure on validation, shape (searches, trials)."""
    ordered = trials.sort_values(["search", "trial", "case"])
    shape = tuple(ordered[name].nunique() for name in ("search", "trial", "case"))
    if len(ordered) != np.prod(shape):
        raise ValueError("searches differ in their trials or in their test cases")
    counts = ordered[["matched", "predicted", "gold"]].to_numpy(np.float64).reshape(*shape, 3)
    return counts, ordered["value"].to_numpy(np.float64).reshape(shape)[:, :, 0]


PAPERS_DATA = {
    "graph_corpus": "radgraph",
    "spatial_corpus": "radsprl",
    "stanza_corpus": "stanza_radiology",
    "procedures": "mimic3_procedure",
}
"""The paper's data set of each role."""


def about_data(replaced: str) -> str:
    """What the protocol runs on.

    Parameters
    ----------
    replaced : what stands in for the paper's data, as :meth:`radeval_lib.study.runs.Run.stand_in` has it.
    """
    if not replaced:
        return "Here the same protocol runs on the paper's data sets."
    return (
        f"Here the same protocol runs on other data: {replaced}. **What holds of scores here need not hold "
        "of the paper's, but how scores behave can be seen.**"
    )


def about_domains(generated: bool) -> str:
    """What is in domain and what is not."""
    if generated:
        return (
            "*In domain* are radiographs, *out of domain* CT reports; in the paper the two are institutions."
        )
    return f"*In domain* are reports of {IN}, *out of domain* those of {OUT}, as in the paper."


def about_encoders(encoders: Sequence[str], reports: str, generated: bool) -> str:
    """What was done to the encoders that are not taken as they are published; empty where there is none.

    Parameters
    ----------
    encoders : as the profile names them.
    reports, generated : source of the reports that the in-domain encoder read, and whether it is the
        generator, whose reports for a role are in no other role's data.
    """
    told = []
    if any(UNTRAINED in name for name in encoders):
        told.append("The untrained encoder has the architecture of the pretrained one and random weights.")
    if any(name.startswith(SHALLOW) for name in encoders):
        told.append("A name with a number of layers means the first layers of that encoder alone.")
    if IN_DOMAIN in encoders:
        told.append(
            f"The in-domain one went on to guess masked words of reports from {reports} before it was fitted"
            + ("." if generated else "; whether test documents are among them was not looked up.")
        )
    return " ".join(told)


def about_validation(fits: pd.DataFrame) -> str:
    """On how few records an epoch is chosen with 1 % of the labels; empty where that was not fitted.

    Parameters
    ----------
    fits : one row a fit, with ``regime`` and ``validation``, the number of validation records.
    """
    sizes = fits.loc[fits["regime"] == "hundredth", "validation"]
    if sizes.empty:
        return ""
    least, most = int(sizes.min()), int(sizes.max())
    told = wording.in_words(least) + (f" to {wording.in_words(most)}" if least < most else "")
    records = "record" if most == 1 else "records"
    return f"With 1 % of the labels the epoch is chosen on {told} {records}{', by task' * (least < most)}."


def about_noise(larger: int, gaps: int, noise: float, replaced: str) -> str:
    """How many of the paper's differences are larger than the noise here.

    Parameters
    ----------
    larger, gaps : differences between the paper's models that are larger, and all.
    noise : smallest half-width of an interval of a difference here, in points.
    replaced : as for :func:`about_data`.
    """
    told = (
        f"Of the {gaps} differences between the paper's models in Table 3, {wording.in_words(larger)} "
        f"{'is' if larger == 1 else 'are'} larger than the smallest half-width of an interval here, "
        f"{noise:.1f} points."
    )
    if replaced:
        told += " The paper tests on other data, so its own noise is different; only its data can show it."
    return f"{told} The paper prints one run a model and no interval."
