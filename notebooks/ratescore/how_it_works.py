"""Show RaTEScore's steps on one pair and its choices on many; recompute the example of Appendix A.1."""

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
from radeval_lib.metrics.ratescore.formula import build_penalty_matrix
from radeval_lib.models import encoders
from radeval_lib.papers.printed_numbers import Printed, cell_in, rounding_range
from radeval_lib.paths import ROOT
from radeval_lib.rules import generator
from radeval_lib.stats.correlations import coefficient
from radeval_lib.study.checks import Check, Key, check_statement, check_value
from radeval_lib.study.runs import Run
from radeval_lib.text_format import joined

BASE = "released rules"  # The baseline of all choices.
# A mapping from each choice that changes the metric to a description of the change and its settings.
CHOICES: dict[str, tuple[str, dict[str, Any]]] = {
    "weights": ("W and p for short texts", {"weights": "short"}),
    "penalty": ("the penalty applies to every mismatch of types", {"penalty": "any_mismatch"}),
    "orientation": ("the match's type is the first index of W", {"orientation": "match_first"}),
    "no entity: 0": ("0 if a report has no entity", {"empty": "zero"}),
    "no entity: 1 or 0": ("1 if both lack entities, 0 if only one does", {"empty": "one_if_both_empty"}),
    "pooling": ("the first token's vector, not the mean vector", {"pooling": "cls"}),
    "paper": ("all choices as in Section 2.4, as we read it", {"preset": "paper"}),
}


def find_pair_with_penalty(
    encoder: encoders.Encoder, pairs: Iterable[generator.ErrorPair]
) -> tuple[generator.ErrorPair, Explanation]:
    """Return the first short pair in which a candidate entity is penalized, and the explanation of its score.

    The score is computed from the true entities with the weights for long texts.

    Raises
    ------
    SyntheticError
        If there is no such pair.
    """
    for pair in filter(_is_short, pairs):
        reference, candidate = (
            [(entity.text, entity.label.upper()) for entity in side.findings.entities]
            for side in (pair.reference, pair.candidate)
        )
        first, second = (encoder.encode([text for text, _ in side]) for side in (reference, candidate))
        explanation = Scorer("long").score(reference, candidate, embeddings=(first, second))
        if explanation.precision is not None and min(explanation.precision.penalties) < 1:
            return pair, explanation
    problem = "none of the pairs is short and has a penalized entity"
    raise generator.SyntheticError(problem, "find_pair_with_penalty", "Pass more pairs.")


def _is_short(pair: generator.ErrorPair) -> bool:
    """Return whether both sides have at most three sentences and three to five entities.

    The reference must also have no remark in addition to its findings.
    """
    has_remark = any(isinstance(row.content, generator.Remark) for row in pair.reference.plan)
    sides = (pair.reference.findings, pair.candidate.findings)
    return not has_remark and all(len(side.sentences) <= 3 <= len(side.entities) <= 5 for side in sides)


def score_by_choice(
    run: Run, metric: RaTEScore, pairs: Sequence[tuple[str, str]]
) -> dict[str, NDArray[np.float64]]:
    """Return a mapping from each choice to the scores of all pairs, shape (pairs,).

    The keys are :data:`BASE` (``metric``, with the released rules), each key of :data:`CHOICES`, and
    ``types`` (equal weights for all types, no penalty). Each pair is (reference, candidate).
    """
    references, candidates = zip(*pairs, strict=True)
    base_result = metric.score(references, candidates)
    scores = {BASE: base_result.values}
    for label, (_, changes) in CHOICES.items():
        variant = run.metric("ratescore", **changes)
        scores[label] = variant.score(references, candidates).values
    entities = [(explanation.reference, explanation.candidate) for explanation in base_result.details]
    return scores | {"types": score_entity_pairs(entities, metric.entity_encoder, Scorer(EQUAL_WEIGHTS))}


