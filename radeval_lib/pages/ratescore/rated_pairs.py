"""RaTEScore against its rivals over rated pairs, and what printed shares can come from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from radeval_lib.pages.ratescore.released import RATESCORE
from radeval_lib.papers.printed_numbers import parse
from radeval_lib.stats.printed import Kind
from radeval_lib.study.metric_agreement import Agreement
from radeval_lib.study.superiority import LEVEL
from radeval_lib.wording import in_words, joined, ordinal, with_interval

COMPARES = {
    "RaTEScore": "entities, by meaning and type",
    "METEOR": "words and their stems, with their order",
    "BERTScore": "vectors of words in context",
    "BLEU": "runs of up to four words",
    "ROUGE-L": "the longest common run of words, with gaps",
    "CheXbert": "fourteen chest findings, each there or not",
    "RadGraph F1": "the words and labels of a graph's nodes, and whether each has an edge",
}
"""What each metric of Figure 3 compares."""
ORDERINGS: dict[str, tuple[str, list[str], list[str]]] = {
    "RaTEScore above all others": (
        "higher correlation with radiology experts compared to other existing metrics",
        [RATESCORE],
        [*COMPARES][1:],
    ),
    "entities above word overlap": (
        "stronger correlations than those reliant on mere word overlap",
        [RATESCORE, "RadGraph F1"],
        ["BLEU", "ROUGE-L", "METEOR"],
    ),
    "METEOR above BLEU and ROUGE-L": (
        "metrics that accommodate synonyms, such as METEOR, outperform those that do not",
        ["METEOR"],
        ["BLEU", "ROUGE-L"],
    ),
}
"""Orderings of Table 5: the claim, the metrics that are to stand above, and the others."""


def place(rank: int, of: int) -> str:
    """A place in a ranking, as ``second of seven``."""
    return f"{ordinal(rank)} of {in_words(of)}"


def standing(result: Agreement, kind: Kind) -> dict[str, str]:
    """RaTEScore's ``place`` among the metrics, and the rivals that it ``beats`` and is ``beaten_by``.

    Only differences beyond chance count (corrected p below 0.05).
    """
    names, rivals = list(result.ranked(kind)["metric"]), result.against(kind)
    sure = rivals.loc[rivals["p_holm"] < LEVEL, "difference"]
    return {
        "place": place(names.index(RATESCORE) + 1, len(names)),
        "beats": joined(list(sure.index[sure > 0])) or "none",
        "beaten_by": joined(list(sure.index[sure < 0])) or "none",
    }


def contrast_table(result: Agreement, kind: Kind) -> pd.DataFrame:
    """RaTEScore's lead over each rival, with interval and tests, as text."""
    rows = result.against(kind)
    table = pd.DataFrame(
        {
            "lead": rows["difference"].map("{:+.3f}".format),
            "95% interval": [
                f"[{low:+.3f}, {high:+.3f}]" for low, high in zip(rows["low"], rows["high"], strict=True)
            ],
            "p": rows["p"].map("{:.2g}".format),
            "p, corrected": rows["p_holm"].map("{:.2g}".format),
            "correlation of the two scores": rows["between"].map("{:.2f}".format),
        }
    )
    if kind == "pearson":
        table["p of Williams's test"] = rows["p_williams"].map("{:.2g}".format)
    return table.rename_axis(index=None)


def coefficient_table(result: Agreement, not_scored: Sequence[str]) -> pd.DataFrame:
    """Each metric's coefficients with their intervals, as text; metrics without one say why."""
    told = result.correlations.assign(
        text=[
            with_interval(row.value, row.low, row.high, ".3f", ".2f")
            for row in result.correlations.itertuples()
        ],
        kind=result.correlations["kind"].str.capitalize(),
    )
    kinds, order = list(told["kind"].unique()), result.ranked(result.correlations["kind"].iloc[0])["metric"]
    table = told.pivot(index="metric", columns="kind", values="text").loc[order, kinds]
    for reason, metrics in (("not attempted", not_scored), ("hardly varies", result.left_out)):
        for metric in metrics:
            table.loc[metric] = reason
    return table.rename_axis(index=None, columns=None)


def some_share_prints(cell: str, total: int, *, cut: bool = False) -> bool:
    """Whether some whole number over ``total`` prints as ``cell``.

    Parameters
    ----------
    cut : whether digits are cut off after the last one that is printed, and not rounded.
    """
    number = parse(cell)
    shares, low = np.arange(total + 1) / total, number.value if cut else number.low
    return bool(((shares >= low - 1e-9) & (shares < low + 2 * number.half_width - 1e-9)).any())
