"""GREEN's Tables 2 to 4, 8 and 9 against themselves, the prose and radiologists' counts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from notebooks.green.inter_expert import check_spread
from notebooks.green.radiologists import KINDS, Counts
from radeval_lib.data.rexval import RATERS
from radeval_lib.errors import RadevalError
from radeval_lib.jobs.green.judging import CHEST, seed_of
from radeval_lib.papers.printed_numbers import Printed, all_in, by_name, cell, quoted
from radeval_lib.papers.rounding import rounding_range
from radeval_lib.rules.generator import SyntheticError, error_pairs, rewrite
from radeval_lib.rules.judge import Judgement, judge_pair
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.printed_counts import sums_that_print
from radeval_lib.study.checks import Check, Key, check_bounds, check_statement, check_value
from radeval_lib.study.printed_leads import lead_of_means
from radeval_lib.study.runs import Run
from radeval_lib.study.superiority import check_superiority
from radeval_lib.text_format import in_words

COUNTS = ["significant errors", "insignificant errors", "matched findings"]
LEXICAL = ["BERTScore", "ROUGE-L", "BLEU"]
LABELS, HEADER = "GPT-4 labels", "Average radiologist (header)"
TRAININGS = {"before": "CXR", "after": "CXR + Out-of CXR"}
"""Table 8's names of a model before and after further training on other images."""


def counted_means(frame: pd.DataFrame, evaluation: str) -> pd.DataFrame:
    """The printed means of counts, and of their differences, of one evaluation."""
    chosen = frame[(frame["evaluation"] == evaluation) & (frame["statistic"] == "mean")]
    return chosen[chosen["quantity"].isin(COUNTS)]


def possible_means(frame: pd.DataFrame, evaluation: str) -> tuple[pd.Series, int]:
    """How many printed means of counts whole numbers can have, by the number of pairs from 1 to 60, and how
    many such means there are (GRIM; Brown & Heathers 2017). An evaluation without means is a ValueError."""
    counted = counted_means(frame, evaluation)
    if counted.empty:
        raise ValueError(f"no printed means of counts of {evaluation!r}")
    means = list(zip(counted["value"], counted["half_width"], strict=True))
    possible = {pairs: sum(bool(sums_that_print(*mean, pairs)) for mean in means) for pairs in range(1, 61)}
    return pd.Series(possible), len(means)


def check_spreads(frame: pd.DataFrame) -> list[Check]:
    """The printed standard deviations of a table against the bounds that their means set.

    Numbers from 0 to 1 with mean m spread by at most sqrt(m (1 - m)); without the bound, anything to one half
    is possible. Whole numbers spread by at least sqrt(f (1 - f)), where f is what m exceeds the whole number
    below by; a number within its bound shows nothing.
    A table without means and standard deviations is a ValueError.
    """
    found = []
    for what, numbers, quantities in (
        ("counts and their differences", "whole counts", COUNTS),
        ("GREEN scores", "numbers from 0 to 1", ["GREEN"]),
        ("similarities", "numbers from 0 to 1", LEXICAL),
    ):
        cells = _cells(frame, quantities)
        if cells.empty:
            continue
        value, half = cells["value"], cells["half_width"]
        ends = np.stack([value["mean"] - half["mean"], value["mean"] + half["mean"]]) % 1
        spreads = np.sqrt(ends * (1 - ends))
        printed = [
            Printed("", sd, width, (*(key if isinstance(key, tuple) else (key,)), "sd"))
            for key, sd, width in zip(cells.index, value["sd"], half["sd"], strict=True)
        ]
        if quantities is COUNTS:
            bounds = [(sd, floor, np.inf) for sd, floor in zip(printed, spreads.min(axis=0), strict=True)]
        else:
            bounds = [(sd, 0.0, top) for sd, top in zip(printed, spreads.max(axis=0), strict=True)]
        found.append(check_bounds(f"standard deviations of {what}", f"± of {numbers}", bounds))
    if not found:
        raise ValueError("the table prints no mean with a standard deviation")
    return found


def check_quoted(
    frame: pd.DataFrame, table: str, stated: Mapping[str, Printed], key: str, what: str, **where: str
) -> list[Check]:
    """A mean and a standard deviation of the prose, ``key`` and ``key``_sd, against the table's cells."""
    return [
        check_value(
            Key(f"prose against {table}", what, statistic),
            stated[name],
            cell(frame, statistic=statistic, **where).value,
        )
        for statistic, name in (("mean", key), ("sd", f"{key}_sd"))
    ]


