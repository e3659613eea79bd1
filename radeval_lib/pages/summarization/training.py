"""What a training cell does: train each system on each training set, with every seed, and score its summaries
of every test report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.models.encoders import Encoder
from radeval_lib.models.summarizers.extractive import oracle
from radeval_lib.pages.summarization import plan
from radeval_lib.pages.summarization.corpora import divided, drawn
from radeval_lib.pages.summarization.systems import System, make
from radeval_lib.pages.summarization.tallies import scored
from radeval_lib.study.runs import Run

COMMONEST = "Most frequent impression"
"""The impression that the training reports of a corpus have most often, whatever the findings: no system, and
the floor of all."""

ORACLE = "Oracle"
"""The best extract, which reads the answer: what extraction could reach at most, and no system."""

_MANY = 8
_KEYS = ["seed", "system", "train_set"]


@dataclass(frozen=True)
class Outcome:
    """What trainings gave."""

    scores: pd.DataFrame
    history: pd.DataFrame
    summaries: pd.DataFrame
    sizes: dict[str, int]
    save: Callable[[Path], None] | None


def encoder_of(run: Run, systems: Mapping[str, System]) -> Encoder | None:
    """The profile's encoder of sentences, where a system needs one."""
    if not any(system.needs_vectors for system in systems.values()):
        return None
    cache = run.output_dir / "cache"
    return Encoder(
        run.model("encoder"), pooling="mean", max_tokens=64, device=run.profile.device, cache=cache
    )


def run_trainings(run: Run, systems: Mapping[str, System], sets: Sequence[str]) -> Outcome:
    """Train and test on pairs of modality and anatomy.

    Parameters
    ----------
    sets : training sets, each a pair's name or :data:`~radeval_lib.pages.summarization.plan.ALL`.
        Systems that learn nothing are tested once, with the set ALL.
    """
    own = plan.settings(run.profile)
    parts = divided(run.load("anatomy_summaries"), run.rng("splits"), by_pair=True)
    pools = {
        name: {part: [r for r in parts[part] if name in (plan.ALL, r.group)] for part in ("train", "dev")}
        for name in sets
    }
    sizes = {"train": own.reports_a_pair, "dev": own.dev_a_pair}
    return _run(run, systems, pools, parts["test"], sizes)


def run_one_corpus(run: Run, systems: Mapping[str, System]) -> Outcome:
    """Train and test on the corpus of the role ``summaries``, taken as one whatever its groups.

    The scores have one more column, ``seen``: whether the report's group was in training.
    """
    own = plan.settings(run.profile)
    parts = divided(run.load("summaries"), run.rng("splits"))
    kept = seen_groups(parts["train"], run.rng("groups"))
    pool = {part: [record for record in parts[part] if record.group in kept] for part in ("train", "dev")}
    sizes = {"train": own.rales_reports, "dev": own.rales_dev}
    found = _run(run, systems, {plan.ALL: pool}, parts["test"], sizes, whole=True)
    return replace(found, scores=found.scores.assign(seen=found.scores["group"].isin(kept)))


def seen_groups(records: Sequence[ReportPair], rng: np.random.Generator) -> set[str]:
    """The groups that training may see: where there are many, a quarter of them is kept out, to be tested on
    as a new hospital would be."""
    groups = sorted({record.group for record in records})
    if len(groups) < _MANY:
        return set(groups)
    return set(groups) - set(rng.choice(groups, len(groups) // 4, replace=False))


def _run(
    run: Run,
    systems: Mapping[str, System],
    pools: Mapping[str, Mapping[str, Sequence[ReportPair]]],
    tests: Sequence[ReportPair],
    sizes: Mapping[str, int],
    *,
    whole: bool = False,
) -> Outcome:
    encoder = encoder_of(run, systems)
    metrics = run.all_metrics()
    quick = {name: metric for name, metric in metrics.items() if "graph_model" not in metric.needs}
    findings = [reveal(pair.findings) for pair in tests]
    scores, histories, summaries = [], [], []
    save = None

    def add_scores(each: int, name: str, train_set: str, written: list[str]) -> None:
        table = scored(tests, written, quick)
        # Graphs take most of the time: of the first seed alone, and not across pairs.
        own = [row for row, pair in enumerate(tests) if train_set in ("", plan.ALL, pair.group)]
        for slow in metrics.values() if each == run.seed else ():
            if slow not in quick.values():
                references = [reveal(tests[row].impression) for row in own]
                values = slow.score(references, [written[row] for row in own]).values
                table.loc[own, slow.name] = values
        scores.append(table.assign(seed=each, system=name, train_set=train_set))
        if each == run.seed:
            summaries.append(_texts(tests, written).assign(system=name, train_set=train_set))

    for train_set, pool in pools.items():
        for each in range(run.seed, run.seed + max(1, plan.settings(run.profile).seeds)):
            chosen = {
                part: _drawn(pool[part], sizes[part], run, f"{part} {train_set} {each}", whole)
                for part in ("train", "dev")
            }
            for name, system in systems.items():
                if not system.learns and (train_set != plan.ALL or each != run.seed):
                    continue
                made = make(
                    system,
                    chosen["train"],
                    chosen["dev"],
                    seed=each,
                    encoder=encoder,
                    device=run.profile.device,
                    folder=run.unfinished(train_set, name, each),
                )
                add_scores(
                    each, name, train_set if system.learns else "", made.summarizer.summarize(findings)
                )
                histories.append(
                    pd.DataFrame(made.history).assign(seed=each, system=name, train_set=train_set)
                )
                if made.save is not None and each == run.seed and train_set == next(iter(pools)):
                    save = made.save
    if whole:
        impressions = Counter(reveal(pair.impression) for pair in pools[plan.ALL]["train"])
        add_scores(run.seed, COMMONEST, "", [impressions.most_common(1)[0][0]] * len(tests))
    if plan.ALL in pools:
        add_scores(run.seed, ORACLE, "", oracle(findings, [reveal(pair.impression) for pair in tests]))
    counted = {part: len(rows) for part, rows in next(iter(pools.values())).items()}
    return Outcome(
        _ordered(scores),
        _ordered(histories),
        _ordered(summaries, ["system", "train_set"]),
        {**counted, "test": len(tests)},
        save,
    )


def _drawn(pool: Sequence[ReportPair], size: int, run: Run, stream: str, whole: bool) -> list[ReportPair]:
    """Reports of a part: so many of each group, or of the whole."""
    if not whole:
        return drawn(pool, size, run.rng(stream))
    if not size or size >= len(pool):
        return list(pool)
    return [pool[index] for index in sorted(run.rng(stream).choice(len(pool), size, replace=False))]


def _texts(pairs: Sequence[ReportPair], written: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "case": [pair.id for pair in pairs],
            "group": [pair.group for pair in pairs],
            "findings": [reveal(pair.findings) for pair in pairs],
            "impression": [reveal(pair.impression) for pair in pairs],
            "summary": list(written),
        }
    )


def _ordered(frames: Sequence[pd.DataFrame], keys: Sequence[str] = _KEYS) -> pd.DataFrame:
    """The rows below one another, the keys' columns first."""
    filled = [frame for frame in frames if len(frame)]
    table = pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(keys))
    return table[[*keys, *(column for column in table if column not in keys)]]
