"""Show RaTEScore's steps on one pair and its choices on many, and recompute the example of Appendix A.1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from IPython.display import HTML
from numpy.typing import NDArray
from scipy import optimize

from radeval_lib import provenance, tables
from radeval_lib.categories import RATE_TYPES, TYPES
from radeval_lib.jobs.learned_weights import EQUAL_WEIGHTS, score_entity_pairs
from radeval_lib.metrics import ratescore
from radeval_lib.metrics.ratescore import Explanation, Options, RaTEScore, Scorer, Weights
from radeval_lib.metrics.ratescore.formula import penalty_matrix
from radeval_lib.models import encoders
from radeval_lib.papers.printed_numbers import Printed, cell_in, rounding_range
from radeval_lib.paths import ROOT
from radeval_lib.rules import generator
from radeval_lib.stats.correlations import coefficient
from radeval_lib.study.checks import Check, Key, check_statement, check_value
from radeval_lib.study.runs import Run
from radeval_lib.text_format import joined

BASE = "released rules"
CHOICES: dict[str, tuple[str, dict[str, Any]]] = {
    "weights": ("W and p for short texts", {"weights": "short"}),
    "penalty": ("the penalty applies to every mismatch of types", {"penalty": "any_mismatch"}),
    "orientation": ("the match's type is the first index of W", {"orientation": "match_first"}),
    "no entity: 0": ("0 if a report has no entity", {"empty": "zero"}),
    "no entity: 1 or 0": ("1 if both lack entities, 0 if only one does", {"empty": "one_if_both_empty"}),
    "pooling": ("the first token's vector, not the mean vector", {"pooling": "cls"}),
    "paper": ("all choices as in Section 2.4, as we read it", {"preset": "paper"}),
}
"""Choices of the metric: a description of the change, and its settings."""


def pair_with_penalty(
    encoder: encoders.Encoder, pairs: Iterable[generator.ErrorPair]
) -> tuple[generator.ErrorPair, Explanation]:
    """Return the first short pair with a penalty in its candidate, and its score from the true entities.

    A pair is short if both sides have at most three sentences with three to five entities in all, and the
    reference has findings alone, no remark.

    Raises
    ------
    SyntheticError
        If there is no such pair.
    """
    for pair in filter(_short, pairs):
        ours, theirs = (
            [(entity.text, entity.label.upper()) for entity in side.findings.entities]
            for side in (pair.reference, pair.candidate)
        )
        first, second = (encoder.encode([text for text, _ in side]) for side in (ours, theirs))
        result = Scorer("long").score(ours, theirs, embeddings=(first, second))
        if result.precision is not None and min(result.precision.penalties) < 1:
            return pair, result
    raise generator.SyntheticError("no short pair meets the penalty", "pair_with_penalty", "Give more pairs.")


def _short(pair: generator.ErrorPair) -> bool:
    remarks = any(isinstance(row.content, generator.Remark) for row in pair.reference.plan)
    sides = (pair.reference.findings, pair.candidate.findings)
    return not remarks and all(len(side.sentences) <= 3 <= len(side.entities) <= 5 for side in sides)


def scores_by_choice(
    run: Run, metric: RaTEScore, pairs: Sequence[tuple[str, str]]
) -> dict[str, NDArray[np.float64]]:
    """Return scores of shape (pairs,) by the released rules, each of :data:`CHOICES`, and equal weights.

    ``metric``: with the released rules.
    """
    references, candidates = zip(*pairs, strict=True)
    base = metric.score(references, candidates)
    scores = {BASE: base.values}
    for label, (_, changes) in CHOICES.items():
        changed = run.metric("ratescore", **changes)
        scores[label] = changed.score(references, candidates).values
    entities = [(explanation.reference, explanation.candidate) for explanation in base.details]
    return scores | {"types": score_entity_pairs(entities, metric.entity_encoder, Scorer(EQUAL_WEIGHTS))}


def choice_table(scores: Mapping[str, NDArray[np.float64]], changes: Mapping[str, str]) -> pd.DataFrame:
    """Return the effect of each choice on the mean and the order of scores.

    ``scores``: of the same pairs by choice; the baseline first. ``changes``: what each other choice changes.
    Returns one row per choice: ``what is changed``, ``mean score``, ``pairs that change``, ``largest change``
    and ``tau with the baseline``.
    """
    (baseline, base), *_ = scores.items()
    changes = {baseline: "–", **changes}
    rows = {
        label: {
            "what is changed": changes[label],
            "mean score": values.mean(),
            "pairs that change": f"{(np.abs(values - base) > 1e-9).sum()} of {len(base)}",
            "largest change": np.abs(values - base).max(),
            "tau with the baseline": coefficient(values, base, "kendall"),
        }
        for label, values in scores.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


ANATOMY, ABNORMALITY, DISEASE, NORMAL, NO_DISEASE = ratescore.TYPES
_KINDS = dict(zip(RATE_TYPES, ratescore.TYPES, strict=True))


def released_weights() -> dict[str, Weights]:
    """Return both released sets of weights, by the length of the texts for which they were fitted."""
    provenance.note_printed(provenance.RELEASED, ROOT / "radeval_lib/metrics/ratescore/weights.yml")
    return {name: ratescore.load(name) for name in ("short", "long")}


def score(pairs: pd.DataFrame, weights: Weights, cosine: float, options: Options) -> Explanation:
    """Return the score if the second pair of entities has this ``cosine``, the first 1, and all others 0.

    ``pairs``: two rows, each an entity of the reference (columns ``reference_entity``, ``reference_type``)
    and one of the candidate (``candidate_entity``, ``candidate_type``).
    """
    reference, candidate = (
        list(zip(pairs[f"{side}_entity"], pairs[f"{side}_type"].map(_KINDS), strict=True))
        for side in ("reference", "candidate")
    )
    return ratescore.Scorer(weights, options).score(reference, candidate, np.diag([1.0, cosine]))


def by_hand(pairs: pd.DataFrame, values: NDArray[np.float64]) -> Explanation:
    """Return the score from W(Ana, Ana), W(Non-Abn, Abn), W(Abn, Non-Abn), the cosine and the penalty."""
    matrix = np.zeros((5, 5))
    anatomy, abnormality, normal = (ratescore.TYPES.index(kind) for kind in (ANATOMY, ABNORMALITY, NORMAL))
    matrix[anatomy, anatomy], matrix[normal, abnormality], matrix[abnormality, normal] = values[:3]
    rules = ratescore.options("paper", orientation="match_first")
    return score(pairs, Weights("A.1", matrix, values[4]), values[3], rules)


def printed_inputs(formula: pd.DataFrame) -> pd.DataFrame:
    """Return the five numbers of the formulas, in the order that :func:`by_hand` takes."""
    there, back, mismatch = "S(x, x_hat)", "S(x_hat, x)", "not in place"
    wanted = [
        (there, "Foley catheter", "weight"),
        (there, mismatch, "weight"),
        (back, mismatch, "weight"),
        (there, mismatch, "cosine"),
        (there, mismatch, "penalty"),
    ]
    return formula.set_index(["direction", "candidate_entity", "quantity"], drop=False).loc[wanted]


def check_penalties(formula: pd.DataFrame) -> list[Check]:
    """Check in each direction that A.1's formula has a penalty if, and only if, two types differ."""
    checks = []
    for direction, rows in formula[formula["candidate_type"] != "-"].groupby("direction", sort=False):
        differ = rows["candidate_type"] != rows["reference_type"]
        with_penalty = sorted(set(rows.loc[rows["quantity"] == "penalty", "candidate_entity"]))
        unlike = sorted(set(rows.loc[differ, "candidate_entity"]))
        named = [joined(names) or "none" for names in (with_penalty, unlike)]
        checks.append(
            check_statement(
                Key("entities with a penalty", str(direction)),
                "p cos(f_i, f̂_j), if t_i ≠ t_j; cos(f_i, f̂_j), if t_i = t_j",
                "a penalty for {}; unlike types: {}".format(*named),
                with_penalty == unlike,
            )
        )
    return checks


