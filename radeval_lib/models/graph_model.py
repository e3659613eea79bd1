"""A joint model of entities and relations: its network, its training data, and the graphs that it finds.

The model scores every span of up to ``max_width`` words as an entity, and every ordered pair of the spans
that it keeps as a relation, over one shared encoder. It follows DyGIE++ (Wadden et al. 2019), which
RadGraph's authors trained, in scoring spans and pruning them before pairs are formed, but has no propagation
over the graph and no coreference. Texts are read sentence by sentence or as a whole
(:data:`Unit`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pandas as pd

from radeval_lib.data.iob_tags import WordSpan
from radeval_lib.data.records import AnnotatedSentence, Entity, Relation, plain_words
from radeval_lib.models import batching
from radeval_lib.models.pretrained import ENCODER, fill, read_settings, save_checkpoint, weights

if TYPE_CHECKING:
    import torch
    from torch import Tensor


# Graphs over the words of a text, the units in which texts are read, and counts against gold graphs.


Unit = Literal["sentence", "text"]

MAX_WORDS = 200
"""A longer unit is cut into pieces of so many words; 512 pieces of words, an encoder's reach, hold them."""

_ENDS = (".", "!", "?")


class WordGraph(NamedTuple):
    """Entities and relations of a text.

    An entity is (first word, one past the last word, label); a relation is (head, tail, label), where head
    and tail are indices into ``entities``.
    """

    entities: tuple[WordSpan, ...] = ()
    relations: tuple[tuple[int, int, str], ...] = ()


def gold_graph(record: AnnotatedSentence) -> WordGraph:
    """Return the annotations of a record; a discontinuous entity extends from its first to its last word."""
    return WordGraph(
        tuple((entity.start, entity.end, entity.label) for entity in record.entities),
        tuple((relation.head, relation.tail, relation.label) for relation in record.relations),
    )


def units(words: Sequence[str], unit: Unit) -> list[tuple[int, int]]:
    """Return the beginning and end, in words, of each unit of a text; together the units cover it.

    A sentence ends with an exclamation or question mark, or with a full stop that is not between two
    numbers: RadGraph writes "2.5" as three words. What is longer than :data:`MAX_WORDS` is cut.
    """
    borders = [0]
    if unit == "sentence":
        for index, word in enumerate(words[:-1]):
            number = word == "." and words[index + 1][:1].isdigit() and index and words[index - 1].isdigit()
            if word in _ENDS and not number:
                borders.append(index + 1)
    borders.append(len(words))
    return [
        (cut, min(cut + MAX_WORDS, end))
        for start, end in pairwise(borders)
        for cut in range(start, end, MAX_WORDS)
    ]


def within(graph: WordGraph, start: int, end: int) -> WordGraph:
    """Return the part of a graph in ``[start, end)``, counted from ``start``; entities and relations that
    cross a border are dropped."""
    kept = [number for number, (a, b, _) in enumerate(graph.entities) if start <= a and b <= end]
    positions = {number: position for position, number in enumerate(kept)}
    return WordGraph(
        tuple((a - start, b - start, label) for a, b, label in (graph.entities[number] for number in kept)),
        tuple(
            (positions[head], positions[tail], label)
            for head, tail, label in graph.relations
            if head in positions and tail in positions
        ),
    )


def joined_units(
    texts: Sequence[Sequence[str]], unit: Unit, read: Callable[[list[tuple[str, ...]]], Sequence[WordGraph]]
) -> list[WordGraph]:
    """Return the graphs of texts, each joined from its units' graphs.

    ``read`` gets the distinct units of all texts, as tuples of words, and returns a graph for each.
    """
    parts = [units(words, unit) for words in texts]
    keys = [tuple(words[a:b]) for words, borders in zip(texts, parts, strict=True) for a, b in borders]
    graphs = iter(batching.of_distinct(keys, read))
    result = []
    for borders in parts:
        entities: list[WordSpan] = []
        relations: list[tuple[int, int, str]] = []
        for (start, _), part in zip(borders, graphs, strict=False):
            shift = len(entities)
            entities += [(start + a, start + b, label) for a, b, label in part.entities]
            relations += [(shift + head, shift + tail, label) for head, tail, label in part.relations]
        result.append(WordGraph(tuple(entities), tuple(relations)))
    return result


PARTS = ("entity", "relation", "strict")
"""What is counted: entities, relations, and relations whose ends must also have the right types."""


