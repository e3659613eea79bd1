"""Judges beside each other, on known labels and against radiologists' counts."""

import numpy as np
import pandas as pd
import pytest

from radeval_lib.models.judges.comparison import SilentJudge
from radeval_lib.models.judges.rules import RulesJudge
from radeval_lib.pages.green import inter_expert, judge_models, judging
from radeval_lib.pages.green.judging import Counted
from radeval_lib.study import begin
from radeval_lib.study.verdicts import FAILS


def test_abdominal_ct_is_kept_out_of_the_other_images():
    gold = judge_models.abdominal_ct(6, 1)
    assert len(gold.pairs) == len(gold.labels) == 6
    both = judge_models.other_images(6, 1) + gold
    assert len(both.pairs) == 12
    assert both.labels[6:] == gold.labels


def test_a_judge_of_the_labels_makes_no_error_and_silence_errs_by_the_count():
    gold = judge_models.chest(4, 1)

    class Right:
        signature = "right"

        def judge(self, pairs, keep=None):
            return gold.labels

    errors = {
        name: judge_models.absolute_errors([judge], gold)
        for name, judge in (("right", Right()), ("none", SilentJudge()))
    }
    assert not any(values.any() for values in errors["right"].values())
    table = judge_models.mean_and_sd(errors, gold)
    assert table.loc["labels", "significant errors"] == table.loc["none", "significant errors"]
    assert table.loc["right", "matched findings"] == "0.00 ± 0.00"
    assert table.loc["labels", "GREEN"] == ""


def test_simulated_radiologists_and_their_pairs_belong_together(tmp_path):
    run = begin("green/judge_models", profile="smoke", seed=0, output_dir=str(tmp_path))
    gold = judging.rated_errors(run)
    assert gold is not None
    assert gold.counts["significant"].shape == (run.profile.sizes["rated_errors"], 6, 6)
    found = judging.judged([RulesJudge()], gold.pairs)["significant"][0].sum(axis=1)
    assert np.corrcoef(found, gold.means("significant").sum(axis=1))[0, 1] > 0.7


def test_table_4_by_hand():
    counts = np.zeros((2, 6, 3))
    counts[0, 0] = [1, 1, 1]
    counts[1, 1] = [0, 1, 2]
    gold = Counted([("a", "b"), ("c", "d")], {"significant": counts, "insignificant": np.zeros((2, 6, 3))})
    mine = np.zeros((1, 2, 6))
    mine[0, 0, 0], mine[0, 1, 2] = 1, 2
    none = np.zeros((1, 2, 6))
    row = judge_models.table_of({"me": {"significant": mine, "insignificant": none}}, gold).loc["me"]
    assert row["significant errors"] == "1.50 ± 1.50"
    assert row["insignificant errors"] == "0.00 ± 0.00"
    assert row[["(a)", "(b)", "(c)", "(d)"]].tolist() == [1.0, 0.5, 0.5, 1.0]
    both = {"significant": np.concatenate([mine, none]), "insignificant": np.concatenate([none, none])}
    assert judge_models.differences(both["significant"], gold.means("significant")).tolist() == [
        [0, 3],
        [1, 1],
    ]
    assert judge_models.table_of({"us": both}, gold).loc["us", "significant errors"] == "1.25 ± 1.09"
    apart = judging.experts_differences(counts)
    assert apart[1, 1].tolist() == [1.5, 0.0, 1.5]


def test_single_planted_errors_are_filed_by_category_and_significance():
    found = inter_expert.category_assignment_rates(RulesJudge(), 3, 7)
    assert len(found) == 12
    assert (found["right"] <= found["category"]).all()
    assert found["category"].mean() > 0.8
    assert not inter_expert.category_assignment_rates(SilentJudge(), 2, 7).to_numpy().any()


def test_a_judge_without_errors_leads_radiologists_who_err_and_noise_lags():
    rng = np.random.default_rng(0)
    truth = rng.poisson(3, 80).astype(float)
    people = truth[:, None] + rng.integers(-1, 2, (80, 6))
    cases = [str(number // 4) for number in range(80)]
    right = inter_expert.judge_leads(people, truth, cases, resamples=60, rng=rng)
    assert all(lead.low > 0 and lead.low <= lead.value <= lead.high for lead in right.values())
    wrong = inter_expert.judge_leads(people, rng.permutation(truth), cases, resamples=60, rng=rng)
    assert all(lead.high < 0 for lead in wrong.values())


def table(*cells: tuple[str, str, str, float]) -> pd.DataFrame:
    frame = pd.DataFrame(cells, columns=["model", "quantity", "statistic", "value"])
    return frame.assign(printed=frame["value"].map("{:.2f}".format), half_width=0.005)


def test_printed_spreads_against_their_bounds():
    spreads = table(("a", "GREEN", "mean", 0.5), ("a", "GREEN", "sd", 0.6))
    (check,) = judge_models.check_spreads(spreads)
    assert (check.outcome, check.name) == (FAILS, "standard deviations of GREEN scores")
    assert judge_models.shares_of_largest(spreads).tolist() == pytest.approx([1.2])
    counts = table(("a", "matched findings", "mean", 2.5), ("a", "matched findings", "sd", 0.3))
    (check,) = judge_models.check_spreads(counts)  # half of them 2, half 3: no less than 0.5
    assert (check.outcome, check.name) == (FAILS, "standard deviations of counts and their differences")
    assert judging.as_printed(counts, "model").loc["a", "matched findings"] == "2.50 ± 0.30"


def test_silence_errs_by_the_mean_count_of_its_place():
    cells = table(
        ("GPT-4 labels", "matched findings", "mean", 2.0),
        ("one", "matched findings", "mean", 1.0),
        ("two", "matched findings", "mean", 2.0),
    )
    shares = judge_models.against_silence(cells.assign(place="here", judge=cells["model"]))
    assert shares.set_index("judge")["share"].to_dict() == {"one": 0.5, "two": 1.0}


def test_possible_accuracies_by_hand():
    significant = np.zeros((2, 6, 2))
    significant[0, 0], significant[1, 1] = [1, 1], [0, 1]
    counts = {"significant": significant, "insignificant": np.zeros_like(significant), "total": significant}
    found = judge_models.possible_accuracies(counts)
    assert found.loc["accuracy of silence, all errors"].tolist() == [0.5, 0.5, 1, 1, 1, 1]
    assert found.loc["highest possible, all errors"].tolist() == [1, 0.5, 1, 1, 1, 1]
