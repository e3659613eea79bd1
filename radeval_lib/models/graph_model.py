"""Predict RadGraph-like graphs with a joint model of entities and relations.

On one shared encoder, the model scores every span of up to ``max_width`` words as an entity, keeps some
spans, and scores every ordered pair of these as a relation. Like DyGIE++ (Wadden et al. 2019), which
RadGraph's authors trained, it prunes spans before it forms pairs; unlike DyGIE++, it has no propagation over
the graph and no coreference. It reads texts sentence by sentence or as a whole (:data:`Unit`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pandas as pd

from radeval_lib.data.iob_tags import WordSpan
from radeval_lib.data.records import AnnotatedSentence, Entity, Relation, reveal_tokens
from radeval_lib.models import batching
from radeval_lib.models.pretrained import ENCODER, load_model, load_weights, read_settings, save_checkpoint

if TYPE_CHECKING:
    import torch
    from torch import Tensor


# Graphs over the words of a text, the units in which texts are read, and comparison with gold graphs.


Unit = Literal["sentence", "text"]
"""The part of a text that the model reads at once: a sentence, or the whole text."""

MAX_WORDS = 200
"""Maximum number of words in a unit; longer units are split. So many words usually have fewer than the 512
tokens that an encoder reads."""

_SENTENCE_ENDS = (".", "!", "?")


class WordGraph(NamedTuple):
    """Entities and relations of a text.

    Attributes
    ----------
    entities : (start, end, label) of each entity; ``start`` is the index of its first word, ``end`` one past
        that of its last word.
    relations : (head, tail, label) of each relation; head and tail are indices into ``entities``.
    """

    entities: tuple[WordSpan, ...] = ()
    relations: tuple[tuple[int, int, str], ...] = ()


def read_graph(record: AnnotatedSentence) -> WordGraph:
    """Return the annotated graph of a record; a discontinuous entity extends from its first to its last
    word."""
    return WordGraph(
        tuple((entity.start, entity.end, entity.label) for entity in record.entities),
        tuple((relation.head, relation.tail, relation.label) for relation in record.relations),
    )


def split_units(words: Sequence[str], unit: Unit) -> list[tuple[int, int]]:
    """Return (start, end) of the units of a text: its sentences, or the whole text.

    ``start`` is the index of a unit's first word, ``end`` one past that of its last word; together, the units
    cover the text. A text without words has no units.

    A sentence ends with an exclamation or question mark, or with a full stop that is not between two numbers
    (RadGraph writes "2.5" as three words). Units of more than :data:`MAX_WORDS` words are split.
    """
    bounds = [0]
    if unit == "sentence":
        for index, word in enumerate(words[:-1]):
            previous_word, next_word = words[max(0, index - 1)], words[index + 1]
            is_decimal_point = word == "." and previous_word.isdigit() and next_word[:1].isdigit()
            if word in _SENTENCE_ENDS and not is_decimal_point:
                bounds.append(index + 1)
    bounds.append(len(words))
    return [
        (first, min(first + MAX_WORDS, end))
        for start, end in pairwise(bounds)
        for first in range(start, end, MAX_WORDS)
    ]


def cut_graph(graph: WordGraph, start: int, end: int) -> WordGraph:
    """Return the part of a graph in the words from ``start`` (inclusive) to ``end`` (exclusive).

    In the returned graph, words are counted from ``start``. Entities that are not entirely within these words
    are left out, with their relations.
    """
    indices = [index for index, (a, b, _) in enumerate(graph.entities) if start <= a and b <= end]
    new_indices = {old: new for new, old in enumerate(indices)}
    return WordGraph(
        tuple((a - start, b - start, label) for a, b, label in (graph.entities[index] for index in indices)),
        tuple(
            (new_indices[head], new_indices[tail], label)
            for head, tail, label in graph.relations
            if head in new_indices and tail in new_indices
        ),
    )


def read_by_units(
    texts: Sequence[Sequence[str]], unit: Unit, read: Callable[[list[tuple[str, ...]]], Sequence[WordGraph]]
) -> list[WordGraph]:
    """Return the graph of each text, combined from the graphs of its units.

    Parameters
    ----------
    texts : the words of each text.
    unit : whether units are sentences or whole texts (:func:`split_units`).
    read : function of a list of distinct units, each a tuple of words, that returns a graph for each; it is
        called once for all texts.
    """
    bounds_by_text = [split_units(words, unit) for words in texts]
    unit_words = [
        tuple(words[a:b]) for words, bounds in zip(texts, bounds_by_text, strict=True) for a, b in bounds
    ]
    unit_graphs = iter(batching.map_distinct(unit_words, read))
    graphs = []
    for bounds in bounds_by_text:
        entities: list[WordSpan] = []
        relations: list[tuple[int, int, str]] = []
        for (start, _), graph in zip(bounds, unit_graphs, strict=False):
            shift = len(entities)
            entities += [(start + a, start + b, label) for a, b, label in graph.entities]
            relations += [(shift + head, shift + tail, label) for head, tail, label in graph.relations]
        graphs.append(WordGraph(tuple(entities), tuple(relations)))
    return graphs


PARTS = ("entity", "relation", "strict")
"""The counted parts of a graph; ``strict`` counts relations, but requires correct types of head and tail."""


def count_matches(
    gold: WordGraph,
    predicted: WordGraph,
    entity_types: Sequence[str],
    relation_types: Sequence[str],
    max_width: int,
) -> list[dict[str, Any]]:
    """Count the entities and relations of a text's predicted graph that match its gold graph.

    An entity matches if its boundaries and its type are correct. A relation matches if its label, its
    direction and the boundaries of its head and tail are correct; for ``strict``, the types of head and tail
    must be correct, too (PURE's Rel+). Of several entities of one span, or relations of one ordered pair,
    only the last counts.

    Like DyGIE++ (repository at b55dec4, ``dygie/training``), this function leaves out gold entities of more
    than ``max_width`` words, which the model cannot find, and so overestimates recall. All gold relations are
    counted.

    Parameters
    ----------
    gold, predicted : the two graphs of the text.
    entity_types, relation_types : labels for which a row is returned.
    max_width : maximum number of words in an entity that the model can find.

    Returns
    -------
    list of dict
        One row per part of :data:`PARTS` and label, with the keys ``part``, ``label`` (of ``entity_types``
        for the part ``entity``, else of ``relation_types``) and the counts ``matched``, ``predicted``,
        ``gold`` and ``unseen`` (gold entities that are left out; 0 for relations).
    """
    truth, guess = ({(a, b): kind for a, b, kind in graph.entities} for graph in (gold, predicted))
    gold_links, predicted_links = (
        {(graph.entities[head][:2], graph.entities[tail][:2]): kind for head, tail, kind in graph.relations}
        for graph in (gold, predicted)
    )
    narrow_gold = {span: kind for span, kind in truth.items() if span[1] - span[0] <= max_width}
    matched = {span: kind for span, kind in guess.items() if narrow_gold.get(span) == kind}
    matched_links = {pair: kind for pair, kind in predicted_links.items() if gold_links.get(pair) == kind}
    strict_links = {
        pair: kind for pair, kind in matched_links.items() if all(guess[end] == truth[end] for end in pair)
    }
    wide_gold = {span: kind for span, kind in truth.items() if span not in narrow_gold}
    parts: list[tuple[str, Sequence[str], tuple[dict[Any, str], ...]]] = [
        ("entity", entity_types, (matched, guess, narrow_gold, wide_gold)),
        ("relation", relation_types, (matched_links, predicted_links, gold_links, {})),
        ("strict", relation_types, (strict_links, predicted_links, gold_links, {})),
    ]
    columns = ("matched", "predicted", "gold", "unseen")
    return [
        {"part": part, "label": label}
        | {name: list(kinds.values()).count(label) for name, kinds in zip(columns, mappings, strict=True)}
        for part, labels, mappings in parts
        for label in labels
    ]


# The network.


_MAX_DISTANCE = 12  # in words, between two spans; larger distances have the same embedding
_SPANS_PER_WORD = 0.5  # number of spans to pair in training, per word of a unit; gold spans are always paired


@dataclass(frozen=True)
class GraphSettings:
    """Labels of a graph model, and settings of its network and training.

    Attributes
    ----------
    entity_types, relation_types : labels; at least one entity type. Class 0 of the logits is "none", class i
        is ``entity_types[i - 1]`` or ``relation_types[i - 1]``.
    unit : whether the model reads a sentence or a whole text at a time.
    max_width : maximum number of words in an entity.
    hidden : size of the head's layers.
    width_size : size of the head's embedding of a span's width.
    dropout : dropout probability in the layer of the spans' vectors and before the relation classifier.
    frozen_layers : number of the encoder's lowest layers that are not trained. If it is above 0, the
        embeddings are not trained, either.
    """

    entity_types: tuple[str, ...]
    relation_types: tuple[str, ...]
    unit: Unit = "sentence"
    max_width: int = 8
    hidden: int = 150
    width_size: int = 32
    dropout: float = 0.2
    frozen_layers: int = 0


def build_graph_module(encoder: Any, settings: GraphSettings) -> torch.nn.Module:
    """Return a module that consists of the encoder and a new head.

    The module's ``forward`` takes a batch of :meth:`GraphModel.collate`:

    - ``input_ids`` and ``attention_mask``, shape (units, tokens);
    - ``first_pieces`` and ``last_pieces``, the positions of each span's first and last token among the tokens
      of its unit, shape (units, spans), 0 in padding;
    - ``first_words``, the index of each span's first word in its unit, and ``word_counts``, the span's number
      of words, both of shape (units, spans), 0 in padding;
    - for training, ``labels``, the class of each span, shape (units, spans),
      :data:`~radeval_lib.models.batching.IGNORED` in padding;
    - for training, ``relations``, shape (gold relations, 4): index of the unit, of the head's span and of the
      tail's span, and class.

    Class 0 of a span or pair is "none"; class i is ``settings.entity_types[i - 1]`` or
    ``settings.relation_types[i - 1]``.

    ``forward`` returns a dictionary with ``entities``, logits of shape (units, spans, entity types + 1);
    ``chosen``, the indices of the k spans that are paired, shape (units, k), -1 in padding; and ``pairs``,
    logits of shape (units, k, k, relation types + 1), with the head's position before the tail's. With
    ``labels`` and ``relations``, it also has ``loss``: the cross-entropy summed over spans and pairs, divided
    by the number of gold spans (by 1 if there are none), so that batches of long and short texts have similar
    weight.
    """
    import torch
    from torch import nn

    class GraphModule(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder
            size, hidden, dropout = int(encoder.config.hidden_size), settings.hidden, settings.dropout
            head = {
                "first": nn.Linear(size, hidden),
                "last": nn.Linear(size, hidden),
                "widths": nn.Embedding(settings.max_width, settings.width_size),
                "width": nn.Linear(settings.width_size, hidden, bias=False),
                "span": nn.Sequential(nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, hidden), nn.ReLU()),
                "entity": nn.Linear(hidden, len(settings.entity_types) + 1),
                "head": nn.Linear(hidden, hidden),
                "tail": nn.Linear(hidden, hidden, bias=False),
                "product": nn.Linear(hidden, hidden, bias=False),
                "distance": nn.Embedding(2 * _MAX_DISTANCE + 1, hidden),
                "pair": nn.Sequential(
                    nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, len(settings.relation_types) + 1)
                ),
            }
            self.head = nn.ModuleDict(head)

        def forward(
            self,
            input_ids: Tensor,
            attention_mask: Tensor,
            first_pieces: Tensor,
            last_pieces: Tensor,
            first_words: Tensor,
            word_counts: Tensor,
            labels: Tensor | None = None,
            relations: Tensor | None = None,
        ) -> dict[str, Tensor]:
            hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            rows = torch.arange(len(hidden), device=hidden.device).unsqueeze(1)
            first, last = self.head["first"](hidden), self.head["last"](hidden)
            width = self.head["width"](self.head["widths"]((word_counts - 1).clamp(min=0)))
            spans = self.head["span"](first[rows, first_pieces] + last[rows, last_pieces] + width)
            entities = self.head["entity"](spans)
            chosen = self._choose_spans(entities, first_words, word_counts, labels)
            paired, starts = spans[rows, chosen.clamp(min=0)], first_words[rows, chosen.clamp(min=0)]
            # A pair's vector: the sum of head, tail, their product, and the embedded distance in words.
            offset = starts.unsqueeze(2) - starts.unsqueeze(1)
            distance = offset.clamp(-_MAX_DISTANCE, _MAX_DISTANCE) + _MAX_DISTANCE
            product = self.head["product"](paired.unsqueeze(2) * paired.unsqueeze(1))
            joint = self.head["head"](paired).unsqueeze(2) + self.head["tail"](paired).unsqueeze(1)
            pairs = self.head["pair"](joint + product + self.head["distance"](distance))
            output = {"entities": entities, "chosen": chosen, "pairs": pairs}
            if labels is not None and relations is not None:
                output["loss"] = self._compute_loss(entities, pairs, chosen, labels, relations)
            return output

        def _choose_spans(
            self, entities: Tensor, first_words: Tensor, word_counts: Tensor, labels: Tensor | None
        ) -> Tensor:
            """Return the indices of the spans to pair, ascending, shape (units, k), with -1 as padding.

            Without ``labels``, a span is paired if its most probable class is not "none". With ``labels``, in
            training, all gold spans are paired, and then the most probable other spans until half as many
            spans are paired as the unit has words. ``entities`` are the logits that ``forward`` returns; the
            other arguments are those of ``forward``.
            """
            margin = (entities[..., 1:].amax(-1) - entities[..., 0]).detach().float()
            margin = margin.masked_fill(word_counts < 1, -torch.inf)
            if labels is None:
                is_chosen = margin > 0
            else:
                margin = margin.masked_fill(labels > 0, torch.inf)
                gold_counts = (labels > 0).sum(-1)
                word_totals = first_words.amax(-1) + 1
                counts = torch.maximum(gold_counts, (_SPANS_PER_WORD * word_totals).ceil().long())
                # The argsort of an argsort is the rank: gold spans come first, padding last.
                rank = margin.argsort(dim=-1, descending=True, stable=True).argsort(dim=-1)
                is_chosen = (rank < counts.unsqueeze(-1)) & (word_counts > 0)
            # Other spans get the index `count`, which sorts them behind the chosen ones, and then -1.
            k, count = int(is_chosen.sum(-1).max()), is_chosen.shape[1]
            positions = torch.arange(count, device=is_chosen.device).expand_as(is_chosen)
            chosen = positions.masked_fill(~is_chosen, count).sort(-1).values[:, :k]
            return chosen.masked_fill(chosen == count, -1)

        def _compute_loss(
            self, entities: Tensor, pairs: Tensor, chosen: Tensor, labels: Tensor, relations: Tensor
        ) -> Tensor:
            """Return the ``loss`` that ``forward`` returns, a scalar.

            ``labels`` and ``relations`` are arguments of ``forward``; the other arguments are its results. A
            pair of chosen spans without a gold relation has class 0. Padding and pairs of a span with itself
            are ignored.
            """
            targets = torch.zeros(pairs.shape[:3], dtype=torch.long, device=pairs.device)
            is_padding = chosen < 0
            has_padding = is_padding.unsqueeze(2) | is_padding.unsqueeze(1)
            is_self_pair = torch.eye(targets.shape[1], dtype=torch.bool, device=pairs.device)
            targets = targets.masked_fill(has_padding | is_self_pair, batching.IGNORED)
            if len(relations):
                unit, head, tail, kind = relations.unbind(-1)
                row, column = ((chosen[unit] == end.unsqueeze(1)).long().argmax(-1) for end in (head, tail))
                targets[unit, row, column] = kind
            cross_entropy = nn.CrossEntropyLoss(ignore_index=batching.IGNORED, reduction="sum")
            entity_loss = cross_entropy(entities.flatten(0, 1).float(), labels.flatten())
            relation_loss = cross_entropy(pairs.flatten(0, 2).float(), targets.flatten())
            return (entity_loss + relation_loss) / (labels > 0).sum().clamp(min=1)

    return GraphModule()


SETTINGS = "graph_model.json"
_HEAD = "graph_head.safetensors"


class GraphModel:
    """A joint model of entities and relations that predicts graphs, and that
    :func:`~radeval_lib.models.training.train` can train.

    Parameters
    ----------
    init_model : folder or Hugging Face Hub name of the encoder. The weights of the new head are drawn from
        torch's global generator.
    settings : labels, and settings of network and training.

    Raises
    ------
    ModelError
        If the encoder cannot be loaded or has no fast tokenizer.
    """

    new_layers = ("head.",)

    def __init__(self, init_model: str | Path, settings: GraphSettings) -> None:
        from transformers import AutoModel, AutoTokenizer

        self.settings = settings
        self.tokenizer: Any = batching.load_fast_tokenizer(AutoTokenizer, init_model)
        self.module: Any = build_graph_module(load_model(AutoModel, init_model, ENCODER), settings)
        if settings.frozen_layers:
            encoder: Any = self.module.encoder
            for number, layer in enumerate([encoder.embeddings, *encoder.encoder.layer]):
                layer.requires_grad_(number > settings.frozen_layers)
        self._entity_classes = {kind: index + 1 for index, kind in enumerate(settings.entity_types)}
        self._relation_classes = {kind: index + 1 for index, kind in enumerate(settings.relation_types)}

    @classmethod
    def load(cls, folder: str | Path, *, device: str = "auto") -> GraphModel:
        """Return the model that :meth:`save` wrote to ``folder``, in evaluation mode on ``device``.

        Raises :class:`~radeval_lib.errors.ModelError` if the folder has no such model that can be loaded, or
        if ``device`` is unknown or not available.
        """
        path = Path(folder)
        model = cls(path, read_settings(path / SETTINGS, GraphSettings))
        load_weights(model.module.head, path / _HEAD)
        model.module.eval().to(batching.pick_device(device))
        return model

    def save(self, folder: str | Path) -> None:
        """Write weights (as safetensors), settings, configuration and tokenizer to ``folder``."""
        parts = {_HEAD: self.module.head, SETTINGS: self.settings}
        save_checkpoint(folder, self.module.encoder, self.tokenizer, parts)

    def make_example(self, record: AnnotatedSentence) -> dict[str, Any]:
        """Return an annotated record, read as one unit, as a training example: see :meth:`encode`."""
        return self.encode(reveal_tokens(record), read_graph(record))

    def measure(self, records: Sequence[AnnotatedSentence]) -> dict[str, float]:
        """Return a dictionary with ``entity_f1``, ``relation_f1`` and ``strict_f1`` (relations with correct
        entity types), each a micro F1 from 0 to 1, and ``f1``, the mean of the first two.

        They are computed from the total counts of :func:`tally_matches`. An F1 is 0 if nothing is annotated
        or predicted.
        """
        totals = tally_matches(self, records).groupby("part")[["matched", "predicted", "gold"]].sum()
        totals = totals.reindex(PARTS, fill_value=0)
        f1 = (2 * totals["matched"] / (totals["predicted"] + totals["gold"]).clip(lower=1)).to_dict()
        return {"f1": (f1["entity"] + f1["relation"]) / 2, **{f"{part}_f1": f1[part] for part in PARTS}}

    def encode(self, words: Sequence[str], graph: WordGraph) -> dict[str, Any]:
        """Return a unit with its gold graph as a training example.

        The example is the row of :func:`~radeval_lib.models.batching.list_spans` with two more keys:
        ``labels``, the class of each span (0 if it is no entity), and ``relations``, a list of [index of the
        head's span, index of the tail's span, class]. Entities with more than ``max_width`` words or beyond
        the tokens that the encoder reads are left out, with their relations; so are unknown labels. Of
        several entities of one span, or relations of one pair, only the last counts.
        """
        (row,) = batching.list_spans(self.tokenizer, [words], self.settings.max_width)
        spans = list(zip(row["first_words"], row["word_counts"], strict=True))
        span_indices = {(first, first + count): index for index, (first, count) in enumerate(spans)}
        labels = [0] * len(spans)
        for start, end, kind in graph.entities:
            if (start, end) in span_indices and kind in self._entity_classes:
                labels[span_indices[start, end]] = self._entity_classes[kind]
        span_of_entity = [span_indices.get((start, end), -1) for start, end, _ in graph.entities]
        relations: dict[tuple[int, int], int] = {}
        for head, tail, kind in graph.relations:
            pair = span_of_entity[head], span_of_entity[tail]
            joins_entities = min(pair) >= 0 and pair[0] != pair[1] and all(labels[span] for span in pair)
            if joins_entities and kind in self._relation_classes:
                relations[pair] = self._relation_classes[kind]
        return {**row, "labels": labels, "relations": [[*pair, kind] for pair, kind in relations.items()]}

    def collate(self, rows: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        """Return a padded batch of units: the keyword arguments of the module's ``forward``
        (:func:`build_graph_module`).

        ``rows``: examples of :meth:`encode` or, for prediction, rows of
        :func:`~radeval_lib.models.batching.list_spans`.
        """
        import torch

        padding = {"first_pieces": 0, "last_pieces": 0, "first_words": 0, "word_counts": 0}
        padding["labels"] = batching.IGNORED
        batch = batching.pad_spans(self.tokenizer, rows, padding)
        if "relations" in rows[0]:
            relations = [[number, *link] for number, row in enumerate(rows) for link in row["relations"]]
            batch["relations"] = torch.tensor(relations, dtype=torch.long).reshape(-1, 4)
        return batch

    def predict(self, texts: Sequence[Sequence[str]]) -> list[WordGraph]:
        """Return the predicted graph of each text, given as words, in order.

        Texts are read in units (:func:`split_units`); equal units are read only once.
        """
        return read_by_units(texts, self.settings.unit, self.predict_units)

    def predict_units(self, units: Sequence[tuple[str, ...]]) -> list[WordGraph]:
        """Return the predicted graph of each unit, given as words, in order.

        Words after the first :data:`~radeval_lib.models.batching.MAX_PIECES` tokens are in no entity.
        """
        rows = batching.list_spans(self.tokenizer, units, self.settings.max_width)

        def predict_batch(batch: list[int], device: Any) -> Iterator[WordGraph]:
            inputs = self.collate([rows[index] for index in batch])
            output = self.module(**{key: value.to(device) for key, value in inputs.items()})
            labels = output["entities"].argmax(-1).tolist()
            chosen, pairs = output["chosen"].tolist(), output["pairs"].argmax(-1).tolist()
            return map(self._build_graph, (rows[index] for index in batch), labels, chosen, pairs)

        return batching.run_in_batches(self.module, [len(row["input_ids"]) for row in rows], predict_batch)

    def _build_graph(
        self, row: dict[str, Any], labels: list[int], chosen: list[int], pairs: list[list[int]]
    ) -> WordGraph:
        """Return the graph of one unit from the most probable classes of its spans and pairs.

        Parameters
        ----------
        row : the unit's row of :func:`~radeval_lib.models.batching.list_spans`.
        labels : class of each span: 0 for no entity, i for ``entity_types[i - 1]``.
        chosen : indices of the k spans that are paired, all of a class above 0; -1 in padding.
        pairs : class of each pair of chosen spans, shape (k, k), with the head's position before the tail's:
            0 for no relation, i for ``relation_types[i - 1]``.
        """
        entities = []
        for span in (span for span in chosen if span >= 0):
            first, count = row["first_words"][span], row["word_counts"][span]
            entities.append((first, first + count, self.settings.entity_types[labels[span] - 1]))
        relations = [
            (head, tail, self.settings.relation_types[pairs[head][tail] - 1])
            for head, tail in permutations(range(len(entities)), 2)
            if pairs[head][tail]
        ]
        return WordGraph(tuple(entities), tuple(relations))


def tally_matches(model: GraphModel, records: Sequence[AnnotatedSentence]) -> pd.DataFrame:
    """Count the predicted entities and relations that match annotated records, by the rules of
    :func:`count_matches`.

    Returns
    -------
    DataFrame
        One row per record, part and label, zeros included, with the columns ``case`` (the record's id),
        ``group`` (the record's group), ``part`` (one of :data:`PARTS`), ``label`` and the counts ``matched``,
        ``predicted``, ``gold`` and ``unseen`` (gold entities with more words than the model's widest span,
        which ``gold`` does not include).
    """
    predicted = model.predict([reveal_tokens(record) for record in records])
    types = model.settings.entity_types, model.settings.relation_types
    rows = [
        {"case": record.id, "group": record.group, **row}
        for record, graph in zip(records, predicted, strict=True)
        for row in count_matches(read_graph(record), graph, *types, model.settings.max_width)
    ]
    columns = ("case", "group", "part", "label", "matched", "predicted", "gold", "unseen")
    return pd.DataFrame(rows, columns=columns)


def make_graph_model(
    init_model: str | Path, corpus: Iterable[AnnotatedSentence], seed: int, **settings: Any
) -> GraphModel:
    """Return a graph model with a pretrained encoder and an untrained head.

    Parameters
    ----------
    init_model : folder or Hugging Face Hub name of the encoder.
    corpus : annotated texts; the model's labels are those that occur in them, in alphabetical order.
    seed : seed of the head's weights.
    settings : fields of :class:`GraphSettings` other than the labels, as keyword arguments.

    Raises
    ------
    ModelError
        If the encoder cannot be loaded or has no fast tokenizer.
    """
    records = list(corpus)
    entity_types = tuple(sorted({entity.label for record in records for entity in record.entities}))
    relation_types = tuple(sorted({relation.label for record in records for relation in record.relations}))
    with batching.seed_torch(seed):
        return GraphModel(init_model, GraphSettings(entity_types, relation_types, **settings))


def split_into_units(records: Iterable[AnnotatedSentence], unit: Unit) -> list[AnnotatedSentence]:
    """Return one record per unit of each record, so that a model that reads sentences learns from sentences.

    The id of a new record is that of the original record, a slash, and the number of the unit from 0.
    Entities and relations that extend over several units are left out. (:meth:`GraphModel.measure` on whole
    records counts them as missed.)
    """
    unit_records = []
    for record in records:
        for number, (start, end) in enumerate(split_units(reveal_tokens(record), unit)):
            graph = cut_graph(read_graph(record), start, end)
            unit_records.append(
                replace(
                    record,
                    id=f"{record.id}/{number}",
                    tokens=record.tokens[start:end],
                    entities=tuple(Entity(*entity) for entity in graph.entities),
                    relations=tuple(Relation(*relation) for relation in graph.relations),
                )
            )
    return unit_records
