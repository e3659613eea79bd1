"""Fine-tune a language model on analyses and measure what it learned (Ostmeier et al. 2024, Section 3.2)."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from math import log
from statistics import fmean

import pandas as pd

from radeval_lib.data.records import JudgedPair
from radeval_lib.data.restricted import Text, reveal
from radeval_lib.jobs.green import seed_of, settings
from radeval_lib.metrics.green import parse
from radeval_lib.models.batching import IGNORED
from radeval_lib.models.language_model_judge import CausalJudge, JudgeTuning, pretrained_model, small_model
from radeval_lib.models.training import train
from radeval_lib.rules.judge.base import Pair
from radeval_lib.study.runs import Run

STAND_INS = (
    "generated reports; a simulated report generator, not a trained one; the cosine of token counts, not "
    "BERTScore; changes by our generator, not of RadGraph's entities; the generator's analyses, not GPT-4's"
)
"""What generated pairs replace of the paper's."""


def readable(analyses: Sequence[Text]) -> int:
    """Return the number of analyses that the strict parser can read."""
    return sum(parse(reveal(analysis), "strict").score is not None for analysis in analyses)


def fine_tune(
    run: Run,
    rank: int,
    *,
    teach: Sequence[JudgedPair],
    choosing: Sequence[JudgedPair],
    held: Sequence[JudgedPair],
    asked: Sequence[Pair],
) -> dict[str, object]:
    """Fine-tune low-rank adapters of ``rank`` or, if it is 0, all weights, and return the results.

    ``teach``, ``choosing``, ``held``: judged pairs to learn from, to choose the epoch, and to measure the
    result. ``asked``: pairs of reports for the trained model to analyse. Returns ``trained``, the number of
    ``weights``, the mean log-probability (nats) of the tokens of the held-out analyses ``before`` and
    ``after`` training and by ``token frequencies`` alone, and the number of ``readable answers`` and of
    those ``asked``.
    """
    import torch

    chosen, seed = settings(run.profile), seed_of(run, f"tuning {rank}")
    torch.manual_seed(seed)
    module, tokenizer = (
        pretrained_model(chosen.start)
        if chosen.start
        else small_model([reveal(pair.prompt) + reveal(pair.analysis) for pair in teach], **chosen.small)
    )
    task = JudgeTuning(module, tokenizer, max_length=chosen.longest, lora_rank=rank)
    weights = sum(weight.numel() for weight in task.module.parameters() if weight.requires_grad)
    before = _likelihood(task, held)
    tuning = chosen.tuning(seed, run.profile.device)
    trained = train(task, teach, choosing, tuning, folder=run.checkpoint_folder("rank", rank)).task
    after = _likelihood(trained, held)
    with tempfile.TemporaryDirectory() as folder:
        trained.save(folder)
        judge = CausalJudge(folder, max_new_tokens=chosen.answer, device=run.profile.device)
        answers = judge.judge(asked)
    return {
        "trained": f"low-rank adapters of rank {rank}" if rank else "all weights",
        "weights": weights,
        "before": before,
        "after": after,
        "token frequencies": _by_frequency(task, teach, held),
        "readable answers": readable(answers),
        "asked": len(answers),
    }


def _likelihood(task: JudgeTuning, held: Sequence[JudgedPair]) -> float:
    """Return the mean log-probability of a token, averaged over analyses."""
    return pd.Series([task.measure([pair])["likelihood"] for pair in held]).mean()


def _by_frequency(task: JudgeTuning, teach: Sequence[JudgedPair], held: Sequence[JudgedPair]) -> float:
    """Return the mean log-probability of a token by the frequencies (plus one) in ``teach`` alone."""
    taught, asked = (
        [[token for token in task.example(pair)["labels"] if token != IGNORED] for pair in records]
        for records in (teach, held)
    )
    counts = Counter(chain.from_iterable(taught))
    total = log(counts.total() + len(task.tokenizer))
    return fmean(fmean(log(counts[token] + 1) - total for token in tokens) for tokens in asked)
