"""What bfloat16 gains RaTEScore over float32 on this processor, and what it changes: scores, and their order.

    python benchmarks/ratescore_precision.py --input indiana_reports.csv --mts-dialog DIR \
        --ner-model DIR --encoder DIR [--rounds 3] [--output precision.json]

Speed: all Open-i pairs of `ratescore_speed.py`, by either precision in turn, models loaded before the clock
starts and nothing cached; of the rounds the one of least processor time counts. Scores: how far the pairs of
Open-i move, and Kendall's tau-b with ratings in either precision, with a 95 % interval of the difference over
resampled pairs: factual F1 by medical experts for the 400 summaries of MTS-Dialog, which are not radiology,
and the number of errors that our generator made in 1,000 of its reports.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from ratescore_speed import ours, read_pairs
from scipy.stats import kendalltau

from radeval_lib.data import mts_dialog
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics import create
from radeval_lib.rules.generator.planted_errors import error_pairs

PRECISIONS = ("float32", "bfloat16")
Pairs = tuple[list[str], list[str]]


def speed(pairs: Pairs, models: dict[str, str], rounds: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Of each precision the round of least processor time, and the scores."""
    best: dict[str, Any] = {}
    scores: dict[str, Any] = {}
    for _ in range(rounds):
        for precision in PRECISIONS:
            spent, scores[precision] = ours(pairs, models["ner_model"], models["encoder"], "cpu", precision)
            best[precision] = min(best.get(precision, spent), spent, key=lambda run: float(run["cpu_s"]))
    return best, scores


def rated(root: Path) -> dict[str, tuple[Pairs, list[float]]]:
    """Return references, candidates, and what they are rated, the better the higher."""
    judged = mts_dialog.load(root / mts_dialog.SCORES, root / mts_dialog.SUMMARIES)
    texts = [(reveal(pair.reference), reveal(pair.candidate)) for pair in judged]
    made = list(error_pairs(1_000, 1))
    generated = [(pair.reference.findings.text, pair.candidate.findings.text) for pair in made]
    return {
        "MTS-Dialog, factual F1": (_sides(texts), [pair.f1 for pair in judged]),
        "generated, errors": (_sides(generated), [-float(len(pair.errors)) for pair in made]),
    }


def _sides(pairs: list[tuple[str, str]]) -> Pairs:
    return [reference for reference, _ in pairs], [candidate for _, candidate in pairs]


def order(pairs: Pairs, ratings: list[float], models: dict[str, str]) -> dict[str, Any]:
    """Return tau-b with the ratings in either precision, and the interval of its difference."""
    scores = {
        precision: np.asarray(
            create("ratescore", device="cpu", precision=precision, **models).score(*pairs).values
        )
        for precision in PRECISIONS
    }
    target, rng = np.asarray(ratings), np.random.default_rng(0)

    def taus(chosen: Any) -> list[float]:
        return [float(kendalltau(scores[name][chosen], target[chosen]).statistic) for name in PRECISIONS]

    whole = taus(np.arange(len(target)))
    drawn = [taus(rng.integers(len(target), size=len(target))) for _ in range(1_000)]
    low, high = np.quantile([half - full for full, half in drawn], [0.025, 0.975])
    return {
        "n": len(target),
        "tau_b": dict(zip(PRECISIONS, whole, strict=True)),
        "difference_from": float(low),
        "difference_to": float(high),
        "largest_difference_of_a_score": float(np.abs(scores["float32"] - scores["bfloat16"]).max()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--mts-dialog", type=Path, required=True)
    parser.add_argument("--ner-model", required=True)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    models = {"ner_model": given.ner_model, "encoder": given.encoder}
    report: dict[str, Any] = {"load_before": os.getloadavg()}
    report["speed"], scores = speed(read_pairs(given.input), models, given.rounds)
    full, half = report["speed"]["float32"], report["speed"]["bfloat16"]
    for kind in ("cpu_s", "wall_s"):
        report[f"times_by_{kind}"] = full[kind] / half[kind]
    moved = np.abs(np.subtract(scores["float32"], scores["bfloat16"]))
    report["moved"] = {
        "pairs": moved.size,
        "mean": float(moved.mean()),
        **{f"share_over_{limit}": float((moved > limit).mean()) for limit in (0.001, 0.01, 0.1)},
        "largest": float(moved.max()),
        "tau_b_of_both": float(kendalltau(scores["float32"], scores["bfloat16"]).statistic),
    }
    report["order"] = {
        name: order(pairs, ratings, models) for name, (pairs, ratings) in rated(given.mts_dialog).items()
    }
    report["load_after"] = os.getloadavg()
    text = json.dumps(report, indent=1)
    print(text)
    if given.output:
        given.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
