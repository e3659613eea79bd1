"""The demonstrations of the page on papers and their code: what is kept, and which contrast is picked."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from radeval_lib.pages.across import paper_versus_code as code


def test_contrasts_are_kept_in_order_and_tabled() -> None:
    contrasts = code.Contrasts()
    contrasts.show("Reports", *code.shifted_pairs())
    contrasts.keep(code.report_counts())
    assert [one.shown(one.released) for one in contrasts] == ["4", "0.250", "79,790"]
    assert list(contrasts.table()["share of range"].isna()) == [True, False, True]
    assert contrasts[0].basis == "with the right pairs"


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
    found = code.gaps(pd.DataFrame(rows, columns=["whose", "difference", "share of range", "gap"]))
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
