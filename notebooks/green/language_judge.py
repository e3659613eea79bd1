"""Fine-tune a language model on analyses of report pairs, and measure its progress (Ostmeier et al. 2024,
Section 3.2)."""

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
from radeval_lib.jobs.green import draw_seed, settings
from radeval_lib.metrics.green import parse
from radeval_lib.models.batching import IGNORED
from radeval_lib.models.language_model_judge import CausalJudge, JudgeTuning, load_causal_lm, make_small_lm
from radeval_lib.models.training import train
from radeval_lib.rules.judge.base import Pair
from radeval_lib.study.runs import Run

SUBSTITUTES = (
    "generated reports; a simulated report generator, not a trained one; the cosine of token counts, not "
    "BERTScore; changes by our generator, not of RadGraph's entities; the generator's analyses, not GPT-4's"
)
"""What this page uses in place of the paper's training data and judges, as text for the page."""


def count_readable(analyses: Sequence[Text]) -> int:
    """Return the number of analyses in which the strict parser finds a GREEN score."""
    return sum(parse(reveal(analysis), "strict").score is not None for analysis in analyses)


def fine_tune(
    run: Run,
    rank: int,
    *,
    training: Sequence[JudgedPair],
    dev: Sequence[JudgedPair],
    held_out: Sequence[JudgedPair],
    reports: Sequence[Pair],
) -> dict[str, object]:
    """Fine-tune a language model to analyse pairs of reports, and measure what it has learned.

    Parameters
    ----------
    run : the page's run. Its profile names the model to start from or, if it names none, gives the sizes of a
        small model with random weights, whose tokenizer is made from ``training``.
    rank : rank of the low-rank adapters; 0 trains all weights.
    training, dev, held_out : judged pairs to train on, to choose the epoch with, and to evaluate on.
    reports : pairs of reports for the fine-tuned model to analyse.

    Returns
    -------
    dict
        ``trained`` (a description of the trained weights); ``weights`` (their number); ``before``, ``after``
        and ``token frequencies`` (mean log-probability, in nats, of the tokens of the held-out analyses
        before and after training, and by token frequencies alone); ``readable answers`` and ``answers`` (the
        number of the fine-tuned model's answers with a GREEN score, and of all its answers).
    """
    import torch

    options, seed = settings(run.profile), draw_seed(run, f"tuning {rank}")
    torch.manual_seed(seed)
    module, tokenizer = (
        load_causal_lm(options.start)
        if options.start
        else make_small_lm([reveal(p.prompt) + reveal(p.analysis) for p in training], **options.small)
    )
    task = JudgeTuning(module, tokenizer, max_length=options.longest, lora_rank=rank)
    weights = sum(weight.numel() for weight in task.module.parameters() if weight.requires_grad)
    log_prob_before = _compute_mean_log_probability(task, held_out)
    tuning = options.tuning(seed, run.profile.device)
    tuned_task = train(task, training, dev, tuning, folder=run.checkpoint_folder("rank", rank)).task
    log_prob_after = _compute_mean_log_probability(tuned_task, held_out)
    with tempfile.TemporaryDirectory() as folder:
        tuned_task.save(folder)
        judge = CausalJudge(folder, max_new_tokens=options.answer, device=run.profile.device)
        answers = judge.judge(reports)
    return {
        "trained": f"low-rank adapters of rank {rank}" if rank else "all weights",
        "weights": weights,
        "before": log_prob_before,
        "after": log_prob_after,
        "token frequencies": _score_by_frequencies(task, training, held_out),
        "readable answers": count_readable(answers),
        "answers": len(answers),
    }


def _compute_mean_log_probability(task: JudgeTuning, pairs: Sequence[JudgedPair]) -> float:
    """Return the mean over analyses of the mean log-probability of an analysis's tokens, in nats."""
    return pd.Series([task.measure([pair])["likelihood"] for pair in pairs]).mean()


def _score_by_frequencies(
    task: JudgeTuning, training: Sequence[JudgedPair], held_out: Sequence[JudgedPair]
) -> float:
    """Return the log-probability of held-out analyses if tokens are predicted by their frequencies alone.

    It is the mean over analyses of the mean log-probability of an analysis's tokens, in nats. Frequencies are
    counted in the analyses of ``training``, with one added to the count of each token of the vocabulary.
    """
    training_tokens, target_tokens = (
        [[token for token in task.make_example(pair)["labels"] if token != IGNORED] for pair in records]
        for records in (training, held_out)
    )
    counts = Counter(chain.from_iterable(training_tokens))
    log_total = log(counts.total() + len(task.tokenizer))
    return fmean(fmean(log(counts[token] + 1) - log_total for token in tokens) for tokens in target_tokens)
