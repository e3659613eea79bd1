"""How a language model learns to judge: what it learns from, how it is measured, and one training."""

from __future__ import annotations

from math import log
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from notebooks.green import language_judge
from notebooks.green.language_judge import count_readable, fine_tune
from radeval_lib.data import generated
from radeval_lib.data.restricted import reveal
from radeval_lib.green_analysis import render
from radeval_lib.models.batching import IGNORED
from radeval_lib.rules.generator import green_pairs
from radeval_lib.study import begin


def test_only_what_a_strict_reading_understands_is_readable() -> None:
    good = render((1, 0, 0, 0, 0, 0), (0,) * 6, 2)
    assert count_readable([good, "I think that they agree."]) == 1
    records = list(generated.generate_judged_pairs(2, 5))
    assert count_readable([first.analysis for first in records]) == len(records) == 2 * 5  # of each heuristic
    for pair, first in zip(green_pairs(2, 5), records, strict=True):
        assert pair.reference.findings.text in reveal(first.prompt)
        assert pair.candidate.findings.text in reveal(first.prompt)


def test_one_who_knows_how_often_tokens_occur_by_hand() -> None:
    """Of seven (three taught, and one each of four tokens) token 1 has three and token 3 one; the prompt is
    not counted."""
    task: Any = SimpleNamespace(tokenizer=range(4), make_example=lambda pair: {"labels": [IGNORED, *pair]})
    pairs: Any = [[1, 1, 2]], [[1, 3]]
    assert language_judge._score_by_frequencies(task, *pairs) == pytest.approx((log(3 / 7) + log(1 / 7)) / 2)


def test_a_training_reports_what_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = begin("green/language_judge", profile="smoke", seed=0, output_dir=str(tmp_path))
    records = list(generated.generate_judged_pairs(2, 5))
    texts = [(pair.reference.findings.text, pair.candidate.findings.text) for pair in green_pairs(2, 5)]
    small = {"vocabulary": 300, "width": 16, "layers": 1}
    update = {"start": "", "small": small, "longest": 200, "answer": 2}
    chosen = language_judge.settings(run.profile).model_copy(update=update)
    monkeypatch.setattr(language_judge, "settings", lambda profile: chosen)
    parts = {"training": records[:6], "dev": records[6:8], "held_out": records[8:]}
    facts = fine_tune(run, 0, reports=texts[:1], **parts)
    assert facts["trained"] == "all weights"
    assert (facts["readable answers"], facts["answers"]) == (0, 1)
    assert facts["before"] != facts["after"]
    assert -log(300) - 1 < cast(float, facts["token frequencies"]) < 0