def tabulate_choices(scores: Mapping[str, NDArray[np.float64]], changes: Mapping[str, str]) -> pd.DataFrame:
    """Return the effect of each choice on the mean and the order of scores, one row per choice.

    Columns are ``what is changed``, ``mean score``, ``pairs that change`` (such as ``3 of 20``), ``largest
    change`` (of a score), and ``tau with the baseline`` (Kendall's tau). ``scores`` is the result of
    :func:`score_by_choice`, the baseline first; ``changes`` has a description of each other choice.
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
# A mapping from the types in RaTE-NER to those in the metric.
_METRIC_TYPES = dict(zip(RATE_TYPES, ratescore.TYPES, strict=True))


def load_released_weights() -> dict[str, Weights]:
    """Return the two released sets of weights, fitted to ``short`` and to ``long`` texts."""
    provenance.note_printed(provenance.RELEASED, ROOT / "radeval_lib/metrics/ratescore/weights.yml")
    return {name: ratescore.load(name) for name in ("short", "long")}


def score_example(pairs: pd.DataFrame, weights: Weights, cosine: float, options: Options) -> Explanation:
    """Return the score, with its explanation, of the example in Appendix A.1, in which the second pair of
    entities has this ``cosine``.

    The first pair has a cosine of 1, and all other combinations of entities have 0. ``pairs`` has two rows,
    each with an entity of the reference (``reference_entity``, ``reference_type``) and of the candidate
    (``candidate_entity``, ``candidate_type``).
    """
    reference, candidate = (
        list(zip(pairs[f"{side}_entity"], pairs[f"{side}_type"].map(_METRIC_TYPES), strict=True))
        for side in ("reference", "candidate")
    )
    return ratescore.Scorer(weights, options).score(reference, candidate, np.diag([1.0, cosine]))


def score_inputs(pairs: pd.DataFrame, values: NDArray[np.float64]) -> Explanation:
    """Return the score, with its explanation, of the example in Appendix A.1, given the five numbers in its
    formulas.

    ``values`` are the weights W(Anatomy, Anatomy), W(Non-Abnormality, Abnormality) and W(Abnormality,
    Non-Abnormality), the cosine, and the penalty; ``pairs`` has the two pairs of :func:`score_example`.
    """
    matrix = np.zeros((5, 5))
    anatomy, abnormality, normal = (ratescore.TYPES.index(kind) for kind in (ANATOMY, ABNORMALITY, NORMAL))
    matrix[anatomy, anatomy], matrix[normal, abnormality], matrix[abnormality, normal] = values[:3]
    rules = ratescore.options("paper", orientation="match_first")
    return score_example(pairs, Weights("A.1", matrix, values[4]), values[3], rules)


def select_printed_inputs(formula: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the formulas in Appendix A.1 with the five inputs of :func:`score_inputs`, in that
    order."""
    precision, recall, mismatch = "S(x, x_hat)", "S(x_hat, x)", "not in place"
    inputs = [
        (precision, "Foley catheter", "weight"),
        (precision, mismatch, "weight"),
        (recall, mismatch, "weight"),
        (precision, mismatch, "cosine"),
        (precision, mismatch, "penalty"),
    ]
    return formula.set_index(["direction", "candidate_entity", "quantity"], drop=False).loc[inputs]


def check_penalties(formula: pd.DataFrame) -> list[Check]:
    """Return a check per direction that the formula in Appendix A.1 has a penalty exactly where matched types
    differ."""
    checks = []
    for direction, rows in formula[formula["candidate_type"] != "-"].groupby("direction", sort=False):
        types_differ = rows["candidate_type"] != rows["reference_type"]
        penalized = sorted(set(rows.loc[rows["quantity"] == "penalty", "candidate_entity"]))
        mismatched = sorted(set(rows.loc[types_differ, "candidate_entity"]))
        descriptions = [joined(names) or "none" for names in (penalized, mismatched)]
        checks.append(
            check_statement(
                Key("entities with a penalty", str(direction)),
                "p cos(f_i, f̂_j), if t_i ≠ t_j; cos(f_i, f̂_j), if t_i = t_j",
                "a penalty for {}; unlike types: {}".format(*descriptions),
                penalized == mismatched,
            )
        )
    return checks


def check_only_difference(formula: pd.DataFrame) -> Check:
    """Return a check that the two formulas in Appendix A.1 use the same numbers except for one weight, as the
    text says."""
    inputs = formula[formula["quantity"].isin(["weight", "cosine", "penalty"])]
    distinct_values = inputs.groupby(["quantity", "candidate_entity"])["value"].nunique()
    differing = list(distinct_values[distinct_values > 1].index)
    return check_statement(
        "inputs that differ by direction",
        "the only difference between the two similarity scores in this case lies in the weight between",
        joined([f"the {quantity} of {entity}" for quantity, entity in differing]) or "none",
        differing == [("weight", "not in place")],
    )


