"""The demonstrations of the page on papers and their code: what is kept, and which contrast is picked."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from notebooks.across import contrasts as kept
from notebooks.across import paper_versus_code as code
from radeval_lib.metrics.ratescore import Scorer, options
from radeval_lib.papers.demonstrations import Contrast


def test_contrasts_are_kept_in_order_and_tabled() -> None:
    contrasts = kept.Contrasts()
    contrasts.show("Reports", *code.shifted_pairs())
    contrasts.keep(code.report_counts())
    assert [one.shown(one.released) for one in contrasts] == ["4", "0.250", "79,790"]
    assert list(contrasts.table()["share of range"].isna()) == [True, False, True]
    assert contrasts[0].basis == "with the right pairs"


PENALTY = Scorer("short", options("released")).weights.penalty
UNDECIDED = -2 * (0.49 * math.log(0.49) + 0.01 * math.log(0.01))
BY_HAND = {
    "mismatch_penalty": (0.8 * PENALTY, 0.8),
    "empty_report": (0, 0.5),
    "shifted_pairs": (5, 4),
    "irregular_answers": (2 / 5, 1),
    "aklu_bound": (math.log(46) - 0.994, 3.897),
    "entropy_sign": (-UNDECIDED, UNDECIDED),
    # Of three samples with confidence 0.5 one is right; the fourth, with 0.6, is right.
    "weighted_gap": (0.4, (0.5 - 1 / 3) * 3 / 4),
    "lost_zero": (0.25, 0.125),  # one of four true classes got probability 0, in half of the cells
    "short_impressions": (1, 1e-6 ** (1 / 4)),
    "procedure_texts": (len("INDICATION: fall. "), len("HEAD CT WITHOUT CONTRAST. INDICATION: fall. ")),
    "findings_after_impression": (0, 1),
    "radgraph_levels": (2 / 3, 5 / 6),
    "report_counts": (79_779, 79_790),
    "relation_free": (1, 1 / 2),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_contrasts_have_the_values_that_follow_by_hand(name: str) -> None:
    shown = getattr(code, name)()
    parts = shown if isinstance(shown, tuple) else (shown,)
    found = next(part for part in parts if isinstance(part, Contrast))
    assert (found.stated, found.released) == pytest.approx(BY_HAND[name], abs=1e-9)


def test_which_types_are_punished_and_which_way_round_the_weights_are_read() -> None:
    frame, _ = code.mismatch_penalty()
    differ = frame[(frame["paper"] - frame["code"]).abs() > 1e-9].index
    assert list(differ) == ["disease v abnormality, long", "disease v abnormality, short"]
    frame, _ = code.orientation()
    first, second = frame.to_numpy().T
    assert (abs(first - second) > 1e-9).tolist() == [False, False, True, True]  # where matches are mutual


def test_chunks_depend_on_the_order_of_the_file_and_the_corpus_does_not() -> None:
    frame, contrast = code.corpus_chunks(np.random.default_rng(0))
    assert frame.loc["whole corpus"].nunique() == 1
    assert contrast.released < contrast.stated - 0.05
    assert frame.loc["chunks of 1,000", "shuffled"] == pytest.approx(contrast.stated, abs=0.005)


def test_label_strings_and_headings_are_read_as_released() -> None:
    labels = code.label_strings().set_index("labels")
    assert labels.loc["O I-dis B-ana O"].tolist() == ["dis: 1, ana: 2", "ana: 2"]
    assert labels.loc["O B-dis B-ana I-ana I-ana"].tolist() == ["dis: 1, ana: 2–3", "dis: 1"]
    seen = code.headings_seen()
    assert seen["findings for CT Head"].tolist() == ["yes", "yes", *["no"] * 5, "yes"]
    assert seen["heading seen"].iloc[3] == "<code>' FINDINGS'</code>"


def test_an_answer_without_periods_is_read_as_one_without_errors() -> None:
    contrast = code.irregular_answers()
    assert (contrast.stated, contrast.released) == (2 / 5, 1)


def test_clean_labels_are_read_alike() -> None:
    frame, contrast = code.label_noise(np.random.default_rng(0), 50)
    clean = frame.set_index("labels replaced").loc[0.0]
    assert not clean.any()
    assert "5% of labels" in contrast.quantity


def test_the_search_for_clusters_is_compared_at_twenty_sentences() -> None:
    frame, contrast = code.cluster_search(np.random.default_rng(0), 40)
    assert contrast.released == frame.set_index("sentences").loc[20, "search finds the best k"]


def test_labels_are_counted_inside_entities_alone() -> None:
    _, contrast = code.labels_by_string()
    assert (contrast.stated, contrast.released) == (3, 1)  # "left", but neither "pleural" nor "effusion"


def test_the_reciprocal_ranks_systems_on_both_sides_of_zero_wrongly() -> None:
    frame, contrast = code.reciprocal()
    errors = frame["predicted errors (paper)"]
    positive = int((errors > 0).sum())
    pairs = len(errors) * (len(errors) - 1) / 2
    assert contrast.released == pytest.approx(1 - positive * (len(errors) - positive) / pairs)


def test_a_gap_counts_once_and_only_between_a_paper_and_its_own_code() -> None:
    rows = [
        ("RaTEScore", "shift", 0.2, True),
        ("RaTEScore", "shift", 0.5, True),  # another quantity of the same gap
        ("RaLEs", "sign", 0.9, False),  # the paper does not say
        ("GREEN", "search", float("nan"), True),
    ]
    found = kept.gaps(pd.DataFrame(rows, columns=["whose", "difference", "share of range", "gap"]))
    assert found[["whose", "difference"]].to_numpy().tolist() == [["RaTEScore", "shift"], ["GREEN", "search"]]
    assert found["share of range"].iloc[0] == 0.5
    contrast, _ = code.relation_free()
    assert not contrast.is_gap, "RadCliQ is none of the five papers"
    assert not code.entropy_sign().is_gap
    assert code.aklu_bound().is_gap
    assert np.isnan(code.aklu_bound().share), "the code's divergence has no bound"
    assert not code.chosen_on_test(np.random.default_rng(0), 20).is_gap, "a setting, in the table of settings"


def test_what_the_paper_leaves_open_or_sets_otherwise_and_what_the_code_does_too_are_no_gaps() -> None:
    frame, levels = code.radgraph_levels()
    assert frame.loc["partial", "as released"] == levels.stated == pytest.approx(2 / 3)
    assert not levels.is_gap
    _, noise = code.label_noise(np.random.default_rng(0), 50)
    assert noise.released < noise.stated
    assert not noise.is_gap
    for shown in (code.labels_by_string, code.example_a1):  # DyGIE++'s converter keeps places; a setting
        _, contrast = shown()
        assert contrast.released != contrast.stated
        assert not contrast.is_gap
