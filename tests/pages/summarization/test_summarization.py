"""The corpora, plans, systems and tallies of the pages on summarization."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from notebooks.summarization import models, training
from notebooks.summarization.comparison import estimate_mean, measure_lead_retention, subtract_means
from radeval_lib.data.records import ReportPair
from radeval_lib.data.roles import load
from radeval_lib.errors import ParameterError
from radeval_lib.jobs import summarization
from radeval_lib.jobs.summarization import TRAINED, UNSEEN, System, name_groups, name_pair, split_records
from radeval_lib.study.profiles import profile


def pair(number: int, group: str = "", split: str = "", patient: str = "") -> ReportPair:
    return ReportPair(str(number), "A clot. No mass.", "Clot.", group=group, split=split, patient=patient)


@pytest.mark.parametrize(
    ("group", "name"),
    [
        ("MRI HEAD", "MR Head"),
        ("MR_head", "MR Head"),
        ("CT_abdomen-pelvis", "CT Abdomen-pelvis"),
        ("CT ABDOMEN-PELVIS", "CT Abdomen-pelvis"),
        ("X-ray chest", "X-ray Chest"),
        ("X-Ray CHEST", "X-ray Chest"),
    ],
)
def test_pairs_are_named_as_the_paper_names_them(group: str, name: str) -> None:
    assert name_pair(group) == name
    assert name in TRAINED


def test_the_generator_fills_the_twelve_pairs_and_trains_seven() -> None:
    records = load("anatomy_summaries", "synthetic", size=200, seed=3, root=None)
    parts = split_records(name_groups(records), np.random.default_rng(0))
    assert {record.group for record in parts["test"]} == {*TRAINED, *UNSEEN}
    assert {record.group for record in parts["train"]} == set(TRAINED) == {r.group for r in parts["dev"]}
    assert len({record.id for record in records}) == len(records)
    assert abs(len(records) - 200) < 15
    assert not {r.findings for r in parts["train"]} & {r.findings for r in parts["dev"]}


def test_records_without_a_split_are_divided_by_patient() -> None:
    records = [pair(number, patient=f"p{number // 2}") for number in range(100)]
    parts = split_records(records, np.random.default_rng(1))
    assert {part: len(rows) for part, rows in parts.items()} == {"train": 80, "dev": 10, "test": 10}
    owners = [{record.patient for record in rows} for rows in parts.values()]
    assert not owners[0] & owners[1] and not owners[0] & owners[2] and not owners[1] & owners[2]  # noqa: PT018


def test_a_source_without_splits_is_a_test_beside_one_with_splits() -> None:
    records = [pair(1, split="train"), pair(2, split="validate"), pair(3)]
    parts = split_records(records, np.random.default_rng(1))
    assert [parts[part][0].id for part in ("train", "dev", "test")] == ["1", "2", "3"]
    assert sum(map(len, parts.values())) == 3
    with pytest.raises(ParameterError):
        split_records([replace(records[0], split="holdout")], np.random.default_rng(1))


def test_plans_have_one_cell_for_each_training_or_group_them() -> None:
    grouped, full = (
        [job for job in summarization.job_list(profile(name)) if job.notebook == summarization.NOTEBOOK]
        for name in ("embedded", "full")
    )
    assert [cell.parameters["train_set"] for cell in grouped] == [summarization.ALL, summarization.EACH_PAIR]
    settings = summarization.settings(profile("full"))
    learn = [name for name, system in settings.systems.items() if system.learns]
    assert len(full) == 8 * len(learn) + len(settings.systems) - len(learn)
    assert models.find_paper_systems(settings.systems) == [
        "T5-S",
        "T5-B",
        "BART-B",
        "BART-L",
        "BioBART-B",
        "BioBART-L",
    ]
    # None of these two is one of the paper's systems.
    assert models.find_paper_systems(["Lead-3", "Pegasus"]) == ["Lead-3", "Pegasus"]


def drawing(resamples: int) -> SimpleNamespace:
    """Return a run that draws so often."""
    return SimpleNamespace(
        profile=SimpleNamespace(resamples=resamples), rng=lambda name: np.random.default_rng(0)
    )


def scores(values: dict[tuple[int, str], float], **columns: str) -> pd.DataFrame:
    rows = [{"seed": seed, "case": case, "rouge_l": value} for (seed, case), value in values.items()]
    return pd.DataFrame(rows).assign(**columns)


def test_means_and_differences_allow_for_cases_and_seeds() -> None:
    first = scores({(0, "a"): 0.2, (0, "b"): 0.4, (1, "a"): 0.4, (1, "b"): 0.6})
    second = scores({(0, "a"): 0.1, (0, "b"): 0.3})
    alone = estimate_mean(drawing(500), second, "rouge_l")
    assert (alone.low, alone.value, alone.high) == pytest.approx((0.1, 0.2, 0.3))
    result = estimate_mean(drawing(500), first, "rouge_l")
    assert result.value == pytest.approx(0.4)
    assert result.high - result.low > 0.4  # cases alone would give 0.2, and two seeds tell little
    gap = subtract_means(drawing(20_000), first, second, "rouge_l", "gap")
    assert gap.value == pytest.approx(0.2)
    # Cases cancel, seeds do not: Student's t with one degree of freedom, 12.7 times 0.1.
    assert gap.high - gap.value == pytest.approx(1.27, rel=0.1)


def ahead(seen: list[float], unseen: list[float]) -> pd.DataFrame:
    rows = [(str(n), value, True) for n, value in enumerate(seen)]
    rows += [(f"new {n}", value, False) for n, value in enumerate(unseen)]
    return pd.DataFrame(rows, columns=["case", "rouge_l", "seen"]).assign(seed=0)


def test_what_is_left_of_a_lead_has_an_interval_of_the_same_resamples() -> None:
    rng = np.random.default_rng(1)
    behind = ahead([0.0] * 40, [0.0] * 40)
    led = rng.normal(0.4, 0.1, 40).tolist()
    left = measure_lead_retention(drawing(400), ahead(led, [x / 4 for x in led]), behind, "rouge_l")
    assert left.seen.value == pytest.approx(np.mean(led))
    assert left.share is not None
    assert left.share.value == pytest.approx(0.25)
    assert 0.2 < left.share.low < 0.25 < left.share.high < 0.3
    level = rng.normal(0.0, 0.3, 40).tolist()
    none = measure_lead_retention(drawing(400), ahead(level, led), behind, "rouge_l")
    assert none.share is None
    assert none.seen.low <= 0 < none.unseen.low


def test_a_mean_leaves_out_seeds_without_the_metric() -> None:
    rows = scores({(0, "a"): 0.2, (0, "b"): 0.4, (1, "a"): np.nan, (1, "b"): np.nan})
    assert estimate_mean(drawing(50), rows, "rouge_l").value == pytest.approx(0.3)


def test_each_system_is_scored_on_every_test_report_and_graphs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two pairs, two seeds: what learns is trained on each set with each seed, what does not stands once."""
    smoke = profile("smoke")
    own_values = {**smoke.experiments["summarization"], "seeds": 2, "reports_a_pair": 1}
    metrics = {
        name: SimpleNamespace(
            name=name,
            required_roles=roles,
            score=lambda references, written: SimpleNamespace(values=[float(len(w)) for w in written]),
        )
        for name, roles in (("length", ()), ("graph", ("graph_model",)))
    }
    run = SimpleNamespace(
        profile=smoke.model_copy(update={"experiments": {**smoke.experiments, "summarization": own_values}}),
        seed=3,
        rng=lambda name: np.random.default_rng(0),
        checkpoint_folder=lambda *names: None,
        all_metrics=lambda: metrics,
        load=lambda role: [
            pair(2 * number + part, group, split)
            for number, split in enumerate(("train", "train", "dev", "test"))
            for part, group in enumerate(("CT Head", "MR Head"))
        ],
    )
    learned: list[tuple[int, list[str]]] = []

    def made(system: System, train: list[ReportPair], dev: list[ReportPair], *, seed: int, **rest: object):
        if system.learns:
            learned.append((seed, sorted(record.group for record in train)))
        return SimpleNamespace(summarize=lambda findings: ["long" if system.learns else "no"] * len(findings))

    monkeypatch.setattr(training, "fit_model", made)
    both = {"Lead-3": System(kind="lead"), "Pointer": System(kind="pointer")}
    scores = training.train_on_pairs(run, both, ["CT Head", summarization.ALL])
    assert learned == [(seed, groups) for groups in (["CT Head"], ["CT Head", "MR Head"]) for seed in (3, 4)]
    assert scores["case"].tolist() == ["6", "7"] * 6
    rows = scores.groupby(["system", "train_set", "seed"], sort=False)
    result = {key: (part["length"].iloc[0], part["graph"].notna().tolist()) for key, part in rows}
    assert result == {
        ("Pointer", "CT Head", 3): (4, [True, False]),  # no graphs across pairs
        ("Pointer", "CT Head", 4): (4, [False, False]),  # nor of the second seed
        ("Lead-3", "", 3): (2, [True, True]),
        ("Pointer", "ALL", 3): (4, [True, True]),
        ("Pointer", "ALL", 4): (4, [False, False]),
        (training.ORACLE, "", 3): (len("A clot."), [True, True]),
    }
    whole = training.train_on_corpus(run, {"Pointer": both["Pointer"]})
    assert list(dict.fromkeys(whole["system"])) == ["Pointer", training.COMMONEST, training.ORACLE]
    assert whole[whole["system"] == training.COMMONEST]["length"].tolist() == [len("Clot.")] * 2
    assert whole["seen"].all()
