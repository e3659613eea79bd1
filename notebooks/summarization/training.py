"""Train summarizers on several training sets with several seeds, and score their test summaries."""

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
from radeval_lib.models.extractive_summarizers import extract_oracle
from radeval_lib.registry import datasets_of
from radeval_lib.study.runs import Run
from radeval_lib.text_format import joined

COMMONEST = "Most frequent impression"
"""A baseline that ignores the findings: the most frequent impression of the training reports."""

ORACLE = "Oracle"
"""A baseline: extracts chosen with knowledge of the reference, an approximate upper bound for extraction."""

ROLE = "anatomy_summaries"
_MANY_GROUPS = 8


def train_on_pairs(run: Run, systems: Mapping[str, System], sets: Sequence[str]) -> pd.DataFrame:
    """Train systems on pairs of modality and anatomy, and score their summaries of the test reports.

    Parameters
    ----------
    run : the job's run.
    systems : a mapping from name to system.
    sets : the training sets, each the name of a pair or :data:`~radeval_lib.jobs.summarization.ALL`. Systems
        that are not trained are tested once, with the set ALL.

    Returns
    -------
    DataFrame
        One row per summary, with columns ``case``, ``group``, ``seed``, ``system``, ``train_set`` and one
        column per metric.

    Raises
    ------
    AbsentDataError
        If a training set has no report and a data set of the role ``anatomy_summaries`` is missing.
    DataError
        If a training set has no report although no data set of the role is missing.
    """
    settings = summarization.settings(run.profile)
    parts = split_records(name_groups(run.load(ROLE)), run.rng("splits"))
    pools = {
        name: {part: [pair for pair in parts[part] if name in (ALL, pair.group)] for part in ("train", "dev")}
        for name in sets
    }
    if empty := [name for name, pool in pools.items() if not pool["train"]]:
        _raise_missing(run, ROLE, f"no training report of {joined(empty)}")
    return _train_and_score(
        run, systems, pools, parts["test"], {"train": settings.reports_a_pair, "dev": settings.dev_a_pair}
    )


def _raise_missing(run: Run, role: str, problem: str) -> NoReturn:
    """Raise :class:`AbsentDataError` if a data set of the role is missing, else :class:`DataError`.

    ``problem`` is the beginning of the message and names the reports that are missing.
    """
    source, place = run.source_of("data", role), f"role {role}"
    for dataset in datasets_of(run.whole_profile.roles[role]):
        if dataset not in datasets_of(source):
            remedy = f"Run `radbook data status {dataset}` to see how to get it."
            raise AbsentDataError(f"{problem}, and the data set {dataset} is missing", place, remedy)
    raise DataError(f"{problem} in {source}", place, "In the profile, give this role a source that has some.")


def train_on_corpus(run: Run, systems: Mapping[str, System]) -> pd.DataFrame:
    """Train systems on the corpus of the role ``summaries``, and score their summaries of its test reports.

    Parameters
    ----------
    run : the job's run.
    systems : a mapping from name to system.

    Returns
    -------
    DataFrame
        One row per summary, with the columns that :func:`train_on_pairs` returns, and ``seen``, whether the
        report's group was in training.

    Raises
    ------
    AbsentDataError
        If there is no test report and a data set of the role is missing.
    DataError
        If there is no test report although no data set of the role is missing.
    """
    settings = summarization.settings(run.profile)
    parts = split_records(run.load("summaries"), run.rng("splits"))
    if not parts["test"]:
        _raise_missing(run, "summaries", "no test report")
    groups = choose_groups(parts["train"], run.rng("groups"))
    pool = {part: [record for record in parts[part] if record.group in groups] for part in ("train", "dev")}
    sizes = {"train": settings.rales_reports, "dev": settings.rales_dev}
    scores = _train_and_score(run, systems, {ALL: pool}, parts["test"], sizes, whole=True)
    return scores.assign(seen=scores["group"].isin(groups))


