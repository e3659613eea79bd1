"""The models of a metric, and what a notebook did not declare."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from radeval_lib.errors import NotebookError
from radeval_lib.study import begin
from radeval_lib.study.runs import Run

pytestmark = pytest.mark.usefixtures("one_thread")

TINY = str(Path(__file__).resolve().parents[1] / "reference" / "ratescore" / "tiny_ner")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    whole = begin("ratescore/rated_pairs", profile="smoke", seed=0, output_dir=str(tmp_path))
    return _with(whole, models={"ner_model": TINY, "encoder": TINY})


def _with(run: Run, **changes: object) -> Run:
    return replace(run, whole_profile=run.whole_profile.model_copy(update=changes))


def test_the_packaged_encoder_is_pooled_as_it_was_trained(run: Run) -> None:
    assert run.metric("ratescore").settings()["pooling"] == "cls"
    packaged = _with(run, models={"ner_model": TINY, "encoder": "packaged-minilm"})
    assert packaged.metric("ratescore").settings()["pooling"] == "mean"
    assert packaged.metric("ratescore", pooling="cls").settings()["pooling"] == "cls"


def test_a_metric_or_role_that_the_notebook_does_not_declare_is_refused(run: Run) -> None:
    with pytest.raises(NotebookError):
        run.metric("rouge_1")
    with pytest.raises(NotebookError):
        _with(run, models={**run.profile.models, "rival": TINY}).model("rival")