def counts(
    gold: WordGraph,
    predicted: WordGraph,
    entity_types: Sequence[str],
    relation_types: Sequence[str],
    max_width: int,
) -> list[dict[str, Any]]:
    """Return a text's counts by part and label, computed like DyGIE++ (repository at b55dec4,
    ``dygie/training``).

    An entity is right if its borders and its type are. A gold entity wider than the model's spans is left
    out, which helps recall; it is counted as ``unseen``. A relation is right if the borders of its head and
    its tail, its direction and its label are; types of the ends do not matter, except for ``strict`` (PURE's
    Rel+). Labels other than ``entity_types`` and ``relation_types`` are not counted. A span has one type and
    an ordered pair one relation: of several the last counts. Gold relations are all counted.
    """
    truth, guess = ({(a, b): kind for a, b, kind in graph.entities} for graph in (gold, predicted))
    links, predicted_links = (
        {(graph.entities[head][:2], graph.entities[tail][:2]): kind for head, tail, kind in graph.relations}
        for graph in (gold, predicted)
    )
    seen = {span: kind for span, kind in truth.items() if span[1] - span[0] <= max_width}
    right = {span: kind for span, kind in guess.items() if seen.get(span) == kind}
    linked = {pair: kind for pair, kind in predicted_links.items() if links.get(pair) == kind}
    strict = {pair: kind for pair, kind in linked.items() if all(guess[end] == truth[end] for end in pair)}
    wide = {span: kind for span, kind in truth.items() if span not in seen}
    parts: list[tuple[str, Sequence[str], tuple[dict[Any, str], ...]]] = [
        ("entity", entity_types, (right, guess, seen, wide)),
        ("relation", relation_types, (linked, predicted_links, links, {})),
        ("strict", relation_types, (strict, predicted_links, links, {})),
    ]
    columns = ("matched", "predicted", "gold", "unseen")
    return [
        {"part": part, "label": label}
        | {name: list(kinds.values()).count(label) for name, kinds in zip(columns, sets, strict=True)}
        for part, labels, sets in parts
        for label in labels
    ]


# The network.


_DISTANCES = 12  # words; spans further apart count as so far
_SPANS_PER_WORD = 0.5  # of a unit in training: how many are paired, at least the gold ones


@dataclass(frozen=True)
class GraphSettings:
    """Labels, and the sizes and training of the head.

    Attributes
    ----------
    entity_types, relation_types : labels, at least one of entities; class 0 of the logits is "none" in
        addition.
    unit : whether a sentence or a whole text is read at a time.
    max_width : words of the widest span that can be an entity.
    hidden, width_size : sizes of the head's layers and of its embedding of widths.
    dropout : in the layer of the spans' vectors and before the classifier of relations.
    frozen_layers : encoder layers from the bottom, the embeddings with them, that are not trained; 0 trains
        all.
    """

    entity_types: tuple[str, ...]
    relation_types: tuple[str, ...]
    unit: Unit = "sentence"
    max_width: int = 8
    hidden: int = 150
    width_size: int = 32
    dropout: float = 0.2
    frozen_layers: int = 0


