"""The metrics of a comparison over a profile's models, and their agreement with ratings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from radeval_lib.data.ratings import rating_table
from radeval_lib.experiments.ratescore import metric_panel
from radeval_lib.experiments.ratescore.metric_panel import RATESCORE
from radeval_lib.metrics import create
from radeval_lib.study import begin
from radeval_lib.study.runs import Run

pytestmark = pytest.mark.usefixtures("one_thread")

TINY = str(Path(__file__).resolve().parents[1] / "reference" / "ratescore" / "tiny_ner")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    whole = begin("ratescore/rated_pairs", profile="smoke", seed=0, output_dir=str(tmp_path))
    sizes = {**whole.profile.sizes, "rated_pairs": 30}
    models = {"ner_model": TINY, "encoder": TINY}
    return replace(whole, profile=replace(whole.profile, sizes=sizes, models=models))


def test_the_packaged_encoder_is_pooled_as_it_was_trained(run: Run) -> None:
    assert metric_panel.ratescore(run).settings()["pooling"] == "cls"
    packaged = replace(
        run, profile=replace(run.profile, models={"ner_model": TINY, "encoder": "packaged-minilm"})
    )
    assert metric_panel.ratescore(packaged).settings()["pooling"] == "mean"
    assert metric_panel.ratescore(packaged, pooling="cls").settings()["pooling"] == "cls"


def test_the_panel_has_the_papers_metrics_or_says_what_is_missing(run: Run) -> None:
    scored = set(metric_panel.panel(run))
    assert scored | set(metric_panel.NOT_FILLED) == {
        "RaTEScore", "METEOR", "BERTScore", "BLEU", "ROUGE-L", "CheXbert", "RadGraph F1", "SPICE"
    }  # fmt: skip
    assert not scored & set(metric_panel.NOT_FILLED)


def test_agreement_correlates_scores_with_mean_ratings(run: Run) -> None:
    metrics = {
        RATESCORE: metric_panel.ratescore(run),
        "ROUGE-L": create("rouge_l"),
        "METEOR": create("meteor"),
    }
    result = metric_panel.agreement(run, "rated_pairs", metrics, ["kendall", "pearson"])
    pairs = rating_table(run.load("rated_pairs"))
    references, candidates = pairs["reference"].tolist(), pairs["candidate"].tolist()
    rouge = create("rouge_l").score(references, candidates).values
    np.testing.assert_array_equal(result.scores["ROUGE-L"], rouge)
    ranked = result.ranked("kendall").set_index("metric")
    assert ranked.loc["ROUGE-L", "value"] == pytest.approx(stats.kendalltau(rouge, pairs["rating"]).statistic)
    assert ranked["value"].is_monotonic_decreasing
    assert (ranked["groups"] == pairs["case"].nunique()).all()
    assert set(result.against("pearson").index) == {"ROUGE-L", "METEOR"}
    order, lead = result.superiority("n", "c", "kendall", "METEOR", ["ROUGE-L"])
    assert (order.aspect, lead.aspect) == ("order", "lead")
    values = ranked["value"]
    assert order.computed == f"METEOR {values['METEOR']:.3f}, ROUGE-L {values['ROUGE-L']:.3f}"
    again = metric_panel.agreement(run, "rated_pairs", metrics, ["kendall"])
    assert again.ranked("kendall").equals(result.ranked("kendall"))
