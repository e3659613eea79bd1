"""Train each system on each training set, with every seed, and score its summaries of every test report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NoReturn

import numpy as np
import pandas as pd

from radeval_lib.data.errors import AbsentDataError, DataError
from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.jobs import summarization
from radeval_lib.jobs.summarization import ALL, System, fit_model, name_groups, sample_records, split_records
from radeval_lib.models.encoders import Encoder
from radeval_lib.models.extractive_summarizers import oracle
from radeval_lib.registry import datasets_of
from radeval_lib.study.runs import Run
from radeval_lib.text_format import joined

COMMONEST = "Most frequent impression"
"""A baseline: the most frequent impression of the training reports, whatever the findings."""

ORACLE = "Oracle"
"""The best extract, chosen by the answer: an upper bound for extraction."""

ROLE = "anatomy_summaries"
_MANY = 8


def run_trainings(run: Run, systems: Mapping[str, System], sets: Sequence[str]) -> pd.DataFrame:
    """Train and test on pairs of modality and anatomy.

    ``sets``: training sets, each a pair's name or :data:`~radeval_lib.jobs.summarization.ALL`; systems
    without training are tested once, with the set ALL. Returns one row per summary: ``case``, ``group``, a
    score by each metric, ``seed``, ``system`` and ``train_set``.

    Raises
    ------
    AbsentDataError
        If a training set has no report because one of the role's several data sets is missing.
    DataError
        If it has none, whatever the role's source.
    """
    settings = summarization.settings(run.profile)
    parts = split_records(name_groups(run.load(ROLE)), run.rng("splits"))
    pools = {
        name: {part: [r for r in parts[part] if name in (ALL, r.group)] for part in ("train", "dev")}
        for name in sets
    }
    if empty := [name for name, pool in pools.items() if not pool["train"]]:
        _refuse(run, ROLE, f"no report of {joined(empty)}")
    return _run(
        run, systems, pools, parts["test"], {"train": settings.reports_a_pair, "dev": settings.dev_a_pair}
    )


def _refuse(run: Run, role: str, lack: str) -> NoReturn:
    """Raise an error that says what a role lacks and, if a data set is missing, how to get it."""
    here = run.source_of("data", role)
    for dataset in datasets_of(run.whole_profile.roles[role]):
        if dataset not in datasets_of(here):
            raise AbsentDataError(
                f"{lack} in the role {role!r}, which {here} configures without {dataset}",
                remedy=f"`radbook data status {dataset}` says how to get it",
            )
    problem = f"{lack} in the role {role!r}, which {here} configures"
    raise DataError(problem, remedy="Configure the role with a data set that has some.")


def run_one_corpus(run: Run, systems: Mapping[str, System]) -> pd.DataFrame:
    """Train and test on the corpus of the role ``summaries`` as a whole.

    The scores have one more column, ``seen``: whether the report's group was in training.

    Raises
    ------
    AbsentDataError
        If there is no test report because one of the role's several data sets is missing.
    DataError
        If there is none, whatever the role's source.
    """
    settings = summarization.settings(run.profile)
    parts = split_records(run.load("summaries"), run.rng("splits"))
    if not parts["test"]:
        _refuse(run, "summaries", "no test report")
    kept = seen_groups(parts["train"], run.rng("groups"))
    pool = {part: [record for record in parts[part] if record.group in kept] for part in ("train", "dev")}
    sizes = {"train": settings.rales_reports, "dev": settings.rales_dev}
    scores = _run(run, systems, {ALL: pool}, parts["test"], sizes, whole=True)
    return scores.assign(seen=scores["group"].isin(kept))


def seen_groups(records: Sequence[ReportPair], rng: np.random.Generator) -> set[str]:
    """Return the groups to train on: all or, if there are at least :data:`_MANY`, three quarters of them.

    The others are held out for testing, like a new hospital.
    """
    groups = sorted({record.group for record in records})
    if len(groups) < _MANY:
        return set(groups)
    return set(groups) - set(rng.choice(groups, len(groups) // 4, replace=False))


class _Tests:
    """The test reports, and scores of their summaries."""

    def __init__(self, run: Run, pairs: Sequence[ReportPair]) -> None:
        self.findings = [reveal(pair.findings) for pair in pairs]
        self.references = [reveal(pair.impression) for pair in pairs]
        self._groups = [pair.group for pair in pairs]
        self._cases = pd.DataFrame({"case": [pair.id for pair in pairs], "group": self._groups})
        self._metrics, self._first_seed = list(run.all_metrics().values()), run.seed

    def scores(self, written: Sequence[str], seed: int, system: str, train_set: str) -> pd.DataFrame:
        """Return one row per report.

        Metrics with graphs take most of the time, so they score only the first seed and only reports of the
        pair of training; all else is NaN.
        """
        table = self._cases.assign(seed=seed, system=system, train_set=train_set)
        own_rows = [row for row, group in enumerate(self._groups) if train_set in ("", ALL, group)]
        for metric in self._metrics:
            if "graph_model" not in metric.needs:
                table[metric.name] = metric.score(self.references, written).values
            elif seed == self._first_seed:
                texts = [self.references[row] for row in own_rows], [written[row] for row in own_rows]
                table.loc[own_rows, metric.name] = metric.score(*texts).values
        return table


def _run(
    run: Run,
    systems: Mapping[str, System],
    pools: Mapping[str, Mapping[str, Sequence[ReportPair]]],
    pairs: Sequence[ReportPair],
    sizes: Mapping[str, int],
    *,
    whole: bool = False,
) -> pd.DataFrame:
    """Train each system on each pool with each seed, and score it on the test ``pairs``.

    Systems that do not learn are scored once. Baselines are scored as well: the oracle if there is a pool
    :data:`~radeval_lib.jobs.summarization.ALL`, and the most frequent impression if ``whole``.

    Parameters
    ----------
    pools : the reports for training, ``train`` and ``dev``, by the name of the training set.
    sizes : how many of the ``train`` and ``dev`` reports are drawn for each seed; 0 for all.
    whole : whether they are drawn from the whole pool; otherwise, as many are drawn from each of its groups.
    """
    encoder, device, tests = None, run.profile.device, _Tests(run, pairs)
    if any(system.needs_vectors for system in systems.values()):
        # Do not reuse other jobs' vectors: their last digits depend on which texts are encoded together.
        encoder = Encoder(run.model("encoder"), pooling="mean", max_tokens=64, device=device)
    scores = []
    for train_set, pool in pools.items():
        for seed in range(run.seed, run.seed + max(1, summarization.settings(run.profile).seeds)):
            train, dev = (
                sample_records(pool[part], sizes[part], run.rng(f"{part} {train_set} {seed}"), whole=whole)
                for part in ("train", "dev")
            )
            for name, system in systems.items():
                if not system.learns and (train_set != ALL or seed != run.seed):
                    continue
                folder = run.checkpoint_folder(train_set, name, seed)
                made = fit_model(system, train, dev, seed=seed, encoder=encoder, device=device, folder=folder)
                learned_from = train_set if system.learns else ""
                scores.append(tests.scores(made.summarize(tests.findings), seed, name, learned_from))
    if whole:
        impressions = Counter(reveal(pair.impression) for pair in pools[ALL]["train"])
        commonest = [impressions.most_common(1)[0][0]] * len(pairs)
        scores.append(tests.scores(commonest, run.seed, COMMONEST, ""))
    if ALL in pools:
        scores.append(tests.scores(oracle(tests.findings, tests.references), run.seed, ORACLE, ""))
    return pd.concat(scores, ignore_index=True)