def check_only_difference(formula: pd.DataFrame) -> Check:
    """Check that the formulas of A.1 insert the same numbers in both directions, except one weight."""
    inserted = formula[formula["quantity"].isin(["weight", "cosine", "penalty"])]
    values = inserted.groupby(["quantity", "candidate_entity"])["value"].nunique()
    unlike = list(values[values > 1].index)
    return check_statement(
        "inputs that differ by direction",
        "the only difference between the two similarity scores in this case lies in the weight between",
        joined([f"the {quantity} of {entity}" for quantity, entity in unlike]) or "none",
        unlike == [("weight", "not in place")],
    )


def check_repeated(numbers: pd.DataFrame) -> list[Check]:
    """Check that A.1's formulas have the cosines and weights of its text, and the same weights above and
    below the fraction line."""
    columns = ["direction", "candidate_entity", "quantity"]
    formula = numbers[numbers["place"] == "formula"].set_index(columns, drop=False)
    in_text = numbers[(numbers["place"] == "text") & numbers["quantity"].isin(["cosine", "weight"])]
    below = formula[formula["quantity"] == "weight in sum"]
    checks = []
    for comparison, rows in (("text against formula", in_text), ("denominator against numerator", below)):
        for _, row in rows.iterrows():
            quantity = row["quantity"].removesuffix(" in sum")
            inserted = formula.loc[(row["direction"], row["candidate_entity"], quantity), "value"]
            key = Key(f"{quantity}, {comparison}", row["direction"], row["candidate_entity"])
            checks.append(check_value(key, cell_in(row), float(inserted), decimals=2))
    return checks


