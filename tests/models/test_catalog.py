"""The manifests of pretrained models: all sixteen of RaLEs, Table 2, those that `full` names beside them, and
one line for what is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from radeval_lib.cli import main
from radeval_lib.models import catalog, derived, pretrained
from radeval_lib.papers.printed_numbers import printed
from radeval_lib.pipeline import engine, steps


def test_has_the_models_of_table_2() -> None:
    table = printed("rales.table2").set_index("model")
    cards = {card.title: card for card in catalog.list_cards()}
    for title in table.index:
        assert cards[title].parameters_millions == int(table.loc[title, "value"]), title
        assert cards[title].domain == table.loc[title, "domain"], title


def test_every_hub_model_of_full_is_described_and_all_but_one_pinned() -> None:
    named = engine.find_hub_models(steps.graph("full"))
    assert set(named) <= {card.hub for card in catalog.list_cards()}
    assert [name for name in named if catalog.find_revision(name) is None] == ["UFNLP/gatortron-base"]


def test_a_hub_model_is_loaded_at_its_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretrained, "can_reach_hub", lambda: True)

    class Factory:
        given: dict[str, Any]

        @classmethod
        def from_pretrained(cls, name: str, **settings: Any) -> str:
            cls.given = settings
            return name

    pretrained.load_pretrained(Factory, "StanfordAIMI/RadBERT")
    assert Factory.given == {"trust_remote_code": False, "revision": "refs/pr/2"}
    pretrained.load_pretrained(Factory, "someone/else")
    assert "revision" not in Factory.given


def test_status_lists_every_model() -> None:
    result = CliRunner().invoke(main, ["models", "status"])
    assert result.exit_code == 0
    assert len(result.output.splitlines()) == len(catalog.list_manifests())
    assert "StanfordAIMI/RadBERT refs/pr/2\n" in result.output  # what `hf download` is to be given
    assert "refs/pr/2" in CliRunner().invoke(main, ["models", "status", "radbert_1"]).output
    unknown = CliRunner().invoke(main, ["models", "status", "gpt"])
    assert unknown.exit_code == 2
    assert "gatortron" in unknown.output


def test_a_revision_behind_the_name_is_the_one_that_is_loaded() -> None:
    described = next(card for card in catalog.list_cards() if card.pinned_revision)
    assert catalog.find_revision(described.hub) == described.pinned_revision
    assert catalog.find_revision(f"{described.hub}@abc") == "abc"
    assert catalog.find_revision("owner/name@v1.0") == "v1.0"
    assert derived.find_revision("owner/name") == "unpinned"
    assert derived.find_revision(f"untrained:{described.hub}") == described.pinned_revision
    assert {derived.find_revision(name) for name in ("packaged-minilm", "rules", "radgraph:radgraph")} == {""}
    assert derived.find_revision("http://127.0.0.1:8000/v1#name") == ""
