"""Trainings of recognisers: what is planned, chosen, kept and read back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from radeval_lib.data.records import AnnotatedSentence, Entity
from radeval_lib.errors import ParameterError, ResultError
from radeval_lib.experiments.ratescore import trainings
from radeval_lib.experiments.ratescore.trainings import Trained, Training
from radeval_lib.roles import RoleError
from radeval_lib.study import begin
from radeval_lib.study.profiles import names, profile

ONE = Training("iob", "packaged-minilm", "both", 5)


def _sentence(key: str, group: str, split: str = "train") -> AnnotatedSentence:
    return AnnotatedSentence(
        key, ("no", "effusion"), (Entity(1, 2, "Non-Disease"),), group=group, split=split
    )


class OneTooMany:
    """Finds what is there, and the first word of every sentence besides."""

    def predict(self, sentences):  # type: ignore[no-untyped-def]
        return [[(1, 2, "NON-DISEASE"), (0, 1, "ANATOMY")] for _ in sentences]


@pytest.mark.parametrize("name", names())
def test_every_profile_plans_table_6_and_table_7(name: str) -> None:
    settings = profile(name)
    plans = trainings.planned(settings)
    assert len({plan.slug for plan in plans}) == len(plans)
    size = settings.sizes["training_sentences"]
    of_table_6 = {(p.scheme, p.init_model) for p in plans if p.corpus == "both" and p.sentences == size}
    assert of_table_6 == {
        (scheme, model) for scheme, models in settings.initial_models.items() for model in models
    }
    assert {plan.corpus for plan in plans} == set(trainings.CORPORA)
    assert (plans[0].scheme, plans[0].corpus) == ("iob", "both")


def test_full_trains_the_papers_seven_models_and_three_corpora() -> None:
    plans = trainings.planned(profile("full"))
    assert len(plans) == 7 + 2  # with all sentences the study's own recogniser is a row of Table 6
    assert all(plan.sentences == 0 for plan in plans)


def test_sentences_are_drawn_from_each_source_alike() -> None:
    rows = [_sentence(f"{group}/{n}", group) for group in trainings.SOURCES for n in range(9)]
    rows += [_sentence("t/0", "MIMIC-IV", "test")]
    chosen = trainings.choose(rows, ONE, np.random.default_rng(0))
    assert [row.group for row in chosen] == ["MIMIC-IV"] * 5 + ["Radiopaedia"] * 5
    assert chosen == trainings.choose(rows, ONE, np.random.default_rng(0))
    alone = trainings.choose(rows, Training("iob", "m", "Radiopaedia", 0), np.random.default_rng(0))
    assert alone == rows[9:18]


def test_unknown_schemes_and_corpora_are_told() -> None:
    with pytest.raises(ParameterError, match="unknown scheme 'crf'"):
        Training("crf", "m", "both", 0)
    with pytest.raises(ParameterError, match="unknown corpus 'PadChest'"):
        Training("iob", "m", "PadChest", 0)
    with pytest.raises(ParameterError, match="must not be negative"):
        Training("iob", "m", "both", -1)


def test_tallies_by_hand() -> None:
    rows = [_sentence("r1/0", "MIMIC-IV"), _sentence("r1/1", "MIMIC-IV"), _sentence("r2/0", "Radiopaedia")]
    cases, types = trainings.tally(OneTooMany(), rows, seed=3)  # type: ignore[arg-type]
    columns = ["case", "source", "matched", "predicted", "gold", "correct_words", "words"]
    assert cases[columns].to_numpy().tolist() == [
        ["MIMIC-IV/r1", "MIMIC-IV", 2, 4, 2, 2, 4],
        ["Radiopaedia/r2", "Radiopaedia", 1, 2, 1, 1, 2],
    ]
    assert (cases["seed"] == 3).all()
    assert types.set_index("type")[["matched", "predicted", "gold"]].to_dict("index") == {
        "ANATOMY": {"matched": 0, "predicted": 3, "gold": 0},
        "NON-DISEASE": {"matched": 3, "predicted": 3, "gold": 3},
    }


def _trained() -> Trained:
    cases, types = trainings.tally(OneTooMany(), [_sentence("r1/0", "MIMIC-IV")], seed=1)  # type: ignore[arg-type]
    return Trained(
        ONE, cases, types, pd.DataFrame({"seed": [1], "epoch": [1.0], "f1": [0.5]}), {"sizes": {"test": 1}}
    )


def test_a_training_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    written = _trained()
    for _ in range(2):  # a second time replaces the first
        trainings.write(tmp_path, written)
    back = trainings.read(tmp_path, ONE)
    pd.testing.assert_frame_equal(back.counts, written.counts)
    pd.testing.assert_frame_equal(back.history, written.history)
    assert back.facts["sizes"] == {"test": 1}
    assert sorted(path.name for path in (tmp_path / "trainings").iterdir()) == [ONE.slug]


def test_a_training_that_is_missing_or_damaged_is_told(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match=r"not made yet.*run ratescore/ner_training -p scheme iob"):
        trainings.read(tmp_path, ONE)
    folder = trainings.write(tmp_path, _trained())
    table = folder / "counts.csv"
    table.write_text(table.read_text().replace("MIMIC-IV", "MIMIC-III"))
    with pytest.raises(ResultError, match="changed after it was written"):
        trainings.read(tmp_path, ONE)
    (folder / "training.json").write_text('{"half": ')
    with pytest.raises(ResultError, match="cut short"):
        trainings.read(tmp_path, ONE)


def test_a_model_role_needs_its_training_first(tmp_path: Path) -> None:
    run = begin("ratescore/rated_pairs", profile="smoke", seed=0, output_dir=str(tmp_path))
    assert run.model("encoder") == "packaged-minilm"
    with pytest.raises(ResultError, match="was not made yet"):
        run.model("ner_model")
    with pytest.raises(RoleError, match=r"fills no model role 'oracle'.*ner_model"):
        run.model("oracle")