def reach_of_penalty(
    pairs: pd.DataFrame, inputs: pd.DataFrame, penalty: Printed, final: Printed
) -> dict[str, float]:
    """Return the highest score with the other printed penalty (``high``), and the penalty ``needed`` for the
    printed score."""
    other = inputs.copy()
    other.iloc[-1, other.columns.get_indexer(["value", "half_width"])] = penalty.value, penalty.half_width
    fixed = inputs["value"].to_numpy()[:4]
    needed = optimize.brentq(lambda p: by_hand(pairs, np.array([*fixed, p])).score - final.value, 0, 1)
    high = rounding_range(lambda values: by_hand(pairs, values).score, other).high
    return {"high": float(high), "needed": float(needed)}


def in_release(weights: pd.DataFrame, released: Mapping[str, Weights]) -> int:
    """Return the largest number of the three printed weights that one released set has, in either order of
    its two types."""
    cells = [(ANATOMY, ANATOMY), (NORMAL, ABNORMALITY), (ABNORMALITY, NORMAL)]
    return max(
        sum(
            abs(released_set.weight(*kinds[::order]) - row.value) <= row.half_width
            for kinds, row in zip(cells, weights.itertuples(), strict=True)
        )
        for released_set in released.values()
        for order in (1, -1)
    )


def terms(result: Explanation) -> pd.DataFrame:
    """Return one row per term of the two sums of a score."""
    sides = {
        "precision": (result.precision, result.candidate, result.reference),
        "recall": (result.recall, result.reference, result.candidate),
    }
    rows = []
    for name, (direction, queries, others) in sides.items():
        for match in direction.matches if direction else ():
            (entity, kind), (nearest, other_kind) = queries[match.query], others[match.match]
            row = {"direction": name, "entity": entity, "type": kind}
            row |= {"matched entity": nearest, "matched type": other_kind, "cosine": match.cosine}
            rows.append({**row, "weight": match.weight, "penalty": match.penalty, "term": match.term})
    return pd.DataFrame(rows)


def editable(explanation: Explanation, cosines: NDArray[np.float64], weights: Weights) -> HTML:
    """Return a form in which to choose each entity's type, or leave it out, and see the score.

    Parameters
    ----------
    explanation : a score, with the entities to show.
    cosines : of each entity of the reference (rows) with each of the candidate (columns).
    weights : of pairs of types, and the penalty where types differ.
    """
    penalties = penalty_matrix(weights.penalty, Options())
    sides = {"reference": explanation.reference, "candidate": explanation.candidate}
    content: dict[str, Any] = {
        side: [list(entity) for entity in entities] for side, entities in sides.items()
    }
    content |= {"cosines": cosines.tolist(), "types": TYPES, "names": RATE_TYPES}
    content |= {"weights": weights.matrix.tolist(), "penalties": penalties.tolist()}
    data = tables.as_data(content)
    return HTML(f'<div class="ra-pair" role="group" aria-label="A pair to edit">{data}</div>')
