"""Sentences with one error of a known category."""

from radeval_lib.pages.ratescore.dataset import sentence_errors
from radeval_lib.synthetic import CATEGORIES


def test_each_category_has_as_many_pairs_as_asked_for() -> None:
    table = sentence_errors(3, seed=5)
    assert table["category"].value_counts().to_dict() == dict.fromkeys(CATEGORIES, 3)
    assert (table["reference"] != table["candidate"]).all()
    assert not table.duplicated().any()


def test_texts_are_short_and_the_same_for_the_same_seed() -> None:
    table = sentence_errors(2, seed=5)
    assert table.equals(sentence_errors(2, seed=5))
    assert not table.equals(sentence_errors(2, seed=6))
    sentences = table[["reference", "candidate"]].map(lambda text: text.count(". ") + 1)
    assert sentences.to_numpy().max() <= 2
