"""NER models as the paper prints them, and what its numbers say of each choice.

Source: Zhao et al. 2024, Tables 6 and 7, Section 4.4.1 and Appendix A.8.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import pandas as pd

from radeval_lib.papers.printed_numbers import Printed, cell, quotations
from radeval_lib.papers.rounding import rounding_range
from radeval_lib.stats.base import Estimate
from radeval_lib.stats.inference import wilson
from radeval_lib.study.checks import Check, Key, by_reading, check_statement, check_value

BOTH, SINGLE = "Radiopaedia + MIMIC-IV", ("Radiopaedia", "MIMIC-IV")
MEASURES = ["precision", "recall", "F1", "accuracy"]


def with_wilson(models: pd.DataFrame, entities: int) -> pd.DataFrame:
    """Return NER models with the distances from their precision and recall to the ends of 95% Wilson
    intervals, as ``precision_low``, ``precision_high``, ``recall_low`` and ``recall_high``.

    ``entities``: of the test set, which recall counts; the right ones of them decide how many were reported.
    A precision or recall that is 0 or not legible is a ValueError.
    """
    if not models[["precision", "recall"]].gt(0).all(axis=None):
        raise ValueError("a precision or recall is 0 or not legible, so that no number of entities follows")
    result = models.copy()
    right = models["recall"] * entities
    trials = {"recall": pd.Series(entities, models.index), "precision": right / models["precision"]}
    for name, entities_of in trials.items():
        ends = [wilson(round(k), round(n)) for k, n in zip(right, entities_of, strict=True)]
        result[f"{name}_low"] = models[name] - [low for low, _ in ends]
        result[f"{name}_high"] = [high for _, high in ends] - models[name]
    return result


def difference(printed: pd.DataFrame, measure: str, column: str, first: str, second: str) -> Estimate:
    """Return ``first`` minus ``second``, values of ``column``, of a printed measure, with what rounding
    allows."""
    cells = [cell(printed, measure=measure, **{column: name}) for name in (first, second)]
    return rounding_range(lambda pair: pair[0] - pair[1], cells)


def check_gain(sources: pd.DataFrame, measure: str, promised: Printed) -> list[Check]:
    """Return what both sources gain on ``measure``, over either source alone: the paper does not say over
    which."""
    gains = {f"over {other}": difference(sources, measure, "training_data", BOTH, other) for other in SINGLE}
    name = Key("gain over one source", measure)
    return by_reading({reading: check_value(name, promised, gain) for reading, gain in gains.items()})


def iob_ahead(schemes: pd.DataFrame) -> list[str]:
    """Return the measures on which every IOB model of Table 6 is above every span model."""
    ends = schemes.groupby(["measure", "scheme"])["value"].agg(["min", "max"])
    return [name for name in MEASURES if ends.loc[(name, "IOB"), "min"] > ends.loc[(name, "Span"), "max"]]


def check_iob_ahead(schemes: pd.DataFrame) -> list[Check]:
    """Return whether the IOB models extract more, by whatever measure is meant."""
    ahead = iob_ahead(schemes)
    return by_reading(
        {
            measure: check_statement(
                "IOB models above span models",
                "the IOB scheme overall extracts more comprehensive entities",
                f"{'' if measure in ahead else 'not '}all above all",
                measure in ahead,
            )
            for measure in MEASURES
        }
    )


def named_models() -> list[str]:
    """Return the models that Section 4.4.1 lists."""
    return re.findall(r"(\S+) \(", quotations("ratescore.def_models")[0][1])


def undescribed(models: Iterable[str]) -> list[str]:
    """Return those of some models that Appendix A.8 does not describe."""
    described = [words for where, words in quotations("ratescore.def_models") if where.startswith("Appendix")]
    known = {words.partition(" (")[0].lower() for words in described}
    return [name for name in models if name.lower() not in known]
