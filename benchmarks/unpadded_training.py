"""Seconds to train a tagger on a CPU, with batches padded and with their texts laid end to end.

    python benchmarks/unpadded_training.py [SENTENCES]

Sentences of the generated corpus, settings of the profile `embedded`, one epoch a turn, both ways in turn.
"""

from __future__ import annotations

import statistics
import sys
import time
from contextlib import nullcontext
from unittest import mock

import torch

from radeval_lib import roles
from radeval_lib.data.records import AnnotatedSentence
from radeval_lib.jobs.ratescore import plan
from radeval_lib.models import training
from radeval_lib.models.ner.training import scheme_of
from radeval_lib.study.profiles import profile

_TURNS = 5


def seconds(sentences: list[AnnotatedSentence], dev: list[AnnotatedSentence], *, padded: bool) -> float:
    """Train for one epoch."""
    chosen = {**plan.settings(profile("embedded")).training["iob"], "epochs": 1}
    task = scheme_of("iob", "packaged-minilm")
    with mock.patch.object(training, "unpadded", nullcontext) if padded else nullcontext():
        began = time.perf_counter()
        training.train(task, sentences, dev, training.TrainingSettings(**chosen, device="cpu"))
    return time.perf_counter() - began


def main() -> None:
    """Print medians."""
    torch.set_num_threads(1)
    count = int(sys.argv[1]) if sys.argv[1:] else 160
    corpus = roles.load("ner_corpus", "synthetic", size=200, seed=1, root=None)
    rows = [row for row in corpus if row.split == "train"]
    sentences, dev = rows[:count], rows[count : count + 8]
    pairs = [
        (seconds(sentences, dev, padded=True), seconds(sentences, dev, padded=False)) for _ in range(_TURNS)
    ]
    padded, unpadded = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"{len(sentences)} sentences: padded {padded:.1f} s, end to end {unpadded:.1f} s")


if __name__ == "__main__":
    main()
