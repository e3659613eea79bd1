"""Trainings of NER models: what is planned, and what is chosen and counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from radeval_lib.data.records import AnnotatedSentence, Entity
from radeval_lib.errors import ParameterError, ProfileError
from radeval_lib.jobs import ratescore
from radeval_lib.jobs.ratescore import Training
from radeval_lib.study.profiles import profile, profile_names

ONE = Training("iob", "packaged-minilm", "both", 5)


def _sentence(key: str, group: str, split: str = "train") -> AnnotatedSentence:
    return AnnotatedSentence(
        key, ("no", "effusion"), (Entity(1, 2, "Non-Disease"),), group=group, split=split
    )


class OneTooMany:
    """Finds what is there, and the first word of every sentence besides."""

    def predict(self, sentences):  # type: ignore[no-untyped-def]
        return [[(1, 2, "NON-DISEASE"), (0, 1, "ANATOMY")] for _ in sentences]


def test_a_tagger_of_graphs_learns_from_some_reports_and_keeps_all_of_dev() -> None:
    corpus = [_sentence(str(number), "", part) for part in ("train", "dev", "test") for number in range(9)]
    drawn = ratescore.starting_graphs(corpus, 4, np.random.default_rng(0))
    assert [row.split for row in drawn] == ["train"] * 4 + ["dev"] * 9
    assert [row for row in corpus if row.split != "test"] == ratescore.starting_graphs(
        corpus, 0, np.random.default_rng(0)
    )


@pytest.mark.parametrize("name", profile_names())
def test_every_profile_plans_table_6_and_table_7(name: str) -> None:
    settings = profile(name)
    plans = ratescore.list_runs(settings)
    assert len({cell.slug for cell in ratescore.job_list(settings)}) == len(plans)
    chosen = ratescore.settings(settings)
    size = chosen.training_sentences
    of_table_6 = {(p.scheme, p.init_model) for p in plans if p.corpus == "both" and p.sentences == size}
    assert of_table_6 == {
        (scheme, model) for scheme, models in chosen.initial_models.items() for model in models
    }
    real = settings.roles["ner_corpus"] != "synthetic"
    assert {plan.corpus for plan in plans} == (set(ratescore.CORPORA) if real else {"both"})
    assert (plans[0].scheme, plans[0].corpus) == ("iob", "both")


def test_full_trains_the_papers_seven_models_and_three_corpora() -> None:
    plans = ratescore.list_runs(profile("full"))
    assert len(plans) == 7 + 2  # with all sentences the study's own NER model is a row of Table 6
    assert all(plan.sentences == 0 for plan in plans)


def test_sentences_are_drawn_from_each_source_alike() -> None:
    rows = [_sentence(f"{group}/{n}", group) for group in ratescore.SOURCES for n in range(9)]
    rows += [_sentence("t/0", "MIMIC-IV", "test")]
    chosen = ratescore.draw_sentences(rows, ONE, np.random.default_rng(0))
    assert [row.group for row in chosen] == ["MIMIC-IV"] * 5 + ["Radiopaedia"] * 5
    assert chosen == ratescore.draw_sentences(rows, ONE, np.random.default_rng(0))
    alone = ratescore.draw_sentences(rows, Training("iob", "m", "Radiopaedia", 0), np.random.default_rng(0))
    assert alone == rows[9:18]


@pytest.mark.parametrize(
    ("scheme", "corpus", "sentences"), [("crf", "both", 0), ("iob", "PadChest", 0), ("iob", "both", -1)]
)
def test_an_impossible_training_is_refused(scheme: str, corpus: str, sentences: int) -> None:
    with pytest.raises(ParameterError):
        Training(scheme, "m", corpus, sentences)


def test_tallies_by_hand() -> None:
    rows = [_sentence("r1/0", "MIMIC-IV"), _sentence("r1/1", "MIMIC-IV"), _sentence("r2/0", "Radiopaedia")]
    cases = ratescore.count_spans(OneTooMany(), rows, seed=3)  # type: ignore[arg-type]
    columns = ["case", "source", "matched", "predicted", "gold", "correct_words", "words"]
    assert cases[columns].to_numpy().tolist() == [
        ["MIMIC-IV/r1", "MIMIC-IV", 2, 4, 2, 2, 4],
        ["Radiopaedia/r2", "Radiopaedia", 1, 2, 1, 1, 2],
    ]
    assert (cases["seed"] == 3).all()


@pytest.mark.parametrize(
    "change",
    [
        {"initial_models": {"span": ["packaged-minilm"]}},
        {"initial_models": {"iob": []}},
        {"training": {"span": {}}},
    ],
)
def test_a_profile_that_cannot_train_what_it_names_is_refused(change: dict[str, Any]) -> None:
    settings = profile("smoke")
    section = settings.experiments["ratescore"] | change
    wrong = settings.model_copy(update={"experiments": {**settings.experiments, "ratescore": section}})
    with pytest.raises(ProfileError):
        ratescore.settings(wrong)
