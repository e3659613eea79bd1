"""Judges that compare sentences, and the one that learns from analyses."""

import pytest

from radeval_lib.metrics.green import parse
from radeval_lib.models.judges.base import JudgeError
from radeval_lib.models.judges.comparison import (
    LearnedJudge,
    SentenceJudge,
    SilentJudge,
    likeness,
    sentences,
)
from radeval_lib.pages.green.judging import counted
from radeval_lib.synthetic import green_answer, green_pairs

REFERENCE = "The heart is enlarged. Small left pleural effusion."


def taught(n: int, seed: int):
    made = list(green_pairs(n, seed))
    pairs = [(one.reference.findings.text, one.candidate.findings.text) for one in made]
    return pairs, [green_answer(one.reference, one.candidate, one.comparison) for one in made]


def test_sentences_and_their_likeness_by_hand():
    assert sentences("No effusion. A 1.5 cm nodule.\nClear?") == [
        "No effusion.",
        "A 1.5 cm nodule.",
        "Clear?",
    ]
    assert likeness("small left effusion", ["left effusion today", "heart"]) == (0.5, "left effusion today")
    assert likeness("nothing", []) == (0.0, "")


def test_unlike_sentences_are_false_and_missing():
    (said,) = SentenceJudge().judge([(REFERENCE, "The heart is enlarged. Right pneumothorax; tube.")])
    read = parse(said, "strict")
    assert not read.faults
    assert (read.significant, read.matched) == ((1, 1, 0, 0, 0, 0), 1)
    assert "Right pneumothorax, tube" in said


def test_silence_names_nothing():
    kept = {}
    said = SilentJudge().judge([("a", "b"), ("c", "d")], kept.__setitem__)
    assert [parse(one, "strict").matched for one in said] == [0, 0]
    assert kept == dict(enumerate(said))


def test_what_was_learned_beats_silence_and_plain_words_on_new_pairs():
    judge = LearnedJudge(*taught(16, 1))
    pairs, labels = taught(8, 2)
    gold = counted(labels)

    def error(other, quantity):
        return (counted(other.judge(pairs))[quantity] - gold[quantity]).abs().mean()

    assert error(judge, "matched findings") < error(SilentJudge(), "matched findings")
    assert error(judge, "significant errors") < error(SentenceJudge(), "significant errors")
    assert counted(judge.judge(pairs))["well formed"].all()
    assert judge.judge([("", "")]) == SilentJudge().judge([("", "")])


def test_the_same_lessons_give_the_same_judge():
    lessons = taught(6, 3)
    one, other = LearnedJudge(*lessons), LearnedJudge(*lessons)
    assert one.judge(lessons[0]) == other.judge(lessons[0])
    assert LearnedJudge(*lessons, "named").signature == "named|30"


def test_nothing_to_learn_from():
    with pytest.raises(JudgeError, match="0 pairs and 0 analyses"):
        LearnedJudge([], [])
    with pytest.raises(JudgeError, match="1 pairs and 2"):
        LearnedJudge([("a", "b")], ["x", "y"])