def _cells(frame: pd.DataFrame, quantities: list[str]) -> pd.DataFrame:
    """``value`` and ``half_width`` of ``mean`` and ``sd``, one row per cell with either that is legible; two
    numbers for one cell are a ValueError."""
    keys = [key for key in ("evaluation", "training", "model", "quantity") if key in frame]
    chosen = frame[frame["quantity"].isin(quantities) & frame["statistic"].isin(["mean", "sd"])]
    if chosen.duplicated([*keys, "statistic"]).any():
        raise ValueError(f"two numbers are printed for the same {', '.join(keys)}")
    return chosen.pivot_table(index=keys, columns="statistic", values=["value", "half_width"], sort=False)


def _check_best(
    name: Key, claim: str, cells: pd.DataFrame, key: str, first: list[str], n: int, *, lower: bool
) -> list[Check]:
    """Whether printed means of ``n`` pairs, named by the column ``key``, are better than all the others."""
    means, spreads = (by_name(cells[cells["statistic"] == statistic], key) for statistic in ("mean", "sd"))
    pairs = {model: (mean, spreads[model]) for model, mean in means.items()}
    weakest = min(first, key=lambda model: -means[model].value if lower else means[model].value)
    leads = {
        model: lead_of_means(pairs[weakest], pair, n, lower)
        for model, pair in pairs.items()
        if model not in first
    }
    return check_superiority(name, claim, means, first=first, leads=leads, lower_is_better=lower)