def choose_groups(records: Sequence[ReportPair], rng: np.random.Generator) -> set[str]:
    """Draw the groups of reports for training, and return their names.

    If there are fewer than eight groups (:data:`_MANY_GROUPS`), all are for training; otherwise, three
    quarters of them, rounded up. The other groups are only for testing, like a new hospital.
    """
    groups = sorted({record.group for record in records})
    if len(groups) < _MANY_GROUPS:
        return set(groups)
    return set(groups) - set(rng.choice(groups, len(groups) // 4, replace=False))


class _TestReports:
    """The test reports of a job, against which the job's metrics score summaries.

    Attributes
    ----------
    findings : the findings of each report.
    references : the impression of each report.
    """

    def __init__(self, run: Run, pairs: Sequence[ReportPair]) -> None:
        self.findings = [reveal(pair.findings) for pair in pairs]
        self.references = [reveal(pair.impression) for pair in pairs]
        self._groups = [pair.group for pair in pairs]
        self._cases = pd.DataFrame({"case": [pair.id for pair in pairs], "group": self._groups})
        self._metrics, self._first_seed = list(run.all_metrics().values()), run.seed

    def score(self, summaries: Sequence[str], seed: int, system: str, train_set: str) -> pd.DataFrame:
        """Return the scores of one system's summaries of all test reports, one row per report.

        Metrics that need a graph model are slow. They score only the first seed, and have no column for other
        seeds. For a system that was trained on one pair, they score only reports of this pair; their other
        scores are NaN.

        Parameters
        ----------
        summaries : one summary per test report, in order.
        seed : the value of the column ``seed``.
        system : the value of the column ``system``.
        train_set : the value of the column ``train_set``, empty for a system that is not trained.

        Returns
        -------
        DataFrame
            Columns are ``case``, ``group``, ``seed``, ``system``, ``train_set`` and one column per metric.
        """
        table = self._cases.assign(seed=seed, system=system, train_set=train_set)
        own_rows = [row for row, group in enumerate(self._groups) if train_set in ("", ALL, group)]
        for metric in self._metrics:
            if "graph_model" not in metric.required_roles:
                table[metric.name] = metric.score(self.references, summaries).values
            elif seed == self._first_seed:
                texts = [self.references[row] for row in own_rows], [summaries[row] for row in own_rows]
                table.loc[own_rows, metric.name] = metric.score(*texts).values
        return table


def _train_and_score(
    run: Run,
    systems: Mapping[str, System],
    pools: Mapping[str, Mapping[str, Sequence[ReportPair]]],
    pairs: Sequence[ReportPair],
    sizes: Mapping[str, int],
    *,
    whole: bool = False,
) -> pd.DataFrame:
    """Train each system on each pool with each seed, and score its summaries of the test reports.

    Systems that are not trained are scored once, if there is a pool ``ALL``. So are two baselines: the oracle
    and, if ``whole`` is true, the most frequent impression.

    Parameters
    ----------
    run : the job's run.
    systems : a mapping from name to system.
    pools : a mapping from each training set to its reports for ``train`` and for ``dev``.
    pairs : the test reports.
    sizes : the numbers of ``train`` and ``dev`` reports to draw for each seed; 0 draws all.
    whole : whether ``sizes`` are for the whole pool, rather than for each of its groups.

    Returns
    -------
    DataFrame
        One row per summary, with the columns of :meth:`_TestReports.score`.
    """
    encoder, device, tests = None, run.profile.device, _TestReports(run, pairs)
    if any(system.needs_vectors for system in systems.values()):
        # Vectors are not shared among jobs, since their last digits depend on the texts of a batch.
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
                path = run.checkpoint_folder(train_set, name, seed)
                model = fit_model(system, train, dev, seed=seed, encoder=encoder, device=device, folder=path)
                learned_from = train_set if system.learns else ""
                scores.append(tests.score(model.summarize(tests.findings), seed, name, learned_from))
    if whole:
        impressions = Counter(reveal(pair.impression) for pair in pools[ALL]["train"])
        commonest = [impressions.most_common(1)[0][0]] * len(pairs)
        scores.append(tests.score(commonest, run.seed, COMMONEST, ""))
    if ALL in pools:
        scores.append(tests.score(extract_oracle(tests.findings, tests.references), run.seed, ORACLE, ""))
    return pd.concat(scores, ignore_index=True)