def check_repeated_numbers(numbers: pd.DataFrame) -> list[Check]:
    """Return checks that A.1 prints the same number wherever it repeats one.

    The formulas must have the cosines and weights of the text, and the same weights in numerator and
    denominator.
    """
    columns = ["direction", "candidate_entity", "quantity"]
    formula = numbers[numbers["place"] == "formula"].set_index(columns, drop=False)
    text_rows = numbers[(numbers["place"] == "text") & numbers["quantity"].isin(["cosine", "weight"])]
    sums = formula[formula["quantity"] == "weight in sum"]
    checks = []
    for comparison, rows in (("text against formula", text_rows), ("denominator against numerator", sums)):
        for _, row in rows.iterrows():
            quantity = row["quantity"].removesuffix(" in sum")
            value = formula.loc[(row["direction"], row["candidate_entity"], quantity), "value"]
            key = Key(f"{quantity}, {comparison}", row["direction"], row["candidate_entity"])
            checks.append(check_value(key, cell_in(row), float(value), decimals=2))
    return checks


def compute_penalty_reach(
    pairs: pd.DataFrame, inputs: pd.DataFrame, penalty: Printed, final: Printed
) -> dict[str, float]:
    """Return the highest score of the example in Appendix A.1 with ``penalty``, and the penalty needed for
    the printed one.

    The keys are ``high``, the highest score within the rounding of all inputs, and ``needed``, the penalty (0
    to 1) with which the printed inputs give the printed score ``final``. ``pairs`` has the two
    pairs of :func:`score_example`; ``inputs`` are the rows of :func:`select_printed_inputs`.

    Raises
    ------
    ValueError
        If the printed score is not between the scores with the penalties 0 and 1.
    """
    changed = inputs.copy()
    changed.iloc[-1, changed.columns.get_indexer(["value", "half_width"])] = penalty.value, penalty.half_width
    other_inputs = inputs["value"].to_numpy()[:4]

    def excess(p: float) -> float:
        return score_inputs(pairs, np.array([*other_inputs, p])).score - final.value

    needed = optimize.brentq(excess, 0, 1)
    high = rounding_range(lambda values: score_inputs(pairs, values).score, changed).high
    return {"high": float(high), "needed": float(needed)}


def count_matching_weights(weights: pd.DataFrame, released: Mapping[str, Weights]) -> int:
    """Return the largest number of the three weights printed in Appendix A.1 that one released set has for
    the same types.

    Each set is compared with its two types in either order. ``weights`` are the first three rows of
    :func:`select_printed_inputs`.
    """
    type_pairs = [(ANATOMY, ANATOMY), (NORMAL, ABNORMALITY), (ABNORMALITY, NORMAL)]
    return max(
        sum(
            abs(released_set.weight(*kinds[::order]) - row.value) <= row.half_width
            for kinds, row in zip(type_pairs, weights.itertuples(), strict=True)
        )
        for released_set in released.values()
        for order in (1, -1)
    )


def tabulate_terms(explanation: Explanation) -> pd.DataFrame:
    """Return a table with one row per term of the two sums in a score.

    Columns are ``direction`` (``precision`` or ``recall``), ``entity`` and ``type``, ``matched entity`` and
    ``matched type``, ``cosine``, ``weight``, ``penalty``, and ``term``, their product.
    """
    sides = {
        "precision": (explanation.precision, explanation.candidate, explanation.reference),
        "recall": (explanation.recall, explanation.reference, explanation.candidate),
    }
    rows = []
    for name, (direction, queries, others) in sides.items():
        for match in direction.matches if direction else ():
            (entity, kind), (nearest, other_kind) = queries[match.query], others[match.match]
            row = {"direction": name, "entity": entity, "type": kind}
            row |= {"matched entity": nearest, "matched type": other_kind, "cosine": match.cosine}
            rows.append({**row, "weight": match.weight, "penalty": match.penalty, "term": match.term})
    return pd.DataFrame(rows)


def make_pair_form(explanation: Explanation, cosines: NDArray[np.float64], weights: Weights) -> HTML:
    """Return an HTML form in which readers change or leave out the entities of a pair and see the score.

    Parameters
    ----------
    explanation : the score of the pair with its explanation and entities.
    cosines : the cosine of each entity of the reference (rows) with each of the candidate (columns).
    weights : the weights of pairs of types, and the penalty.
    """
    penalties = build_penalty_matrix(weights.penalty, Options())
    sides = {"reference": explanation.reference, "candidate": explanation.candidate}
    content: dict[str, Any] = {
        side: [list(entity) for entity in entities] for side, entities in sides.items()
    }
    content |= {"cosines": cosines.tolist(), "types": TYPES, "names": RATE_TYPES}
    content |= {"weights": weights.matrix.tolist(), "penalties": penalties.tolist()}
    data = tables.to_json_script(content)
    return HTML(f'<div class="ra-pair" role="group" aria-label="A pair to edit">{data}</div>')
