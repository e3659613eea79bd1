"""RaTEScore's place among its rivals, in words."""

import numpy as np
import pandas as pd

from notebooks.ratescore.rated_pairs import EXPERIMENTS, answer, contrast_table, standing
from radeval_lib.stats.correlations import resample
from radeval_lib.study.metric_agreement import Agreement

RATINGS = np.arange(40.0)
SCORES = {
    "RaTEScore": RATINGS + np.resize([0, 9, -9], 40),
    "better": RATINGS,
    "worse": np.resize([1.0, 0, 0, 2], 40),
}


def _agreement() -> Agreement:
    scores = pd.DataFrame(SCORES | {"flat": np.zeros(40)})
    drawn = {
        kind: resample(SCORES, RATINGS, kind=kind, resamples=200, rng=np.random.default_rng(0))
        for kind in EXPERIMENTS["rated_paragraphs"].kinds
    }
    correlations = pd.concat(found.intervals().assign(kind=kind) for kind, found in drawn.items())
    contrasts = pd.concat(found.compare("RaTEScore").assign(kind=kind) for kind, found in drawn.items())
    return Agreement(scores[[]], scores, correlations, contrasts)


def test_a_place_counts_only_leads_beyond_chance() -> None:
    found = standing(_agreement(), "kendall")
    assert found["place"] == "second of three"
    assert found["leads"] == "beats worse and is beaten by better"


def test_the_table_has_every_metric_and_says_which_hardly_varies() -> None:
    table = contrast_table(_agreement(), "kendall")
    assert list(table.index) == ["better", "RaTEScore", "worse", "flat"]
    assert table.loc["better", "Kendall"] == "1.00 [1.00, 1.00]"
    assert table.loc["flat", "Kendall"] == "hardly varies"
    assert table.loc["RaTEScore", "p, corrected"] == ""


def test_the_answer_names_its_pairs() -> None:
    told = answer({"rated_paragraphs": _agreement()}, "RadPref")
    assert told["answer"].startswith("On 40 rated pairs of RadPref, RaTEScore ranks second of three")
    assert told["answer"].endswith(", second by Pearson and second by Spearman.")
    assert told["rests"] == ("Corrected for the number of rivals, it beats worse and is beaten by better.")
