"""RaTEScore against its rivals over pairs that radiologists rated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from notebooks.ratescore.released_models import RATESCORE
from radeval_lib.papers.printed_numbers import cell, printed
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.printed import Kind
from radeval_lib.study.checks import Key
from radeval_lib.study.metric_agreement import Agreement
from radeval_lib.study.page_runs import OpenExhibit
from radeval_lib.study.superiority import LEVEL
from radeval_lib.tables import p_value
from radeval_lib.text_format import in_words, joined, ordinal, with_interval


class Experiment(NamedTuple):
    """One benchmark of the paper: what a ``rating`` is, its ``exhibit`` and ``data``, and the ``kinds`` of
    correlation that it prints, the one compared first."""

    rating: str
    exhibit: str
    data: str
    kinds: tuple[Kind, ...]


EXPERIMENTS = {
    "rated_paragraphs": Experiment(
        "grade", "ratescore.table5", "rate_eval/paragraph", ("kendall", "pearson", "spearman")
    ),
    "rated_errors": Experiment(
        "number of errors, its sign turned", "ratescore.table4", "rexval/errors", ("kendall",)
    ),
    "rated_sentences": Experiment(
        "share of possible errors, taken from 1", "ratescore.fig3", "rate_eval/sentence", ("pearson",)
    ),
}
"""By the role of the ratings."""

STAND_INS = (
    "METEOR without synonyms; BERTScore through the same encoder; observations by rules, not by CheXbert"
)
"""What else stands in for the paper's metrics where its models are not there."""

_OTHER_THAN_PRINTED = {"METEOR", "BERTScore"}  # without synonyms, and with RaTEScore's encoder


def standing(result: Agreement, kind: Kind) -> dict[str, str]:
    """Return RaTEScore's ``place`` among the metrics, its ``own`` coefficient, and its ``leads`` over rivals.

    A lead is beyond chance where p is below :data:`LEVEL`, corrected for the number of rivals.
    """
    rivals = result.against(kind)
    sure = rivals.loc[rivals["p_holm"] < LEVEL, "difference"]
    sides = (("beats", sure > 0), ("is beaten by", sure < 0))
    clauses = [f"{words} {joined(list(sure.index[chosen]))}" for words, chosen in sides if chosen.any()]
    own = result.ranked(kind).set_index("metric").loc[RATESCORE]
    return {
        "place": f"{_place(result, kind)} of {in_words(len(result.ranked(kind)))}",
        "own": with_interval(own["value"], own["low"], own["high"], ".2f"),
        "leads": joined(clauses) or "differs from none of them beyond chance",
    }


def _place(result: Agreement, kind: Kind) -> str:
    return ordinal(list(result.ranked(kind)["metric"]).index(RATESCORE) + 1)


def leads_in_words(values: pd.DataFrame, leads: pd.DataFrame, kind: Kind, lead: str) -> pd.DataFrame:
    """Return each metric's coefficient, and the ``lead`` of one of them over it, as text.

    ``values``, ``leads``: by metric, as :class:`~radeval_lib.stats.correlations.Resampled` gives them.
    """
    coefficients = [with_interval(row.value, row.low, row.high, ".2f") for row in values.itertuples()]
    gaps = [with_interval(row.difference, row.low, row.high, "+.2f") for row in leads.itertuples()]
    table = pd.DataFrame({kind.capitalize(): coefficients}, index=values.index.rename(None))
    table[lead] = pd.Series(gaps, index=leads.index)
    table["p, corrected"] = leads["p_holm"].map(p_value)
    return table.fillna("")


def contrast_table(result: Agreement, kind: Kind) -> pd.DataFrame:
    """Return each metric's coefficient, and RaTEScore's lead over it, as text, the highest first."""
    ranked = result.ranked(kind).set_index("metric")
    table = leads_in_words(ranked, result.against(kind), kind, "RaTEScore's lead")
    flat = pd.DataFrame({kind.capitalize(): "hardly varies"}, index=result.left_out)
    return pd.concat([table, flat]).fillna("")


def check_coefficients(exhibit: OpenExhibit, result: Agreement) -> None:
    """Check the printed coefficients of the exhibit against those of the same metrics."""
    cells = printed(exhibit.id)
    for row in result.correlations.itertuples():
        kind = row.kind.capitalize()
        where = {"metric": row.metric} | ({"measure": kind} if "measure" in cells else {})
        if row.metric in set(cells["metric"]) - _OTHER_THAN_PRINTED:
            estimate = Estimate(row.value, row.low, row.high)
            exhibit.value(Key(kind, row.metric), cell(cells, **where), estimate)


def answer(results: Mapping[str, Agreement], source: str) -> dict[str, str]:
    """Return what the page answers, in its bold sentence, what follows on it, and on counted errors.

    ``results``: by role, those with ratings of this ``source``.
    """
    n = len(next(iter(results.values())).pairs)
    standings = {
        EXPERIMENTS[role].rating: standing(result, EXPERIMENTS[role].kinds[0])
        for role, result in results.items()
    }
    (rating, own), *others = standings.items()
    role, result = next(iter(results.items()))
    measures = [f"Kendall correlation with the {rating} ({own['own']})"]
    measures += [f"{_place(result, kind)} by {kind.capitalize()}" for kind in EXPERIMENTS[role].kinds[1:]]
    return {
        "answer": f"On {n} rated pairs of {source}, RaTEScore ranks {own['place']} metrics by "
        f"{joined(measures)}.",
        "rests": f"Corrected for the number of rivals, it {own['leads']}.",
        "errors": " ".join(
            f"With the {what}, it ranks {ranked['place']} ({ranked['own']}), and {ranked['leads']}."
            for what, ranked in others
        ),
    }
