"""Record corpus BLEU, its intervals and its paired tests as sacrebleu 2.6.0 itself gives them.

    python -m venv sacrebleu-env && sacrebleu-env/bin/pip install sacrebleu==2.6.0
    sacrebleu-env/bin/python tests/reference/record_sacrebleu.py

Texts are split at white space (``tokenize="none"``) and nothing is smoothed, which is what both define alike.
"""

from __future__ import annotations

import json
import random
from importlib.metadata import version
from pathlib import Path

from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest

TARGET = Path(__file__).resolve().parent / "sacrebleu" / "package.json"
VOCABULARY = (
    "small large stable new left right basal apical pleural effusion opacity atelectasis no pneumothorax "
    "heart size is normal . lungs are clear there with the in mild moderate edema and"
)
CHANGED = {"a": 0.1, "b": 0.1, "c": 0.115, "d": 0.2}
"""By system, the share of words that it has changed."""
CASES, TRIALS = 150, 10_000


def main() -> None:
    chance, words = random.Random(0), VOCABULARY.split()
    references = [" ".join(chance.choices(words, k=chance.randint(4, 30))) for _ in range(CASES)]
    systems = {
        name: [
            " ".join(chance.choice(words) if chance.random() < share else word for word in text.split())
            for text in references
        ]
        for name, share in CHANGED.items()
    }
    bleu = BLEU(tokenize="none", smooth_method="none")
    results = PairedTest(
        list(systems.items()), {"bleu": bleu}, [references], n_samples=TRIALS, n_ar_confidence=TRIALS
    )()[1]["BLEU"]
    record = {
        "version": version("sacrebleu"),
        "seed": 12345,  # its default
        "trials": TRIALS,
        "references": references,
        "systems": systems,
        "bleu": {name: result.score for name, result in zip(systems, results, strict=True)},
        "half_width": {name: result.ci for name, result in zip(systems, results, strict=True)},
        "p_against_a": {
            name: result.p_value for name, result in zip(systems, results, strict=True) if name != "a"
        },
    }
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(json.dumps(record, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
