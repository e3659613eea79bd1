"""Writes radeval_lib/metrics/reference_scores.json: scores that pairs of known quality get, to compare with.

Generated reports of chest X-rays have 0 to 6 planted errors, four in ten of them insignificant; the
candidate says the rest in other words. With RADEVAL_DATA_ROOT, each report of Open-i is also compared with
the next one, as a system would be that writes about somebody else. Takes a few minutes:

    python workflow/reference_scores.py
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np

from radeval_lib import atomic, data
from radeval_lib.data import openi
from radeval_lib.metrics import create
from radeval_lib.metrics.score_charts import QUANTILES, REFERENCE_SCORES
from radeval_lib.rules.generator import SyntheticError, error_pairs, rewrite

PAIRS, SEED = 400, 20260101
MOST_ERRORS = 6
WORDS = ("bleu", "meteor", "rouge_1", "rouge_2", "rouge_l")
RULES = ("green", "green_rules", "green_rules_errors", "observations")
METRICS: dict[str, dict[str, object]] = {name: {} for name in WORDS + RULES} | {
    "bertscore": {"encoder": "packaged-minilm", "layer": None}
}


def planted(errors: int, pairs: int) -> Iterator[tuple[str, str]]:
    """Pairs of findings with so many errors, half of the candidates in the other style."""
    rng, start = Random(f"{SEED} {errors}"), 0
    while pairs:
        kinds = [(rng.choice("abcdef"), rng.random() < 0.6) for _ in range(errors)]
        start += 1
        try:
            (pair,) = error_pairs(1, SEED, kinds, modality_anatomy=("X-Ray", "CHEST"), start=start)
            said = rewrite(pair.candidate, "style" if pairs % 2 else "synonym", SEED)
        except SyntheticError:  # no report allows this mix, or there are no other words for it
            continue
        pairs -= 1
        yield pair.reference.findings.text, said.findings.text


def unrelated(root: Path) -> list[tuple[str, str]]:
    """Each report's findings with those of the next one."""
    path = data.find("openi", root)
    texts = [data.reveal(one.findings) for one in openi.load(path)] if path else []
    texts = [text for text in texts if text.strip()]
    return list(zip(texts, texts[1:] + texts[:1], strict=True))


def main(pairs: int = PAIRS) -> dict[str, object]:
    """The file's content, from so many pairs of each number of planted errors."""
    sets = {
        f"{n} planted error{'s' if n != 1 else ''}": list(planted(n, pairs)) for n in range(MOST_ERRORS + 1)
    }
    root = data.data_root(None)
    if root is not None and (others := unrelated(root)):
        sets["another patient's report"] = others
    scores: dict[str, dict[str, list[float]]] = {}
    for name, settings in METRICS.items():
        metric = create(name, **settings)
        scores[metric.signature().comparable()] = {
            label: [
                round(float(value), 4)
                for value in np.quantile(metric.score(*map(list, zip(*of, strict=True))).values, QUANTILES)
            ]
            for label, of in sets.items()
        }
    return {
        "made by": "workflow/reference_scores.py",
        "sets": {label: len(of) for label, of in sets.items()},
        "seed": SEED,
        "quantiles": list(QUANTILES),
        "scores by signature": scores,
    }


if __name__ == "__main__":
    atomic.write_text(REFERENCE_SCORES, json.dumps(main(*map(int, sys.argv[1:])), indent=1) + "\n")
