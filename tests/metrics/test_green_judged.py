"""GREEN's score by a judge that fills the role."""

import pytest

from radeval_lib import metrics
from radeval_lib.metrics.base import MetricError
from radeval_lib.models.judges import opening


class Fixed:
    """A judge that always says the same."""

    signature = "fixed"

    def __init__(self, answer):
        self.answer = answer

    def judge(self, pairs, keep=None):
        return [self.answer] * len(pairs)


def test_the_rules_fill_the_role_by_default():
    pair = ["Left effusion. No pneumothorax."], ["No pneumothorax."]
    by_role = metrics.create("green", judge="rules").score(*pair)
    assert by_role.values.tolist() == metrics.create("green_rules").score(*pair).values.tolist() == [0.5]
    read, answer = by_role.details[0]
    assert read.matched == 1
    assert "[Matched Findings]" in answer


def test_a_malformed_answer_is_never_scored_strictly(monkeypatch):
    monkeypatch.setattr(opening, "open_judge", lambda *_, **__: Fixed("I think that they agree."))
    with pytest.raises(MetricError, match="malformed"):
        metrics.create("green", mode="strict").score(["a"], ["b"])
    released = metrics.create("green", mode="reference")
    assert released.score(["a"], ["b"]).values.tolist() == [0.0]


def test_an_error_quotes_nothing_of_an_answer(monkeypatch):
    for said in ("(a) False report: two. Mrs Smith's nodule", "(a) Smith: one"):
        sections = "[Clinically Insignificant Errors]:\nNone.\n\n[Matched Findings]:\n1. x"
        answer = f"[Clinically Significant Errors]:\n{said}\n\n{sections}"
        monkeypatch.setattr(opening, "open_judge", lambda *_, answer=answer, **__: Fixed(answer))
        with pytest.raises(MetricError, match=r"Errors: not of the form .*errors'. Use") as caught:
            metrics.create("green").score(["a"], ["b"])
        assert "Smith" not in str(caught.value)


def test_an_unknown_mode_is_refused():
    with pytest.raises(MetricError):
        metrics.create("green", mode="lenient")
