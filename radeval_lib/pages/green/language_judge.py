"""Fine-tuning a language model on analyses, and what it learned (Ostmeier et al. 2024, Section 3.2)."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence

import pandas as pd

from radeval_lib.data.categories import GREEN_NAMES as GREEN_NAMES
from radeval_lib.data.records import JudgedPair
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics.green import Analysis, parse
from radeval_lib.models import naming
from radeval_lib.models.judges.base import Pair
from radeval_lib.models.judges.base import prompt as prompt
from radeval_lib.models.judges.language_model import CausalJudge, JudgeTuning, pretrained_model, small_model
from radeval_lib.models.training import train
from radeval_lib.pages.green.judging import GreenSettings, seed_of, settings
from radeval_lib.roles import generated
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.resampling import mean_difference
from radeval_lib.study.profiles import profile
from radeval_lib.study.runs import Run
from radeval_lib.synthetic import green_answer, green_pairs

_NAMES = (
    "starts from",
    "effective batch",
    "epochs",
    "learning rate",
    "warm-up",
    "weight decay",
    "most tokens",
    "adapters' ranks",
)


def start_of(chosen: GreenSettings) -> str:
    """The title of the model that training starts from."""
    return naming.title(chosen.start)


def annotated(n: int, seed: int) -> tuple[list[Pair], list[tuple[int, ...]], list[str], list[Analysis]]:
    """GREEN's path on ``n`` generated pairs of each heuristic: the pairs' texts, the counts of significant
    errors, the analyses by who knows them, and what a strict reading makes of these."""
    pairs = list(green_pairs(n, seed))
    texts = [(one.reference.findings.text, one.candidate.findings.text) for one in pairs]
    answers = [green_answer(one.reference, one.candidate, one.comparison) for one in pairs]
    counts = [tuple(one.comparison.count(True).values()) for one in pairs]
    return texts, counts, answers, [parse(answer, "strict") for answer in answers]


def examples(n: int, seed: int) -> list[JudgedPair]:
    """Training examples of the same pairs: prompt and analysis."""
    return list(generated.judged_pairs(n, seed))


def told_settings(name: str) -> dict[str, object]:
    """The settings of a profile, as the paper tells its own."""
    chosen = settings(profile(name))
    training = chosen.tuning(0, "cpu")
    values = (
        start_of(chosen) if chosen.start else "random weights",
        f"{chosen.effective_batch:,}",
        training.epochs,
        f"{training.learning_rate:g}",
        training.warmup,
        training.weight_decay,
        f"{chosen.longest:,}",
        ", ".join("none" if rank == 0 else str(rank) for rank in chosen.ranks),
    )
    return dict(zip(_NAMES, values, strict=True))


def fine_tune(
    run: Run,
    rank: int,
    *,
    teach: Sequence[JudgedPair],
    choosing: Sequence[JudgedPair],
    held: Sequence[JudgedPair],
    asked: Sequence[Pair],
) -> tuple[dict[str, object], Estimate]:
    """One training, with low-rank adapters of ``rank`` or, where it is 0, of all weights.

    ``teach``, ``choosing``, ``held``: judged pairs to learn from, to choose the epoch by, and to say what was
    learned. ``asked``: pairs of reports that the trained model is to analyse. A row of facts: ``trained``,
    the number of ``weights``, the mean log-probability of a token of the held-out analyses ``before`` and
    ``after``, how many ``readable answers`` of those ``asked``; and by how much held-out analyses became
    likelier.
    """
    import torch

    chosen, seed = settings(run.profile), seed_of(run, f"tuning {rank}")
    torch.manual_seed(seed)
    module, tokenizer = (
        pretrained_model(chosen.start)
        if chosen.start
        else small_model([reveal(one.prompt) + reveal(one.analysis) for one in teach], **chosen.small)
    )
    task = JudgeTuning(module, tokenizer, longest=chosen.longest, lora=rank)
    weights = sum(one.numel() for one in task.module.parameters() if one.requires_grad)
    before = _likelihoods(task, held)
    tuning = chosen.tuning(seed, run.profile.device)
    trained = train(task, teach, choosing, tuning, folder=run.unfinished("rank", rank)).task
    after = _likelihoods(trained, held)
    gain = mean_difference(after, before, resamples=run.profile.resamples, rng=run.rng(f"gain {rank}"))
    with tempfile.TemporaryDirectory() as folder:
        trained.save(folder)
        judge = CausalJudge(folder, max_new_tokens=chosen.answer, device=run.profile.device)
        answers = judge.judge(asked)
    return {
        "trained": f"low-rank adapters of rank {rank}" if rank else "all weights",
        "weights": weights,
        "before": before.mean(),
        "after": after.mean(),
        "readable answers": sum(parse(one, "strict").score is not None for one in answers),
        "asked": len(answers),
    }, gain


def _likelihoods(task: JudgeTuning, held: Sequence[JudgedPair]) -> pd.Series:
    """Of each analysis the mean log-probability of a token."""
    return pd.Series([task.measure([one])["likelihood"] for one in held])
