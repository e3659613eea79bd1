"""What pages take from pingouin, against SciPy, R's documented examples and values worked out by hand."""

from __future__ import annotations

import math
import re
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pingouin as pg
import pytest
from scipy import stats

from radeval_lib.paths import ROOT

# Shrout and Fleiss 1979, Table 2: six targets, four judges; R psych's help of ICC is on the same data.
SHROUT = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])


def long(table: np.ndarray) -> pd.DataFrame:
    """Return one row per cell: ``row``, ``column``, ``value``."""
    rows, columns = np.indices(table.shape)
    return pd.DataFrame({"row": rows.ravel(), "column": columns.ravel(), "value": table.ravel()})


@pytest.mark.parametrize("seed", range(5))
def test_wilcoxon_is_scipys(seed: int) -> None:
    differences = np.random.default_rng(seed).integers(-4, 6, 60)
    found = pg.wilcoxon(differences, method="approx", correction=False).iloc[0]
    wanted = stats.wilcoxon(differences, method="approx", correction=False)
    assert (found["W_val"], found["p_val"]) == (wanted.statistic, wanted.pvalue)
    ranks = stats.rankdata(np.abs(differences[differences != 0])) * np.sign(differences[differences != 0])
    assert found["RBC"] == pytest.approx(ranks.sum() / np.abs(ranks).sum())  # Kerby 2014


def test_mann_whitney_by_hand() -> None:
    # {1, 2} against {2, 3}: U = 0.5 of 4, so 1 in 8; of the 6 divisions {1, 2a} and {1, 2b} are as low.
    found = pg.mwu([1, 2], [2, 3], method=stats.PermutationMethod(n_resamples=6)).iloc[0]
    assert (found["U_val"], found["CLES"]) == (0.5, 0.125)
    assert found["p_val"] == pytest.approx(2 / 3)


def test_corrections_are_rs() -> None:
    ps = [0.01, 0.02, 0.03, 0.04]  # R: p.adjust(c(.01, .02, .03, .04), "holm"), and "bonferroni"
    np.testing.assert_allclose(pg.multicomp(ps, method="holm")[1], [0.04, 0.06, 0.06, 0.06])
    np.testing.assert_allclose(pg.multicomp(ps, method="bonf")[1], [0.04, 0.08, 0.12, 0.16])


@pytest.mark.parametrize("method", ["chisq", "f"])
def test_friedman_is_that_of_scipy_and_conover(method: str) -> None:
    table = np.random.default_rng(2).integers(0, 6, (7, 16))  # with ties
    found = pg.friedman(long(table), dv="value", within="column", subject="row", method=method).iloc[0]
    wanted = stats.friedmanchisquare(*table.T)
    w = wanted.statistic / (7 * 15)
    assert found["W"] == pytest.approx(w)
    if method == "chisq":
        assert found["p_unc"] == pytest.approx(wanted.pvalue)
    else:  # Kendall and Babington Smith 1939: F = (n - 1) W / (1 - W)
        first = 15 - 2 / 7
        assert found["p_unc"] == pytest.approx(stats.f.sf(6 * w / (1 - w), first, 6 * first))


def test_pairwise_tests_are_exact_wilcoxon_tests_with_holms_correction() -> None:
    table = np.random.default_rng(3).normal(size=(7, 4)).round(1)
    design = {"dv": "value", "within": "column", "subject": "row"}
    found = pg.pairwise_tests(long(table), **design, parametric=False, padjust="holm")
    ps = [stats.wilcoxon(table[:, row.A], table[:, row.B]).pvalue for row in found.itertuples()]
    np.testing.assert_allclose(found["p_unc"], ps)
    np.testing.assert_allclose(found["p_corr"], pg.multicomp(ps, method="holm")[1])
    apart = pg.pairwise_tests(long(np.arange(14).reshape(7, 2)), **design, parametric=False)
    assert apart["p_unc"].item() == 2 / 2**7  # the smallest that seven blocks can give


def test_agreement_of_shrouts_judges() -> None:
    found = pg.intraclass_corr(long(SHROUT), targets="row", raters="column", ratings="value").set_index(
        "Type"
    )
    # R psych 2.4, ICC(sf): .17, .29, .71 for one judge and .44, .62, .91 for the mean of four
    types = ["ICC(1,1)", "ICC(A,1)", "ICC(C,1)", "ICC(1,k)", "ICC(A,k)", "ICC(C,k)"]
    assert found["ICC"].loc[types].round(2).tolist() == [0.17, 0.29, 0.71, 0.44, 0.62, 0.91]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # no error is left to divide by
def test_alike_judges_agree_absolutely_and_a_strict_one_only_in_order() -> None:
    # R irr's icc(..., model = "twoway", type = "agreement") is 1 for equal columns; a constant shift of one
    # judge by d adds d^2/2 to the variance between judges: 2.5 / (2.5 + 0.5) for targets 1 to 5 and d = 1.
    targets = np.arange(1.0, 6.0)
    strict = np.column_stack([targets, targets + 1])
    found = pg.intraclass_corr(long(strict), targets="row", raters="column", ratings="value")
    values = found.set_index("Type")["ICC"]
    assert values["ICC(A,1)"] == pytest.approx(2.5 / 3)
    assert values["ICC(C,1)"] == pytest.approx(1)


