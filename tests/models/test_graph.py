"""The joint model of entities and relations: units, examples, training, counting, and extraction."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from radeval_lib.data.errors import FormatError
from radeval_lib.data.records import AnnotatedSentence, Entity, Relation
from radeval_lib.data.roles import load
from radeval_lib.errors import ModelError
from radeval_lib.models.graph_extraction import ModelExtractor, RecordedGraphs, open_extractor
from radeval_lib.models.graph_model import (
    GraphModel,
    GraphSettings,
    WordGraph,
    count_matches,
    cut_graph,
    make_graph_model,
    read_by_units,
    read_graph,
    split_into_units,
    split_units,
    tally_matches,
)
from radeval_lib.models.training import TrainingSettings, train

pytestmark = pytest.mark.usefixtures("one_thread")

TINY = Path(__file__).resolve().parents[1] / "reference" / "ratescore" / "tiny_ner"
SMALL: dict[str, Any] = {"hidden": 48, "width_size": 8}


@pytest.fixture(scope="module")
def corpus() -> list[AnnotatedSentence]:
    return load("graph_corpus", "synthetic", size=60, seed=3, root=None)


# --- units ---


def test_sentences_end_where_no_number_follows() -> None:
    words = ["Nodule", "of", "2", ".", "5", "cm", ".", "No", "edema", "!", "1", ".", "Clear"]
    sentences = [" ".join(words[a:b]) for a, b in split_units(words, "sentence")]
    assert sentences == ["Nodule of 2 . 5 cm .", "No edema !", "1 .", "Clear"]
    assert split_units(words, "text") == [(0, len(words))]
    assert split_units([], "sentence") == []


def test_graphs_are_cut_and_joined_again() -> None:
    words = ["mild", "edema", ".", "no", "effusion", "."]
    graph = WordGraph(
        ((0, 1, "OBS-DP"), (1, 2, "OBS-DP"), (4, 5, "OBS-DA")), ((0, 1, "modify"), (2, 1, "suggestive_of"))
    )
    parts = {tuple(words[a:b]): cut_graph(graph, a, b) for a, b in split_units(words, "sentence")}
    assert parts["no", "effusion", "."] == WordGraph(((1, 2, "OBS-DA"),))
    joined = read_by_units([words], "sentence", lambda wanted: [parts[key] for key in wanted])[0]
    assert joined == graph._replace(relations=graph.relations[:1])  # the other crosses sentences


# --- model ---


def test_an_example_has_every_span_and_every_gold_pair() -> None:
    settings = GraphSettings(("A", "B"), ("r", "s"), max_width=2, **SMALL)
    model = GraphModel(TINY, settings)
    graph = WordGraph(((0, 1, "A"), (1, 3, "B"), (0, 3, "A")), ((1, 0, "s"), (0, 2, "r"), (0, 0, "r")))
    example = model.encode(["mild", "edema", "seen"], graph)
    spans = [(a, a + n) for a, n in zip(example["first_words"], example["word_counts"], strict=True)]
    assert spans == [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    assert example["labels"] == [1, 0, 0, 2, 0]  # the span of three words is out of reach
    assert example["relations"] == [[3, 0, 2]]  # (1, 3) to (0, 1); none with the wide span, none with itself


def test_the_loss_by_hand() -> None:
    """With all logits 0 the cross-entropy of each span is log 3, of each ordered pair log 2."""
    settings = GraphSettings(("A", "B"), ("r",), max_width=1, **SMALL)
    model = GraphModel(TINY, settings)
    for name in ("entity", "pair"):
        layer = model.module.head[name]
        for value in (layer if name == "entity" else layer[-1]).parameters():
            torch.nn.init.zeros_(value)
    rows = [
        model.encode(["a", "b", "c", "d"], WordGraph(((0, 1, "A"), (3, 4, "B")), ((0, 1, "r"),))),
        model.encode(["a"], WordGraph()),
    ]
    loss = float(model.module(**model.collate(rows))["loss"].detach())
    # Spans: 4 and 1. Pairs: two spans of the first text are paired, both ways; of the second text one, alone.
    expected = (5 * torch.log(torch.tensor(3.0)) + 2 * torch.log(torch.tensor(2.0))) / 2
    assert loss == pytest.approx(float(expected), rel=1e-5)


def test_training_learns_and_is_kept(corpus: list[AnnotatedSentence], tmp_path: Path) -> None:
    model = make_graph_model(TINY, corpus, seed=1, **SMALL)
    train_set = split_into_units(corpus[:40], "sentence")
    before = model.measure(corpus[40:50])["f1"]
    settings = TrainingSettings(
        learning_rate=4e-3, batch_size=16, epochs=5, device="cpu", seed=1, by_length=True, patience=9
    )
    trained = train(model, train_set, corpus[40:50], settings)
    assert trained.best["f1"] > max(0.3, before)
    assert trained.best["strict_f1"] <= trained.best["relation_f1"]
    model.save(tmp_path)
    assert not list(tmp_path.glob("*.bin"))
    words = [[str(token) for token in record.tokens] for record in corpus[50:55]]
    loaded = GraphModel.load(tmp_path, device="cpu")
    assert loaded.predict(words) == model.predict(words)
    assert loaded.predict([*words, words[0], []]) == [
        *(loaded.predict([row])[0] for row in words),
        loaded.predict(words)[0],
        WordGraph(),
    ]


# --- counting ---


def _sums(rows: list[dict[str, Any]], part: str) -> tuple[int, ...]:
    chosen = [row for row in rows if row["part"] == part]
    return tuple(sum(row[name] for row in chosen) for name in ("matched", "predicted", "gold", "unseen"))


def test_counts_by_hand() -> None:
    gold = WordGraph(((0, 1, "A"), (2, 3, "B"), (4, 14, "B")), ((0, 1, "r"), (1, 0, "s"), (0, 2, "r")))
    predicted = WordGraph(((0, 1, "A"), (2, 3, "A"), (6, 7, "B")), ((0, 1, "r"), (1, 0, "r"), (2, 0, "s")))
    rows = count_matches(gold, predicted, ("A", "B"), ("r", "s"), max_width=8)
    assert _sums(rows, "entity") == (1, 3, 2, 1)  # the span of ten words is left out of the gold entities
    assert _sums(rows, "relation") == (1, 3, 3, 0)  # but its relation is not
    assert _sums(rows, "strict") == (0, 3, 3, 0)  # the tail of the right one has the wrong type
    by_label = {(row["part"], row["label"]): row["matched"] for row in rows}
    assert by_label["entity", "A"] == 1
    assert by_label["relation", "s"] == 0


def test_relations_across_sentences_are_missed_not_dropped() -> None:
    record = AnnotatedSentence(
        "a",
        ("Edema", ".", "Likely", "failure"),
        (Entity(0, 1, "A"), Entity(3, 4, "A")),
        (Relation(0, 1, "r"),),
    )
    assert [len(row.relations) for row in split_into_units([record], "sentence")] == [0, 0]
    model = make_graph_model(TINY, [record], 0, **SMALL)
    table = tally_matches(model, [record]).groupby("part")["gold"].sum()
    assert (table["entity"], table["relation"]) == (2, 1)
    assert read_graph(record).relations == ((0, 1, "r"),)


# --- extraction ---


@pytest.fixture
def folder(tmp_path: Path, corpus: list[AnnotatedSentence]) -> Path:
    make_graph_model(TINY, corpus, seed=1, **SMALL).save(tmp_path)
    return tmp_path


def test_extraction_reads_each_text_alone_as_among_others(
    folder: Path, corpus: list[AnnotatedSentence]
) -> None:
    extractor = open_extractor(folder, device="cpu")
    assert isinstance(extractor, ModelExtractor)
    texts = [" ".join(str(token) for token in record.tokens) for record in corpus[:8]]
    together = extractor.annotate([*texts, texts[0], ""])
    assert together[:8] == [open_extractor(folder, device="cpu").annotate([text])[0] for text in texts]
    assert together[8] == together[0]
    assert together[9] == {"text": "", "entities": {}, "data_source": None, "data_split": "inference"}


def test_recorded_graphs_are_found_by_their_words(tmp_path: Path) -> None:
    entity: dict[str, Any] = {"tokens": "edema", "label": "OBS-DA", "start_ix": 1, "end_ix": 1}
    item = {"text": "No edema .", "entities": {"1": {**entity, "relations": []}}}
    path = tmp_path / "graphs.json"
    path.write_text(json.dumps({"a": item}), encoding="utf-8")
    extractor = open_extractor(path)
    assert isinstance(extractor, RecordedGraphs)
    assert [len(graph["entities"]) for graph in extractor.annotate(["No edema.", ""])] == [1, 0]
    with pytest.raises(ModelError):
        extractor.annotate(["No edema.", "Other text"])
    path.write_text(json.dumps({"a": item, "b": {"text": "No edema. ", "entities": {}}}), encoding="utf-8")
    with pytest.raises(ModelError):  # a text that is annotated in two ways
        open_extractor(path)
    item["entities"]["1"]["end_ix"] = 7
    path.write_text(json.dumps({"a": item}), encoding="utf-8")
    with pytest.raises(FormatError):
        open_extractor(path)


def test_the_package_is_used_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in with the package's calls and output; it skips a text that it cannot read, as the package
    does."""

    weights = {"scorer.weight": torch.randn(2, 3)}

    class RadGraph:
        def __init__(self, model_type: str, cuda: int) -> None:
            assert (model_type, cuda) == ("radgraph-xl", -1)

        def state_dict(self) -> dict[str, torch.Tensor]:
            return weights

        def __call__(self, texts: Sequence[str]) -> dict[str, Any]:
            assert all(texts)
            entity = {"tokens": "edema", "label": "OBS-DP", "start_ix": 0, "end_ix": 0, "relations": []}
            return {
                str(number): {"text": text, "entities": {"1": entity}}
                for number, text in enumerate(texts)
                if text != "too long"
            }

    with pytest.raises(ModelError):
        open_extractor("radgraph:radgraph-xl")
    module = ModuleType("radgraph")
    module.RadGraph = RadGraph  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "radgraph", module)
    module.__spec__ = __import__("importlib").machinery.ModuleSpec("radgraph", None)
    loading = ModuleType("radgraph.allennlp.common.cached_transformers")
    loading.get_tokenizer = None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, loading.__name__, loading)
    extractor = open_extractor("radgraph:radgraph-xl", device="cpu")
    graphs = extractor.annotate(["edema seen", "", "edema seen"])
    assert [len(item["entities"]) for item in graphs] == [1, 0, 1]
    with pytest.raises(ModelError):
        extractor.annotate(["edema seen", "too long"])
    with pytest.raises(ModelError):
        open_extractor("radgraph:other")
    weights["scorer.weight"] /= 0
    with pytest.raises(ModelError):
        open_extractor("radgraph:radgraph-xl", device="cpu")