def of_models(frame: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """The printed cells of a quantity, without those of labels and of people."""
    return frame[(frame["quantity"] == quantity) & ~frame["model"].isin([LABELS, HEADER])]


def check_best_base(twos: pd.DataFrame, threes: pd.DataFrame) -> list[Check]:
    """Whether the two models that the prose names are the best of Tables 2 and 3, with the numbers shown."""
    stated, best = quoted("green.claim_best_base"), ["RadLLaMA-2 (7B)", "RadPhi-2 (2.7B)"]
    n = tested("green.guide_pairing", "pairs")
    name, claim = (
        Key("Two lowest", "significant errors (Table 2)"),
        "the lowest mean absolute difference for clinically significant errors",
    )
    cells = of_models(twos, "significant errors")
    checks = _check_best(name, claim, cells, "model", best, n, lower=True)
    claim = "the highest classical lexical metrics … the best natural language agreement"
    for quantity in LEXICAL:
        cells = of_models(threes, quantity)
        name = Key("Two highest", f"{quantity} (Table 3)")
        checks += _check_best(name, claim, cells, "model", best, n, lower=False)
    held = [number for number, cells in ((2, twos), (3, threes)) if "BERTScore" in set(cells["quantity"])]
    place = f"measures of language stand in Table {' and '.join(map(str, held))}"
    checks.append(check_statement("table of the natural language agreement", "Table 2", place, held == [2]))
    for model in reversed(best):
        for key, frame, quantity in (("mae", twos, "significant errors"), ("bertscore", threes, "BERTScore")):
            where = {"model": model, "quantity": quantity}
            checks += check_quoted(frame, "table", stated, key, f"{model}, {quantity}", **where)
    return checks


def check_selected(fours: pd.DataFrame, ones: pd.DataFrame) -> list[Check]:
    """Whether the chosen model differs least in Table 4, and by no more than experts do in Table 1."""
    stated, chosen = quoted("green.claim_selected"), "RadLLaMA-2 (7B)"
    checks = []
    for key, model in (("model", chosen), ("gpt4", "GREEN GPT-4")):
        where = {"model": model, "quantity": "significant errors"}
        checks += check_quoted(fours, "Table 4", stated, key, model, **where)
    name, claim = Key("Lowest difference of the trained models (Table 4)"), "exhibits the lowest differences"
    trained = of_models(fours[fours["model"] != "GREEN GPT-4"], "significant errors")
    n = int(quoted("green.def_rexval")["pairs"].value)
    checks += _check_best(name, claim, trained, "model", [chosen], n, lower=True)
    row = ones[ones["rater"] == "GREEN"]
    mean, sd, single = stated["experts"], stated["experts_sd"], stated["single"]
    spreads = {
        "n - 1": rounding_range(lambda values: values.std(ddof=1), row),
        "n": rounding_range(np.std, row),
    }
    checks += [
        check_value("Mean of GREEN's row of Table 1", single, rounding_range(np.mean, row)),
        *check_spread("Standard deviation of GREEN's row of Table 1", stated["single_sd"], spreads),
    ]
    among = ones[(ones["rater"] != "GREEN") & (ones["other"] != "GREEN")]
    experts = [rounding_range(np.mean, rows) for _, rows in among.groupby("rater")]
    span = (
        rounding_range(lambda pair: float(pair[0] - pair[1]), [mean, sd]),
        rounding_range(lambda pair: float(pair[0] + pair[1]), [mean, sd]),
    )
    for reading, (low, high) in {
        "Within the experts' mean ± one standard deviation": span,
        "Within the span of the six experts' means (Table 1)": (
            min(experts, key=lambda mean: mean.value),
            max(experts, key=lambda mean: mean.value),
        ),
    }.items():
        claim = "within the boundaries of the average inter-expert difference"
        found = f"{single.text} v {low.value:.2f} to {high.value:.2f}"
        checks.append(check_statement(reading, claim, found, within(single, low, high)))
    return checks


def within(number: Printed, low: Estimate, high: Estimate) -> bool | None:
    """Whether a printed number lies between two ends that follow from printed numbers, whatever was rounded:
    None where rounding decides."""
    if low.high <= number.low and number.high <= high.low:
        return True
    return False if number.high < low.low or number.low > high.high else None


def check_multimodal(eights: pd.DataFrame, nines: pd.DataFrame) -> list[Check]:
    """Whether further training improves what Tables 8 and 9 print, with the numbers that the prose gives."""
    stated = quoted("green.claim_multimodal")
    pairs_of, checks = tested_on(), []
    for when, training in TRAININGS.items():
        for key, place in zip(("notes", "ct"), pairs_of, strict=True):
            where = {"evaluation": place, "training": training, "quantity": "significant errors"}
            what = f"{place}, {training}"
            checks += check_quoted(eights, "Table 8", stated, f"{key}_{when}", what, **where)
    claim = "improves … for both the in-distribution and out-of-distribution data"
    both = pd.concat([eights, nines])
    both["when"] = both["training"].map({training: when for when, training in TRAININGS.items()})
    for place, n in pairs_of.items():
        for quantity in ("significant errors", *LEXICAL):
            cells = both[(both["evaluation"] == place) & (both["quantity"] == quantity)].dropna(subset="when")
            name, lower = Key("improvement", place, quantity), quantity not in LEXICAL
            checks += _check_best(name, claim, cells, "when", ["after"], n, lower=lower)
    return checks


def tested_on() -> dict[str, int]:
    """The sets on which Tables 8 and 9 test further training, each with its pairs of reports."""
    return {
        "MIMIC-IV-Notes": tested("green.guide_ooc", "reports"),
        "Abdominal CT": int(quoted("green.guide_ct")["pairs"].value),
    }


def tested(exhibit: str, whole: str) -> int:
    """Pairs of the test part, a tenth of those that the prose counts (GREEN, Section 5.1: "the same 80/10/10
    ratio")."""
    return round(quoted(exhibit)[whole].value * quoted("green.guide_ooc")["test"].value / 100)


def check_head(fours: pd.DataFrame, counts: Counts) -> list[Check]:
    """The numbers in the head of Table 4 against the mean of six radiologists' counts, each by itself, and
    whether either reading, the mean of the six or their sum, gives them all."""
    head, means, fits = fours[fours["model"] == HEADER], [], dict.fromkeys(("mean", "sum"), 0)
    for kind in KINDS:
        totals = counts[kind].mean(axis=2).sum(axis=1)
        for statistic, value in (("mean", float(totals.mean())), ("sd", float(totals.std()))):
            printed = cell(head, quantity=f"{kind} errors", statistic=statistic)
            key = Key("head of the table as mean of six radiologists", f"{kind} errors", statistic)
            means.append(check_value(key, printed, value))
            fits["mean"] += means[-1].agrees
            fits["sum"] += check_value(key, printed, len(RATERS) * value).agrees
    found = f"{fits['mean']} fit the mean of six radiologists, {fits['sum']} their sum"
    together = check_statement(
        "numbers in the head of the table by one reading",
        in_words(len(means)),
        found,
        len(means) in fits.values(),
        cells=all_in(head),
    )
    return [*means, together]


def example(run: Run) -> tuple[str, str, Judgement, list[str]]:
    """Return a generated reference and candidate, the rules' judgement, and the categories of planted errors.

    The errors are of three categories or more, and the candidate is put in another style, so that shared
    wording does not give them away.
    """
    seed = seed_of(run, "example")
    for pair in error_pairs(60, seed=seed, modality_anatomy=CHEST):
        if len({error.category for error in pair.errors if error.significant}) < 3:
            continue
        try:
            reworded = rewrite(pair.candidate, "style", seed)
        except SyntheticError:  # it has no other wording
            continue
        both = pair.reference.findings.text, reworded.findings.text
        return *both, judge_pair(*both), [error.category for error in pair.errors]
    raise RadevalError("no pair of 60 has errors of three categories", "example", "Give another seed.")
