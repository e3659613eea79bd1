"""What pages read of the fitted encoders: the cells' tables joined, and sentences about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib import wording
from radeval_lib.pages.rales.encoders import title
from radeval_lib.pages.rales.leaderboard import Scores
from radeval_lib.pages.rales.settings import Settings
from radeval_lib.study.cells import CellOutput

REGIMES = {
    "all": "all labels",
    "tenth": "10 % of labels",
    "hundredth": "1 % of labels",
    "probe": "frozen encoder",
}


def joined(kept: Sequence[CellOutput], name: str, settings: Settings) -> pd.DataFrame:
    """One table of every cell, with the encoder's title in front; cells without it are passed over."""
    frames = [
        one.tables[name].assign(encoder=title(str(one.cell.parameters["encoder"]), settings.shallow_layers))
        for one in kept
        if name in one.tables and len(one.tables[name])
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def verdict_of(lead: dict[str, float], first: str, second: str) -> str:
    """A sentence on a difference in points with its interval."""
    told = f"{lead['value']:+.1f} points, 95% interval {lead['low']:+.1f} to {lead['high']:+.1f}"
    if lead["low"] > 0:
        return f"{first} scores higher than {second} ({told})."
    if lead["high"] < 0:
        return f"{first} scores lower than {second} ({told})."
    return f"Whether {first} or {second} is better cannot be told ({told})."


def about_first(whole: Scores) -> str:
    """A sentence on who is first, and how sure that is."""
    ranks = whole.ranks()
    level = [str(name) for name in ranks.index[ranks["score"] == ranks["score"].max()]]
    if len(level) > 1:
        return f"{wording.joined(level)} have the same NLU score, the highest, so no encoder is first."
    (first,) = level
    others = [name for name in whole.encoders if name != first]
    below = [name for name in others if whole.lead(first, name)["low"] > 0]
    told = f"First by the NLU score is {first}, in {wording.percent(ranks.loc[first, 'first'])} of resamples"
    if len(below) == len(others):
        return f"{told}, and its lead over every other encoder has an interval that excludes zero."
    if not below:
        return f"{told}; no interval of its lead over another excludes zero, so the order is open."
    near = [name for name in others if name not in below]
    return (
        f"{told}; it is surely ahead of {wording.joined(below)}, but {wording.joined(near)} may be as good."
    )


def no_better_than_one_class(accuracy: pd.DataFrame, share: float) -> str:
    """A sentence on classifiers that are right no more often than the most frequent class is.

    Parameters
    ----------
    accuracy : in percent, encoders by regimes.
    share : of the most frequent class among the test documents, in percent.
    """
    rule = f"One class makes up {share:.1f}% of the test documents, so naming it always scores as much"
    found = [
        f"{encoder} ({regime}, {value:.1f})"
        for encoder, row in accuracy.iterrows()
        for regime, value in row.items()
        if value <= share
    ]
    if not found:
        return f"{rule}; every classifier scores more."
    return f"{rule}. No better than that, and so no evidence of anything learned: {wording.joined(found)}."


def about_scaling(change: pd.DataFrame) -> str:
    """Sentences on whether temperature scaling lowers ECE on documents that it was not fitted on.

    Parameters
    ----------
    change : one row a classifier: ``low`` and ``high``, the 95 % interval of ECE after less before.
    """
    lower = change.index[change["high"] < 0].tolist()
    higher = change.index[change["low"] > 0].tolist()
    told = [
        f"On held-out documents temperature scaling {does} ECE, with an interval that excludes zero, for: "
        f"{'; '.join(names)}."
        for does, names in (("lowers", lower), ("raises", higher))
        if names
    ]
    rest = [name for name in change.index if name not in lower + higher]
    if rest:
        told.append(f"Whether scaling lowers or raises ECE cannot be told for: {'; '.join(rest)}.")
    return " ".join(told)


def about_unseen(tested: Sequence[str], left_out: Mapping[str, tuple[int, int]]) -> str:
    """Sentences on classes that a classifier gives the probability zero, because training had none of them;
    empty where that touches no document.

    Parameters
    ----------
    tested : classifiers with such test documents, whose negative log-likelihood is infinite.
    left_out : by classifier the validation documents of such classes, and all validation documents.
    """
    told = []
    if tested:
        told.append(
            "The NLL is infinite (∞) where a classifier gives the true class of a test document the "
            f"probability zero, because no training document was of that class: {'; '.join(tested)}. No "
            "temperature mends that."
        )
    if without := [f"{name} ({n} of {whole})" for name, (n, whole) in left_out.items() if n]:
        told.append(
            "The temperature is fitted without the validation documents of classes that the classifier never "
            f"saw: {'; '.join(without)}."
        )
    return " ".join(told)


def about_choosing(last: Mapping[str, float]) -> str:
    """Sentences on what choosing by the test set is worth.

    Parameters
    ----------
    last : a row of :func:`radeval_lib.pages.rales.benchmark.growth`.
    """
    trials = int(last["trials"])
    if trials == 1:
        return "With one trial in each search nothing is chosen, so nothing can be luck."
    luck, gained = (round(last[name], 1) + 0 for name in ("optimism", "advantage"))  # no -0.0
    ends = f"95% of resamples {last['optimism_low']:+.1f} to {last['optimism_high']:+.1f}"
    side = "above" if luck > 0 else "below"
    told = f"{abs(luck):.1f} points {side}" if luck else "level with"
    return (
        f"With {trials} trials, the chosen score is {told} what the same choice yields on documents that "
        f"had no part in it ({ends}), and {gained:.1f} points above that of the trial which validation "
        "chooses. The resamples draw searches, trials and folds of the same test documents; what other "
        "documents would give is less certain than that."
    )


def logits_of(outputs: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.int64], list[str]]:
    """Scores, shape (documents, classes), labels and cases of rows of ``outputs``."""
    columns = [column for column in outputs if str(column)[0] == "c" and str(column)[1:].isdigit()]
    scores = outputs[columns].dropna(axis=1, how="all").to_numpy(np.float64)
    return scores, outputs["label"].to_numpy(np.int64), outputs["case"].astype(str).tolist()


def classes_of(kept: Sequence[CellOutput]) -> list[str]:
    """Names of the classes of procedure selection, from the first cell that fitted it."""
    return next(list(names) for one in kept if (names := one.facts["classes"]))
