"""The corpora, plans, systems and tallies of the pages on summarization."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from notebooks.summarization import models, training
from notebooks.summarization.comparison import difference, lead_left, mean_of
from notebooks.summarization.models import grid
from radeval_lib.data.errors import AbsentDataError, DataError
from radeval_lib.data.records import ReportPair
from radeval_lib.data.roles import load
from radeval_lib.errors import ParameterError, ProfileError
from radeval_lib.jobs.summarization import plan, systems
from radeval_lib.jobs.summarization.corpora import TRAINED, UNSEEN, divided, drawn, named, pair_name
from radeval_lib.jobs.summarization.systems import System, make
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
    assert pair_name(group) == name
    assert name in TRAINED


def test_the_generator_fills_the_twelve_pairs_and_trains_seven() -> None:
    records = load("anatomy_summaries", "synthetic", size=200, seed=3, root=None)
    parts = divided(named(records), np.random.default_rng(0))
    assert {record.group for record in parts["test"]} == {*TRAINED, *UNSEEN}
    assert {record.group for record in parts["train"]} == set(TRAINED) == {r.group for r in parts["dev"]}
    assert len({record.id for record in records}) == len(records)
    assert abs(len(records) - 200) < 15
    assert not {r.findings for r in parts["train"]} & {r.findings for r in parts["dev"]}


def test_records_without_a_split_are_divided_by_patient() -> None:
    records = [pair(number, patient=f"p{number // 2}") for number in range(100)]
    parts = divided(records, np.random.default_rng(1))
    assert {part: len(rows) for part, rows in parts.items()} == {"train": 80, "dev": 10, "test": 10}
    owners = [{record.patient for record in rows} for rows in parts.values()]
    assert not owners[0] & owners[1] and not owners[0] & owners[2] and not owners[1] & owners[2]  # noqa: PT018


def test_a_source_without_splits_is_a_test_beside_one_with_splits() -> None:
    records = [pair(1, split="train"), pair(2, split="validate"), pair(3)]
    parts = divided(records, np.random.default_rng(1))
    assert [[record.id for record in parts[part]] for part in ("train", "dev", "test")] == [
        ["1"],
        ["2"],
        ["3"],
    ]
    with pytest.raises(ParameterError, match="unknown split 'holdout'"):
        divided([replace(records[0], split="holdout")], np.random.default_rng(1))


def test_as_many_of_each_group_are_drawn_anew_with_each_seed() -> None:
    records = [pair(number, group="ab"[number % 2]) for number in range(40)]
    first, again, other = (drawn(records, 5, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert [record.group for record in first] == ["a"] * 5 + ["b"] * 5
    assert first == again != other
    assert drawn(records, 0, np.random.default_rng(1)) == drawn(records, 99, np.random.default_rng(1))
    among = drawn(records, 5, np.random.default_rng(1), whole=True)
    assert len(among) == 5
    assert [int(record.id) for record in among] == sorted(int(record.id) for record in among)


def test_plans_have_one_cell_for_each_training_or_group_them() -> None:
    grouped = [cell for cell in plan.cells(profile("embedded")) if cell.notebook == plan.NOTEBOOK]
    assert [cell.parameters["train_set"] for cell in grouped] == [plan.ALL, plan.EACH]
    own = plan.settings(profile("full"))
    full = [cell for cell in plan.cells(profile("full")) if cell.notebook == plan.NOTEBOOK]
    learn = [name for name, system in own.systems.items() if system.learns]
    assert len(full) == 8 * len(learn) + len(own.systems) - len(learn)
    assert models.judged(own.systems) == ["T5-S", "T5-B", "BART-B", "BART-L", "BioBART-B", "BioBART-L"]
    assert models.judged(["Lead-3", "Pegasus"]) == ["Lead-3", "Pegasus"]  # none of them is the paper's


def test_what_a_cell_may_be_asked_for() -> None:
    assert plan.training_sets(plan.EACH) == list(TRAINED)
    assert plan.training_sets("MR Head") == ["MR Head"]
    with pytest.raises(ParameterError, match="no training set 'MR Neck'"):
        plan.training_sets("MR Neck")
    assert list(plan.chosen_systems(profile("embedded"), "Lead-3")) == ["Lead-3"]
    with pytest.raises(ParameterError, match="no system 'GPT'"):
        plan.chosen_systems(profile("embedded"), "GPT")


def test_a_wrong_setting_is_named() -> None:
    with pytest.raises(ParameterError, match="a setting does not exist"):
        make(System(kind="lead", settings={"colour": 1}), [], [], seed=0)
    with pytest.raises(ParameterError, match="a setting does not exist"):
        make(System(kind="pointer", training={"epoch": 1}), [pair(1)], [pair(2)], seed=0)
    with pytest.raises(ParameterError, match="no encoder"):
        make(System(kind="clusters"), [pair(1)], [pair(2)], seed=0)
    with pytest.raises(ValueError, match="no model to start from"):
        System(kind="seq2seq")


def test_a_fault_of_a_training_is_not_taken_for_a_wrong_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object, **settings: object) -> None:
        raise TypeError("within the training")

    monkeypatch.setattr(systems, "train", fails)
    with pytest.raises(TypeError, match="within the training"):
        make(System(kind="pointer"), [pair(1)], [pair(2)], seed=0)


def test_a_shown_system_is_one_of_the_systems() -> None:
    smoke = profile("smoke")
    own = {**smoke.experiments["summarization"], "shown": "GPT"}
    other = smoke.model_copy(update={"experiments": {**smoke.experiments, "summarization": own}})
    with pytest.raises(ProfileError, match="shown is 'GPT'"):
        plan.settings(other)


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
    alone = mean_of(drawing(500), second, "rouge_l")
    assert (alone.low, alone.value, alone.high) == pytest.approx((0.1, 0.2, 0.3))
    found = mean_of(drawing(500), first, "rouge_l")
    assert found.value == pytest.approx(0.4)
    assert found.high - found.low > 0.4  # cases alone would give 0.2, and two seeds tell little
    gap = difference(drawing(20_000), first, second, "rouge_l", "gap")
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
    left = lead_left(drawing(400), ahead(led, [x / 4 for x in led]), behind, "rouge_l")
    assert left.seen.value == pytest.approx(np.mean(led))
    assert left.share is not None
    assert left.share.value == pytest.approx(0.25)
    assert 0.2 < left.share.low < 0.25 < left.share.high < 0.3
    level = rng.normal(0.0, 0.3, 40).tolist()
    none = lead_left(drawing(400), ahead(level, led), behind, "rouge_l")
    assert none.share is None
    assert none.seen.low <= 0 < none.unseen.low


def test_what_cannot_be_compared_is_refused() -> None:
    first = scores({(0, "a"): 0.2, (0, "b"): 0.4})
    with pytest.raises(ValueError, match="not tested on the same cases"):
        difference(drawing(9), first, scores({(0, "a"): 0.1}), "rouge_l", "gap")
    with pytest.raises(ValueError, match="duplicate"):
        mean_of(drawing(9), pd.concat([first, first]), "rouge_l")
    with pytest.raises(ValueError, match="lacks a case"):
        mean_of(drawing(9), scores({(0, "a"): 0.2, (1, "b"): 0.4}), "rouge_l")
    with pytest.raises(ValueError, match="lacks a case"):
        mean_of(drawing(9), scores({(0, "a"): 0.2, (0, "b"): np.nan}), "rouge_l")
    with pytest.raises(ValueError, match="no score by"):
        mean_of(drawing(9), scores({(0, "a"): np.nan}), "rouge_l")
    with pytest.raises(ValueError, match="same cases of the same groups"):
        lead_left(drawing(9), ahead([0.4], [0.4]), ahead([0.4, 0.1], []), "rouge_l")


def test_a_mean_leaves_out_seeds_without_the_metric() -> None:
    rows = scores({(0, "a"): 0.2, (0, "b"): 0.4, (1, "a"): np.nan, (1, "b"): np.nan})
    assert mean_of(drawing(50), rows, "rouge_l").value == pytest.approx(0.3)


def test_the_grid_has_every_training_set_and_test_pair() -> None:
    rows = [("CT Head", "CT Head", 0.5), ("CT Head", "MR Neck", 0.3), ("ALL", "CT Head", 0.6)]
    found = grid(pd.DataFrame(rows, columns=["train_set", "group", "rouge_l"]), "rouge_l")
    assert found.loc["CT Head", ["CT Head", "MR Neck"]].tolist() == [0.5, 0.3]
    assert np.isnan(found.loc["ALL", "MR Neck"])
    assert (list(found.index), list(found)) == ([*TRAINED, plan.ALL], [*TRAINED, *UNSEEN])


def test_a_sample_names_the_metric_and_the_systems_that_learn_nothing() -> None:
    rows = {
        "Lead-3": pd.DataFrame({"train_set": ["", ""]}),
        "Bert-Ext": pd.DataFrame({"train_set": [""]}),
        "Selector": pd.DataFrame({"train_set": ["CT Head"]}),
    }
    words = "test reports (ROUGE-L; Lead-3 and Bert-Ext learn nothing)"
    assert models.reports_by("ROUGE-L", rows) == words
    assert models.reports_by("ROUGE-L", {"Selector": rows["Selector"]}) == "test reports (ROUGE-L)"


def test_the_reports_of_each_pair_are_counted_once_for_all_trainings() -> None:
    rows = pd.DataFrame({"group": ["CT Head"] * 4 + ["MR Head"] * 2, "case": ["a", "b", "a", "b", "c", "c"]})
    assert models.tests_of_each(rows) == "1 to 2 of each pair"
    assert models.tests_of_each(rows[rows["group"] == "CT Head"]) == "2 of each pair"


@pytest.mark.parametrize("missing", ["mimic3_rrs", "mimic_cxr_rrs", ""])
def test_a_training_names_the_pairs_that_half_a_role_lacks(missing: str) -> None:
    filler = profile("full").roles[training.ROLE]
    here = "+".join(name for name in filler.split("+") if name != missing)
    run = SimpleNamespace(
        profile=profile("full"),
        whole_profile=profile("full"),
        rng=lambda name: np.random.default_rng(0),
        load=lambda role: [pair(number, "CT_chest") for number in range(20)],
        filler=lambda kind, role: here,
    )
    if missing:
        lack = f"no report of CT Head and MR Head in the role 'anatomy_summaries', which {here} fills"
        told = f"{lack} without {missing}. `radbook data status {missing}` says how to get it"
        with pytest.raises(AbsentDataError, match=re.escape(told)):
            training.run_trainings(run, {}, ["CT Chest", "CT Head", "MR Head"])
    else:
        with pytest.raises(
            DataError, match=f"no report of CT Head in the role .*, which {re.escape(here)} fills$"
        ):
            training.run_trainings(run, {}, ["CT Head"])


def test_a_corpus_whose_test_reports_are_missing_names_their_data_set() -> None:
    run = SimpleNamespace(
        profile=profile("full"),
        whole_profile=profile("full"),
        rng=lambda name: np.random.default_rng(0),
        load=lambda role: [pair(number, split="train") for number in range(20)],
        filler=lambda kind, role: "mediqa2021_mimic_cxr",
    )
    with pytest.raises(AbsentDataError, match=r"no test report in the role .summaries.*without mediqa2021\."):
        training.run_one_corpus(run, {})


def test_each_system_is_scored_on_every_test_report_and_graphs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two pairs, two seeds: what learns is trained on each set with each seed, what does not stands once."""
    smoke = profile("smoke")
    own = {**smoke.experiments["summarization"], "seeds": 2, "reports_a_pair": 1}
    metrics = {
        name: SimpleNamespace(
            name=name,
            needs=needs,
            score=lambda references, written: SimpleNamespace(values=[float(len(w)) for w in written]),
        )
        for name, needs in (("length", ()), ("graph", ("graph_model",)))
    }
    run = SimpleNamespace(
        profile=smoke.model_copy(update={"experiments": {**smoke.experiments, "summarization": own}}),
        seed=3,
        rng=lambda name: np.random.default_rng(0),
        unfinished=lambda *names: None,
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

    monkeypatch.setattr(training, "make", made)
    both = {"Lead-3": System(kind="lead"), "Pointer": System(kind="pointer")}
    found = training.run_trainings(run, both, ["CT Head", plan.ALL])
    assert learned == [(seed, groups) for groups in (["CT Head"], ["CT Head", "MR Head"]) for seed in (3, 4)]
    assert found["case"].tolist() == ["6", "7"] * 6
    rows = found.groupby(["system", "train_set", "seed"], sort=False)
    assert list(rows.groups) == [
        ("Pointer", "CT Head", 3),
        ("Pointer", "CT Head", 4),
        ("Lead-3", "", 3),
        ("Pointer", "ALL", 3),
        ("Pointer", "ALL", 4),
        (training.ORACLE, "", 3),
    ]
    assert rows["length"].first().tolist() == [4, 4, 2, 4, 4, len("A clot.")]
    assert rows["graph"].apply(list).map(
        lambda values: [np.isfinite(value) for value in values]
    ).tolist() == [
        [True, False],  # no graphs across pairs
        [False, False],  # nor of the second seed
        [True, True],
        [True, True],
        [False, False],
        [True, True],
    ]
    whole = training.run_one_corpus(run, {"Pointer": both["Pointer"]})
    assert list(dict.fromkeys(whole["system"])) == ["Pointer", training.COMMONEST, training.ORACLE]
    assert whole[whole["system"] == training.COMMONEST]["length"].tolist() == [len("Clot.")] * 2
    assert whole["seen"].all()
