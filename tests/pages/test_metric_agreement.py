"""The metrics of a comparison over a profile's models, and their agreement with ratings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from notebooks.ratescore import RATESCORE, metric_agreement
from radeval_lib.data.ratings import rating_table
from radeval_lib.data.records import RatedPair
from radeval_lib.data.roles import load
from radeval_lib.errors import NotebookError
from radeval_lib.metrics import create
from radeval_lib.metrics.base import Metric
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


class Turned(Metric):
    """ROUGE-L with its sign turned: lower is better."""

    name, higher_is_better, range = "turned", False, (-1.0, 0.0)

    def _score_pairs(self, pairs):  # type: ignore[no-untyped-def]
        return [(-value, None) for value in create("rouge_l").score(*zip(*pairs, strict=True)).values]


def test_a_metric_of_which_lower_is_better_agrees_as_its_opposite_does(run: Run) -> None:
    metrics = {"turned": Turned(), "ROUGE-L": create("rouge_l")}
    agreement = metric_agreement.agreement(run, "rated_paragraphs", metrics, ["kendall"], first="turned")
    values = agreement.ranked("kendall").set_index("metric")["value"]
    assert values["turned"] == pytest.approx(values["ROUGE-L"])
    assert agreement.against("kendall").loc["ROUGE-L", "difference"] == pytest.approx(0)
    np.testing.assert_array_equal(agreement.scores["turned"], -agreement.scores["ROUGE-L"])


def test_agreement_correlates_scores_with_mean_ratings(run: Run) -> None:
    metrics = {
        RATESCORE: run.metric("ratescore"),
        "ROUGE-L": create("rouge_l"),
        "METEOR": create("meteor"),
    }
    result = metric_agreement.agreement(
        run, "rated_paragraphs", metrics, ["kendall", "pearson"], first=RATESCORE
    )
    pairs = rating_table(run.load("rated_paragraphs"))
    references, candidates = pairs["reference"].tolist(), pairs["candidate"].tolist()
    rouge = create("rouge_l").score(references, candidates).values
    np.testing.assert_array_equal(result.scores["ROUGE-L"], rouge)
    ranked = result.ranked("kendall").set_index("metric")
    assert ranked.loc["ROUGE-L", "value"] == pytest.approx(stats.kendalltau(rouge, pairs["rating"]).statistic)
    assert ranked["value"].is_monotonic_decreasing
    assert (ranked["groups"] == pairs["case"].nunique()).all()
    assert set(result.against("pearson").index) == {"ROUGE-L", "METEOR"}
    again = metric_agreement.agreement(run, "rated_paragraphs", metrics, ["kendall"], first=RATESCORE)
    assert again.ranked("kendall").equals(result.ranked("kendall"))
