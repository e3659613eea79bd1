"""Check GREEN's Tables 2 to 4, 8 and 9 against one another and the prose; generate an example for judges."""

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
SIMILARITIES = ["BERTScore", "ROUGE-L", "BLEU"]
# Groups of quantities: their name, the numbers that are averaged, and the quantities.
KINDS = (
    ("counts and their differences", "whole counts", COUNTS),
    ("GREEN scores", "numbers from 0 to 1", ["GREEN"]),
    ("similarities", "numbers from 0 to 1", SIMILARITIES),
)


def check_spreads(frame: pd.DataFrame) -> list[Check]:
    """Return checks of a table's printed standard deviations against bounds that follow from the means.

    The standard deviation of numbers from 0 to 1 with mean m is at most sqrt(m (1 - m)); that of integers
    with mean m is at least sqrt(f (1 - f)), where f is the fractional part of m. A standard deviation within
    its bound is possible, but need not be right. There is one check for each group in
    :data:`KINDS` that occurs in ``frame``, the printed cells of the table.
    """
    keys = [key for key in ("evaluation", "training", "model", "quantity") if key in frame]
    moments = frame[frame["statistic"].isin(["mean", "sd"])]
    moments = moments.pivot_table(index=keys, columns="statistic", values=["value", "half_width"], sort=False)
    checks = []
    for quantity, numbers, quantities in KINDS:
        cells = moments[moments.index.get_level_values("quantity").isin(quantities)]
        bounds = []
        for key, row in cells.iterrows():
            mean, margin = row["value", "mean"], row["half_width", "mean"]
            limits = [np.sqrt(end * (1 - end)) for end in ((mean - margin) % 1, (mean + margin) % 1)]
            sd = Printed("", row["value", "sd"], row["half_width", "sd"], (*key, "sd"))
            bounds.append((sd, min(limits), np.inf) if quantities is COUNTS else (sd, 0.0, max(limits)))
        if bounds:
            checks.append(check_bounds(f"standard deviations of {quantity}", f"± of {numbers}", bounds))
    return checks


def check_quoted(
    frame: pd.DataFrame, table: str, quoted: Mapping[str, Printed], key: str, item: str, **where: str
) -> list[Check]:
    """Return checks of a mean and a standard deviation in the prose against cells of a table.

    Parameters
    ----------
    frame : the table's cells.
    table : the name of the table, for the names of the checks.
    quoted : a mapping from name to number in the prose.
    key : the name of the mean in ``quoted``; that of the standard deviation is ``<key>_sd``.
    item : what is measured, for the names of the checks.
    where : the values, by column of ``frame``, that select the two cells; ``statistic`` is added.
    """
    return [
        check_value(
            Key(f"prose against {table}", item, statistic),
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
    name, claim : the name of the checks, and the sentence of the paper.
    cells : printed means and standard deviations of one quantity.
    key : the column with the names of the models.
    first : the models that are claimed to be best.
    n : the number of report pairs behind each mean.
    lower : whether lower means are better.
    """
    means, spreads = (index_cells(cells[cells["statistic"] == part], key) for part in ("mean", "sd"))
    weakest_model = min(first, key=lambda model: -means[model].value if lower else means[model].value)
    leader = means[weakest_model], spreads[weakest_model]
    rivals = [model for model in means if model not in first]
    leads = {model: lead_of_means(leader, (means[model], spreads[model]), n, lower) for model in rivals}
    return check_superiority(name, claim, means, first=first, leads=leads, lower_is_better=lower)


def generate_example(run: Run) -> tuple[str, str, Judgement, list[str]]:
    """Generate a pair of reports with planted errors, and judge it by the rules.

    The candidate has significant errors of at least three categories. Its style differs from that of the
    reference, so that shared wording does not reveal the errors.

    Returns
    -------
    reference, candidate : the findings sections of the two reports.
    judgement : the rules' judgement of the pair.
    categories : the category letter of each planted error, significant or not.

    Raises
    ------
    RadevalError
        If none of 60 generated pairs has such errors and a candidate in another style.
    """
    seed = draw_seed(run, "example")
    for pair in error_pairs(60, seed=seed, modality_anatomy=CHEST):
        if len({error.category for error in pair.errors if error.significant}) < 3:
            continue
        try:
            reworded = rewrite(pair.candidate, "style", seed)
        except SyntheticError:  # The report cannot be worded in another style.
            continue
        texts = pair.reference.findings.text, reworded.findings.text
        return *texts, judge_pair(*texts), [error.category for error in pair.errors]
    problem = f"none of 60 pairs has significant errors of three categories in a new style (seed {run.seed})"
    raise RadevalError(problem, "green/judge_models", "Run the page with another seed (-p seed NUMBER).")
