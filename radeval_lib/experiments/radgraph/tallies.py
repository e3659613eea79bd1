"""How well graphs are found, and what the conventions of F1-RadGraph change."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import get_args

import numpy as np
import pandas as pd

from radeval_lib.metrics.radgraph import Case, Graph, Level, f1_radgraph, triplets
from radeval_lib.models.graph.training import PARTS
from radeval_lib.stats.resampling import share_interval
from radeval_lib.stats.seed_intervals import intervals, micro
from radeval_lib.study.checks import Check, above, check_statement
from radeval_lib.wording import with_interval

PART_TITLES = {
    "entity": "entities",
    "relation": "relations",
    "strict": "relations with typed ends",
}
_ALLOWED = {
    "located_at": {("observation", "anatomy")},
    "modify": {("observation", "observation"), ("anatomy", "anatomy")},
    "suggestive_of": {("observation", "observation")},
}
_COUNTS = ["matched", "predicted", "gold", "unseen"]


def quality(counts: pd.DataFrame, *, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Micro precision, recall and F1 of each part and of each of its labels, over reports and seeds.

    Parameters
    ----------
    counts : rows of :func:`radeval_lib.models.graph.training.tally` with a column ``seed``.
    resamples, rng : of :func:`radeval_lib.stats.seed_intervals.intervals`.

    Returns
    -------
    DataFrame
        One row a part and label (``all`` for the part as a whole, first) and measure: ``part``, ``label``,
        ``measure``, ``value``, ``low``, ``high``, ``gold`` (in one seed's test part).
    """
    rows = []
    for part in PARTS:
        own = counts[counts["part"] == part]
        for label in ("all", *sorted(own["label"].unique())):
            chosen = own if label == "all" else own[own["label"] == label]
            sums = chosen.groupby(["seed", "case"], as_index=False)[_COUNTS].sum()
            found = intervals(sums, micro(), resamples=resamples, rng=rng).reset_index()
            gold = int(sums["gold"].sum() / sums["seed"].nunique())
            rows.append(found.assign(part=part, label=label, gold=gold))
    columns = ["part", "label", "measure", "value", "low", "high", "gold"]
    return pd.concat(rows, ignore_index=True)[columns]


def conventions(references: Sequence[Graph], candidates: Sequence[Graph]) -> pd.DataFrame:
    """F1-RadGraph of each pair by every level and rule on case, as released where both graphs are empty.

    Returns
    -------
    DataFrame
        float64, one row a pair, columns (level, case).
    """
    names = list(product(get_args(Level), get_args(Case)))
    columns = {name: f1_radgraph(references, candidates, *name) for name in names}
    return pd.DataFrame(columns, columns=pd.MultiIndex.from_tuples(names, names=["level", "case"]))


def changes(scores: pd.DataFrame, base: tuple[str, str]) -> pd.DataFrame:
    """What each convention does to the scores that ``base`` gives.

    Returns
    -------
    DataFrame
        One row a convention: ``mean``, ``changed`` (share of pairs with another score), ``largest`` (absolute
        change of one pair) and ``tau`` (Kendall's tau-b of the pairs' order with that of ``base``).
    """
    gaps = scores.sub(scores[base], axis=0).abs()
    return pd.DataFrame(
        {
            "mean": scores.mean(),
            "changed": (gaps > 1e-12).mean(),
            "largest": gaps.max(),
            "tau": scores.corr("kendall")[base],
        }
    )


def allowed_relations(graphs: Sequence[Graph]) -> pd.DataFrame:
    """Whether each relation joins kinds of entity that RadGraph's scheme lets it join.

    Source: Jain et al. 2021, Section 3: *located at* leads from an observation to an anatomy, *modify* joins
    two observations or two anatomies, *suggestive of* two observations.

    Returns
    -------
    DataFrame
        One row a relation: ``graph`` (its place among ``graphs``) and ``allowed``.
    """
    rows = [
        (place, (_concept(entity.label), _concept(graph[tail].label)) in _ALLOWED.get(kind, ()))
        for place, graph in enumerate(graphs)
        for entity in graph.values()
        for kind, tail in entity.relations
    ]
    return pd.DataFrame(rows, columns=["graph", "allowed"])


def check_scheme(
    sides: Sequence[Sequence[Graph]], edge: float, *, resamples: int, rng: np.random.Generator
) -> Check:
    """Whether more than a share of the relations obey RadGraph's scheme, by an interval over reports.

    Parameters
    ----------
    sides : graphs of the references and of the candidates; two in the same place are of one report.
    edge : the share that must be passed.
    """
    name = "relations join the kinds of entity that the scheme lets them join"
    claim = "relations of entities: suggestive of, located at, modify"
    found = pd.concat([allowed_relations(side) for side in sides])
    if found.empty:
        return check_statement(name, claim, "no relation found", None)
    reports = found["graph"].astype(str).tolist()
    share, low, high = share_interval(
        found["allowed"].to_numpy(dtype=float), reports, resamples=resamples, rng=rng
    )
    told = f"{with_interval(share, low, high, '.1%')} of {len(found):,} found"
    return check_statement(name, claim, told, above(low, high, edge))


def _concept(label: str) -> str:
    return "observation" if label.upper().startswith("OBS") else "anatomy"


def by_anatomy(counts: pd.DataFrame) -> pd.DataFrame:
    """Entities right, found and gold, and F1, by the anatomy that ``group`` names after the modality; groups
    of one word, such as an institution, name none and are left out."""
    named = counts[(counts["part"] == "entity") & counts["group"].str.contains(" ", regex=False)]
    anatomy = named["group"].str.split(" ", n=1).str[1].rename("anatomy")
    sums = named.groupby(anatomy)[["matched", "predicted", "gold"]].sum()
    sums["F1"] = 2 * sums["matched"] / (sums["predicted"] + sums["gold"]).clip(lower=1)
    return sums.rename(columns={"matched": "right", "predicted": "found"})


def beside_printed(printed: pd.DataFrame, graph: Graph) -> pd.DataFrame:
    """Printed triplets beside those of a graph.

    Parameters
    ----------
    printed : ``entity``, ``label`` and ``printed`` (whether it has a relation, as text).

    Returns
    -------
    DataFrame
        ``entity``, ``label printed``, ``label found``, ``relation printed``, ``relation found``; ``–`` where
        the graph has no such entity. Capitals do not count.
    """
    found = {words.lower(): (label.lower(), str(flag)) for words, label, flag in triplets(graph)}
    rows = [
        {
            "entity": row.entity,
            "label printed": str(row.label).lower(),
            "label found": found.get(str(row.entity).lower(), ("–", "–"))[0],
            "relation printed": str(row.printed),
            "relation found": found.get(str(row.entity).lower(), ("–", "–"))[1],
        }
        for row in printed.itertuples()
    ]
    return pd.DataFrame(rows)