def graph_module(encoder: Any, settings: GraphSettings) -> torch.nn.Module:
    """Return the encoder with its head.

    ``forward`` takes a batch of units as :meth:`GraphModel.collate` makes it: ``input_ids`` and
    ``attention_mask`` of shape (units, pieces); of shape (units, spans) ``starts`` and ``ends``, the first
    and last piece of each span, ``words``, its first word, ``widths``, its words less one, -1 in padding, and
    in training ``labels``, its class, :data:`batching.IGNORED` in padding; and in training ``relations`` of
    shape (gold relations, 4): unit, head span, tail span, class.

    It returns ``entities``, logits of shape (units, spans, types + 1); ``chosen``, the positions of the spans
    that were paired, shape (units, k), -1 if there are fewer; and ``pairs``, logits of shape (units, k, k,
    relations + 1), head before tail. With ``labels`` and ``relations`` it also returns ``loss``: the summed
    cross-entropy over spans and over pairs, each divided by the number of gold spans, so that batches of long
    and of short texts weigh alike.
    """
    import torch
    from torch import nn

    s = settings

    class GraphModule(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder
            size = int(encoder.config.hidden_size)
            head = {
                "first": nn.Linear(size, s.hidden),
                "last": nn.Linear(size, s.hidden),
                "widths": nn.Embedding(s.max_width, s.width_size),
                "width": nn.Linear(s.width_size, s.hidden, bias=False),
                "span": nn.Sequential(
                    nn.ReLU(), nn.Dropout(s.dropout), nn.Linear(s.hidden, s.hidden), nn.ReLU()
                ),
                "entity": nn.Linear(s.hidden, len(s.entity_types) + 1),
                "head": nn.Linear(s.hidden, s.hidden),
                "tail": nn.Linear(s.hidden, s.hidden, bias=False),
                "product": nn.Linear(s.hidden, s.hidden, bias=False),
                "distance": nn.Embedding(2 * _DISTANCES + 1, s.hidden),
                "pair": nn.Sequential(
                    nn.ReLU(), nn.Dropout(s.dropout), nn.Linear(s.hidden, len(s.relation_types) + 1)
                ),
            }
            self.head = nn.ModuleDict(head)

        def forward(
            self,
            input_ids: Tensor,
            attention_mask: Tensor,
            starts: Tensor,
            ends: Tensor,
            words: Tensor,
            widths: Tensor,
            labels: Tensor | None = None,
            relations: Tensor | None = None,
        ) -> dict[str, Tensor]:
            hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            rows = torch.arange(len(hidden), device=hidden.device).unsqueeze(1)
            first, last = self.head["first"](hidden), self.head["last"](hidden)
            width = self.head["width"](self.head["widths"](widths.clamp(min=0)))
            spans = self.head["span"](first[rows, starts] + last[rows, ends] + width)
            entities = self.head["entity"](spans)
            chosen = self._chosen(entities, words, widths, labels)
            paired, begins = spans[rows, chosen.clamp(min=0)], words[rows, chosen.clamp(min=0)]
            # A pair's vector: head, tail, their product, and the distance in words, clipped either way.
            apart = (begins.unsqueeze(2) - begins.unsqueeze(1)).clamp(-_DISTANCES, _DISTANCES) + _DISTANCES
            product = self.head["product"](paired.unsqueeze(2) * paired.unsqueeze(1))
            joint = self.head["head"](paired).unsqueeze(2) + self.head["tail"](paired).unsqueeze(1)
            pairs = self.head["pair"](joint + product + self.head["distance"](apart))
            output = {"entities": entities, "chosen": chosen, "pairs": pairs}
            if labels is not None and relations is not None:
                output["loss"] = self._loss(entities, pairs, chosen, labels, relations)
            return output

        def _chosen(self, entities: Tensor, words: Tensor, widths: Tensor, labels: Tensor | None) -> Tensor:
            """Return positions of the spans to pair: when training the gold ones and the likeliest others,
            else those that are more likely something than nothing."""
            margin = (entities[..., 1:].amax(-1) - entities[..., 0]).detach().float()
            margin = margin.masked_fill(widths < 0, -torch.inf)
            if labels is None:
                wanted = margin > 0
            else:
                margin = margin.masked_fill(labels > 0, torch.inf)
                gold = (labels > 0).sum(-1)
                length = words.amax(-1) + 1
                counts = torch.maximum(gold, (_SPANS_PER_WORD * length).ceil().long())
                # The argsort of an argsort is the rank: gold spans come first, padding last.
                order = margin.argsort(dim=-1, descending=True, stable=True).argsort(dim=-1)
                wanted = (order < counts.unsqueeze(-1)) & (widths >= 0)
            # Positions of the wanted spans, in order, on the left of each row; -1 behind them.
            most = int(wanted.sum(-1).max())
            places = torch.arange(wanted.shape[1], device=wanted.device).expand_as(wanted)
            first = places.masked_fill(~wanted, wanted.shape[1]).sort(-1).values[:, :most]
            return first.masked_fill(first == wanted.shape[1], -1)

        def _loss(
            self, entities: Tensor, pairs: Tensor, chosen: Tensor, labels: Tensor, relations: Tensor
        ) -> Tensor:
            """Return the loss that ``forward`` returns. A pair of chosen spans without a gold relation is of
            class 0; padding, and a span with itself, do not count."""
            wanted = torch.zeros(pairs.shape[:3], dtype=torch.long, device=pairs.device)
            absent = chosen < 0
            empty = absent.unsqueeze(2) | absent.unsqueeze(1)
            itself = torch.eye(wanted.shape[1], dtype=torch.bool, device=pairs.device)
            wanted = wanted.masked_fill(empty | itself, batching.IGNORED)
            if len(relations):
                unit, head, tail, kind = relations.unbind(-1)
                places = [(chosen[unit] == span.unsqueeze(1)).long().argmax(-1) for span in (head, tail)]
                wanted[unit, places[0], places[1]] = kind
            entropy = nn.CrossEntropyLoss(ignore_index=batching.IGNORED, reduction="sum")
            first = entropy(entities.flatten(0, 1).float(), labels.flatten())
            second = entropy(pairs.flatten(0, 2).float(), wanted.flatten())
            return (first + second) / (labels > 0).sum().clamp(min=1)

    return GraphModule()


SETTINGS = "graph_model.json"
_HEAD = "graph_head.safetensors"


class GraphModel:
    """The joint model over any encoder, to be trained on annotated records (a
    :class:`~radeval_lib.models.training.Task`)."""

    new_layers = ("head.",)

    def __init__(self, init_model: str | Path, settings: GraphSettings) -> None:
        from transformers import AutoModel, AutoTokenizer

        self.settings = settings
        self.tokenizer: Any = batching.fast_tokenizer(AutoTokenizer, init_model)
        self.module: Any = graph_module(weights(AutoModel, init_model, ENCODER), settings)
        if settings.frozen_layers:
            encoder: Any = self.module.encoder
            for number, layer in enumerate([encoder.embeddings, *encoder.encoder.layer]):
                layer.requires_grad_(number > settings.frozen_layers)
        self._entity = {kind: index + 1 for index, kind in enumerate(settings.entity_types)}
        self._relation = {kind: index + 1 for index, kind in enumerate(settings.relation_types)}

    @classmethod
    def load(cls, folder: str | Path, *, device: str = "auto") -> GraphModel:
        """Return the model that :meth:`save` wrote, ready to predict; raises :class:`ModelError` for any
        other checkpoint."""
        where = Path(folder)
        model = cls(where, read_settings(where / SETTINGS, GraphSettings))
        fill(model.module.head, where / _HEAD)
        model.module.eval().to(batching.device_of(device))
        return model

    def save(self, folder: str | Path) -> None:
        """Write safetensors weights, configuration and tokenizer."""
        parts = {_HEAD: self.module.head, SETTINGS: self.settings}
        save_checkpoint(folder, self.module.encoder, self.tokenizer, parts)

    def example(self, record: AnnotatedSentence) -> dict[str, Any]:
        """Return an annotated record in the module's form, see :meth:`encoded`."""
        return self.encode(plain_words(record), gold_graph(record))

    def measure(self, records: Sequence[AnnotatedSentence]) -> dict[str, float]:
        """Return ``entity_f1``, ``relation_f1`` and ``strict_f1`` (micro, see :func:`tally`), and ``f1``, the
        mean of the first two. All are 0 if there is nothing to find and nothing is found."""
        sums = tally(self, records).groupby("part")[["matched", "predicted", "gold"]].sum()
        sums = sums.reindex(PARTS, fill_value=0)
        f1 = (2 * sums["matched"] / (sums["predicted"] + sums["gold"]).clip(lower=1)).to_dict()
        return {"f1": (f1["entity"] + f1["relation"]) / 2, **{f"{part}_f1": f1[part] for part in PARTS}}

    def encode(self, words: Sequence[str], graph: WordGraph) -> dict[str, Any]:
        """Return a unit as the module's numbers. Spans that the model cannot see are left out with their
        relations; the last of several entities with one span counts, or of several relations of one pair."""
        (row,) = batching.span_rows(self.tokenizer, [words], self.settings.max_width)
        spans = list(zip(row["words"], row["widths"], strict=True))
        number_of = {(start, start + width + 1): number for number, (start, width) in enumerate(spans)}
        labels = [0] * len(spans)
        for start, end, kind in graph.entities:
            if (start, end) in number_of and kind in self._entity:
                labels[number_of[start, end]] = self._entity[kind]
        seen = [number_of.get((start, end), -1) for start, end, _ in graph.entities]
        relations: dict[tuple[int, int], int] = {}
        for head, tail, kind in graph.relations:
            pair = seen[head], seen[tail]
            typed = min(pair) >= 0 and pair[0] != pair[1] and all(labels[span] for span in pair)
            if typed and kind in self._relation:
                relations[pair] = self._relation[kind]
        return {**row, "labels": labels, "relations": [[*pair, kind] for pair, kind in relations.items()]}

    def collate(self, rows: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        """Return a padded batch of units; ``widths`` is -1 for padding."""
        import torch

        padding = {"starts": 0, "ends": 0, "words": 0, "widths": -1, "labels": batching.IGNORED}
        batch = batching.span_batch(self.tokenizer, rows, padding)
        if "relations" in rows[0]:
            relations = [[number, *link] for number, row in enumerate(rows) for link in row["relations"]]
            batch["relations"] = torch.tensor(relations, dtype=torch.long).reshape(-1, 4)
        return batch

    def predict(self, texts: Sequence[Sequence[str]]) -> list[WordGraph]:
        """Return the graphs of texts given as words; each distinct unit is read once."""
        return joined_units(texts, self.settings.unit, self.predict_units)

    def predict_units(self, texts: Sequence[tuple[str, ...]]) -> list[WordGraph]:
        """Return the graph of each unit, in batches of similar length."""
        rows = batching.span_rows(self.tokenizer, texts, self.settings.max_width)

        def graphs(batch: list[int], device: Any) -> Iterator[WordGraph]:
            inputs = self.collate([rows[index] for index in batch])
            output = self.module(**{key: value.to(device) for key, value in inputs.items()})
            kinds = output["entities"].argmax(-1).tolist()
            chosen, links = output["chosen"].tolist(), output["pairs"].argmax(-1).tolist()
            return map(self._graph, (rows[index] for index in batch), kinds, chosen, links)

        return batching.in_batches(self.module, [len(row["input_ids"]) for row in rows], graphs)

    def _graph(
        self, row: dict[str, Any], kinds: list[int], chosen: list[int], links: list[list[int]]
    ) -> WordGraph:
        """Return the graph of one unit.

        ``row`` is its :func:`~radeval_lib.models.batching.span_rows`; ``kinds`` has the likeliest class of
        each span, ``links`` of each pair of chosen spans, shape (k, k).
        """
        entities = []
        for span in (span for span in chosen if span >= 0):
            start, width = row["words"][span], row["widths"][span]
            entities.append((start, start + width + 1, self.settings.entity_types[kinds[span] - 1]))
        relations = [
            (head, tail, self.settings.relation_types[links[head][tail] - 1])
            for head, tail in permutations(range(len(entities)), 2)
            if links[head][tail]
        ]
        return WordGraph(tuple(entities), tuple(relations))


def tally(model: GraphModel, records: Sequence[AnnotatedSentence]) -> pd.DataFrame:
    """Return counts of a model's predictions on annotated records.

    Returns
    -------
    DataFrame
        One row per record, part and label, zeros included: ``case`` (the record's id), ``group``, ``part``
        (:data:`PARTS`), ``label``, ``matched``, ``predicted``, ``gold``, and ``unseen``, gold entities that
        are wider than the model's spans and not among ``gold``.
    """
    predicted = model.predict([plain_words(record) for record in records])
    s = model.settings
    rows = [
        {"case": record.id, "group": record.group, **row}
        for record, graph in zip(records, predicted, strict=True)
        for row in counts(gold_graph(record), graph, s.entity_types, s.relation_types, s.max_width)
    ]
    columns = ("case", "group", "part", "label", "matched", "predicted", "gold", "unseen")
    return pd.DataFrame(rows, columns=columns)


def new_model(
    init_model: str | Path, corpus: Iterable[AnnotatedSentence], seed: int, **head: Any
) -> GraphModel:
    """Return an untrained model.

    Parameters
    ----------
    init_model : folder or name of the encoder from which it starts.
    corpus : its training data, from which it takes the labels.
    seed : of the head's weights.
    head : fields of :class:`~radeval_lib.models.graph_model.GraphSettings` other than the labels.
    """
    rows = list(corpus)
    entities = tuple(sorted({entity.label for row in rows for entity in row.entities}))
    relations = tuple(sorted({relation.label for row in rows for relation in row.relations}))
    with batching.seeded(seed):
        return GraphModel(init_model, GraphSettings(entities, relations, **head))


def unit_records(records: Iterable[AnnotatedSentence], unit: Unit) -> list[AnnotatedSentence]:
    """Return records of one unit each: a model that reads sentences learns from sentences. Entities and
    relations that cross a border are left out; the model's ``measure`` counts them as missed."""
    parts = []
    for record in records:
        for number, (start, end) in enumerate(units(plain_words(record), unit)):
            part = within(gold_graph(record), start, end)
            parts.append(
                replace(
                    record,
                    id=f"{record.id}/{number}",
                    tokens=record.tokens[start:end],
                    entities=tuple(Entity(*entity) for entity in part.entities),
                    relations=tuple(Relation(*relation) for relation in part.relations),
                )
            )
    return parts
