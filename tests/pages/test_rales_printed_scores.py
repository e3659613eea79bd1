"""What several pages read of the printed NLU scores."""

import pytest

from notebooks.rales import printed_scores
from radeval_lib.papers.printed_numbers import paper


def test_every_model_with_a_score_has_its_domain_and_size() -> None:
    scores = printed_scores.nlu_scores().set_index("model")
    assert len(scores) == len(printed_scores.models()) == 16
    row = scores.loc["GatorTron"]
    assert (row["domain"], row["million parameters"]) == ("Clinical", 345)
    assert scores["domain"].isin(printed_scores.domains()).all()


def test_each_setting_has_the_averages_of_its_own_table() -> None:
    long = printed_scores.by_share()
    assert long.groupby("labels").size().to_dict() == dict.fromkeys(printed_scores.ORDER, 16)
    assert set(printed_scores.ORDER) == set(printed_scores.SETTINGS)
    assert {table for table, _ in printed_scores.SETTINGS.values()} <= set(paper("rales")["tables"])
    bert = long[long["model"] == "BERT_base"].set_index("labels")["printed"]
    assert bert["100%"] != bert["1%"]


def test_a_size_that_the_figure_plots_otherwise_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    assert printed_scores.sizes_as_plotted().outcome == "holds"
    changed = printed_scores.models().assign(value=lambda table: table["value"] + 1)
    monkeypatch.setattr(printed_scores, "models", lambda: changed)
    assert printed_scores.sizes_as_plotted().outcome == "fails"
