"""The metrics of a comparison over a profile's models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from radeval_lib.data.records import RatedPair
from radeval_lib.data.roles import load
from radeval_lib.errors import NotebookError
from radeval_lib.study import begin
from radeval_lib.study.runs import Run

pytestmark = pytest.mark.usefixtures("one_thread")

WITHOUT_SCORER = {"SPICE", "CheXbert"}  # baselines of Appendix A.6 that need more than Python
TINY = str(Path(__file__).resolve().parents[1] / "reference" / "ratescore" / "tiny_ner")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run whose rated pairs are generated texts with grades drawn at random."""
    grades = np.random.default_rng(0).integers(0, 6, 30)
    pairs = [
        RatedPair(pair.id, pair.reference, pair.candidate, float(grade))
        for pair, grade in zip(
            load("text_pairs", "synthetic", size=30, seed=1, root=None), grades, strict=True
        )
    ]
    monkeypatch.setattr(Run, "load", lambda self, role: pairs)
    whole = begin("ratescore/rated_pairs", profile="smoke", seed=0, output_dir=str(tmp_path))
    roles = {
        **whole.whole_profile.roles,
        **dict.fromkeys(("rated_paragraphs", "rated_errors", "rated_sentences"), "rexval"),
    }
    return _with(
        whole, roles=roles, models={"ner_model": TINY, "encoder": TINY, "graph_model": "radgraph:radgraph"}
    )


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


def test_the_panel_has_the_papers_metrics_or_says_what_is_missing(run: Run) -> None:
    scored = set(run.all_metrics())
    printed = {"RaTEScore", "METEOR", "BERTScore", "BLEU", "ROUGE-L", "CheXbert", "RadGraph F1", "SPICE"}
    assert (scored - {"observations by rules"}) | WITHOUT_SCORER == printed
    assert not scored & WITHOUT_SCORER