@pytest.mark.parametrize("method", ["pearson", "spearman"])
def test_partial_correlation_is_that_of_what_lengths_leave(method: str) -> None:
    rng = np.random.default_rng(4)
    lengths = rng.poisson(30, (80, 2)).astype(float)
    x, y = (lengths @ rng.normal(size=2) + rng.normal(0, 5, 80) for _ in range(2))
    table = pd.DataFrame({"x": x, "y": y, "one": lengths[:, 0], "other": lengths[:, 1]})
    found = pg.partial_corr(table, "x", "y", covar=["one", "other"], method=method)["r"].item()
    held = table.rank() if method == "spearman" else table
    design = np.column_stack([np.ones(80), held[["one", "other"]]])
    left = [held[of] - design @ np.linalg.lstsq(design, held[of], rcond=None)[0] for of in "xy"]
    assert found == pytest.approx(stats.pearsonr(*left).statistic)


def test_repeated_measures_correlation_is_rs() -> None:
    # R rmcorr: rmcorr(Subject, PacO2, pH, bland1995): r = -0.5067697, 38 degrees of freedom, p = 0.000847
    found = pg.rm_corr(pg.read_dataset("rm_corr"), x="pH", y="PacO2", subject="Subject").iloc[0]
    assert found["r"] == pytest.approx(-0.5067697, abs=1e-6)
    assert found["pval"] == pytest.approx(0.000847, abs=1e-6)
    assert found["dof"] == 38
    # tanh(-0.558254 ∓ 1.959964 / sqrt(37)), to two digits; R has sqrt(35) there, and -0.711 to -0.223
    assert found["CI95"] == [-0.71, -0.23]


def test_with_two_a_case_it_is_the_correlation_of_differences_through_zero() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(2, 30, 2))
    table = pd.DataFrame({"x": x.ravel(), "y": y.ravel(), "case": np.repeat(np.arange(30), 2)})
    dx, dy = (np.diff(of, axis=1)[:, 0] for of in (x, y))
    wanted = (dx @ dy) / math.sqrt((dx @ dx) * (dy @ dy))
    assert pg.rm_corr(table, x="x", y="y", subject="case")["r"].item() == pytest.approx(wanted)


def test_pearsons_interval_by_hand() -> None:
    # atanh(0.5) = 0.549306; standard error 1 / sqrt(100)
    wanted = (math.tanh(0.549306 - 0.1959964), math.tanh(0.549306 + 0.1959964))
    found = pg.compute_esci(0.5, 103, 103, eftype="r", decimals=8)
    assert tuple(found) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
def test_correlations_are_scipys_and_only_pearsons_interval_is_right(method: str) -> None:
    x, y = np.random.default_rng(6).normal(size=(2, 50)) @ np.eye(50)
    found = pg.corr(x, x + y, method=method).iloc[0]
    wanted = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[method]
    assert found["r"] == pytest.approx(wanted(x, x + y).statistic)
    assert found["p_val"] == pytest.approx(wanted(x, x + y).pvalue)
    # Fisher's 1 / sqrt(n - 3) whatever the coefficient, which is why rank coefficients have our own intervals
    z, half = math.atanh(found["r"]), 1.959964 / math.sqrt(47)
    assert found["CI95"].tolist() == pytest.approx([math.tanh(z - half), math.tanh(z + half)], abs=0.0051)


def test_bland_and_altmans_lines_are_the_bias_and_limits() -> None:
    x, y = np.random.default_rng(7).poisson(3, (2, 40))
    axes = pg.plot_blandaltman(x, y, ax=plt.figure().add_subplot())
    gaps = x - y
    wanted = [gaps.mean() + side * 1.96 * gaps.std(ddof=1) for side in (-1, 0, 1)]
    drawn = [line.get_ydata()[0] for line in axes.lines]
    assert all(any(abs(height - value) < 1e-9 for height in drawn) for value in wanted)
    assert axes.collections[0].get_offsets().tolist() == np.column_stack([(x + y) / 2, gaps]).tolist()


def test_the_library_does_without_pingouin() -> None:
    sources = (ROOT / "radeval_lib").rglob("*.py")
    texts = (path.read_text(encoding="utf-8") for path in sources)
    assert not any(re.search(r"^\s*(import|from) pingouin", text, re.MULTILINE) for text in texts)


def test_scoring_and_comparing_do_without_it() -> None:
    code = (
        "import sys; sys.modules['pingouin'] = None\n"
        "import radeval_lib.cli.scoring, radeval_lib.metrics.compare\n"
        "from radeval_lib import score\n"
        "print(score(['No effusion.'], ['Small effusion.'], metrics=['bleu']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
