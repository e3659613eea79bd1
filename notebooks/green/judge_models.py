"""Check GREEN's Tables 2 to 4, 8 and 9 against one another and the prose; generate an example for a judge."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from radeval_lib.errors import RadevalError
from radeval_lib.jobs.green import CHEST, draw_seed
from radeval_lib.papers.printed_numbers import Printed, cell, index_cells
from radeval_lib.rules.generator import SyntheticError, error_pairs, rewrite
from radeval_lib.rules.judge import Judgement, judge_pair
from radeval_lib.study.checks import Check, Key, check_bounds, check_value
from radeval_lib.study.runs import Run
from radeval_lib.study.superiority import check_superiority, lead_of_means

COUNTS = ["significant errors", "insignificant errors", "matched findings"]
LEXICAL = ["BERTScore", "ROUGE-L", "BLEU"]
KINDS = (
    ("counts and their differences", "whole counts", COUNTS),
    ("GREEN scores", "numbers from 0 to 1", ["GREEN"]),
    ("similarities", "numbers from 0 to 1", LEXICAL),
)


def check_spreads(frame: pd.DataFrame) -> list[Check]:
    """Return checks of a table's printed standard deviations against the bounds that the printed means set.

    The standard deviation of numbers from 0 to 1 with mean m is at most sqrt(m (1 - m)); that of whole
    numbers with mean m is at least sqrt(f (1 - f)), where f is the fractional part of m. A standard deviation
    within its bound is possible, which is no evidence that the table is right. There is one check for each
    group of quantities in :data:`KINDS` that occurs in ``frame``, the printed cells of the table.
    """
    keys = [key for key in ("evaluation", "training", "model", "quantity") if key in frame]
    printed = frame[frame["statistic"].isin(["mean", "sd"])]
    printed = printed.pivot_table(index=keys, columns="statistic", values=["value", "half_width"], sort=False)
    checks = []
    for quantity, numbers, quantities in KINDS:
        cells = printed[printed.index.get_level_values("quantity").isin(quantities)]
        bounds = []
        for key, row in cells.iterrows():
            mean, half = row["value", "mean"], row["half_width", "mean"]
            limits = [np.sqrt(end * (1 - end)) for end in ((mean - half) % 1, (mean + half) % 1)]
            sd = Printed("", row["value", "sd"], row["half_width", "sd"], (*key, "sd"))
            bounds.append((sd, min(limits), np.inf) if quantities is COUNTS else (sd, 0.0, max(limits)))
        if bounds:
            checks.append(check_bounds(f"standard deviations of {quantity}", f"± of {numbers}", bounds))
    return checks


def check_quoted(
    frame: pd.DataFrame, table: str, quoted: Mapping[str, Printed], key: str, of: str, **where: str
) -> list[Check]:
    """Return checks of a mean and a standard deviation that the prose quotes against cells of a table.

    Parameters
    ----------
    frame : the table's cells.
    table : the table's name, for the checks' names.
    quoted : the numbers in the prose, by name.
    key : name of the mean in ``quoted``; the standard deviation's name is ``<key>_sd``.
    of : what is measured, for the checks' names.
    where : the value that each column of ``frame`` must have in the cells, besides ``statistic``.
    """
    return [
        check_value(
            Key(f"prose against {table}", of, statistic),
            quoted[name],
            cell(frame, statistic=statistic, **where).value,
        )
        for statistic, name in (("mean", key), ("sd", f"{key}_sd"))
    ]


def check_best(
    name: Key, claim: str, cells: pd.DataFrame, key: str, first: list[str], n: int, *, lower: bool
) -> list[Check]:
    """Return checks that some models have better printed means than all other models.

    Parameters
    ----------
    name, claim : see :class:`radeval_lib.study.checks.Check`.
    cells : printed means and standard deviations of one quantity.
    key : the column with the models' names.
    first : the models that are claimed to be best; each is compared with every other model.
    n : the number of report pairs behind a mean.
    lower : whether lower means are better.
    """
    means, spreads = (index_cells(cells[cells["statistic"] == name], key) for name in ("mean", "sd"))
    weakest = min(first, key=lambda model: -means[model].value if lower else means[model].value)
    best = means[weakest], spreads[weakest]
    rivals = [model for model in means if model not in first]
    leads = {model: lead_of_means(best, (means[model], spreads[model]), n, lower) for model in rivals}
    return check_superiority(name, claim, means, first=first, leads=leads, lower_is_better=lower)


def generate_example(run: Run) -> tuple[str, str, Judgement, list[str]]:
    """Return a generated pair of reports with planted errors, and how the rules judge it.

    Significant errors of at least three categories are planted in the candidate. It also has another style
    than the reference, so that shared wording does not reveal the errors.

    Returns
    -------
    reference, candidate : the findings sections of the two reports.
    judgement : the rules' judgement of the pair.
    categories : the category letter of each planted error, significant or not.

    Raises
    ------
    RadevalError
        If none of 60 generated pairs is suitable.
    """
    seed = draw_seed(run, "example")
    for pair in error_pairs(60, seed=seed, modality_anatomy=CHEST):
        if len({error.category for error in pair.errors if error.significant}) < 3:
            continue
        try:
            reworded = rewrite(pair.candidate, "style", seed)
        except SyntheticError:  # the report cannot be worded in another style
            continue
        texts = pair.reference.findings.text, reworded.findings.text
        return *texts, judge_pair(*texts), [error.category for error in pair.errors]
    problem = f"none of 60 generated pairs has errors of three categories with the seed {run.seed}"
    raise RadevalError(problem, "green/judge_models", "Run the page with another seed.")
