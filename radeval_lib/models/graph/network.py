"""A joint model of entities and relations.

The model scores every span of up to ``max_width`` words as an entity, and every ordered pair of the spans
that it keeps as a relation, over one shared encoder. It follows DyGIE++ (Wadden et al. 2019), which
RadGraph's authors trained, in scoring spans and pruning them before pairs are formed, but has no propagation
over the graph and no coreference. Texts are read sentence by sentence or as a whole
(:data:`~radeval_lib.models.graph.word_graphs.Unit`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from radeval_lib.errors import ModelError, check_at_least, check_choice, check_once, check_share
from radeval_lib.models.batching import IGNORED
from radeval_lib.models.graph.word_graphs import Unit

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_DISTANCES = 12  # words; spans further apart count as so far


@dataclass(frozen=True)
class GraphSettings:
    """Labels, and the sizes and training of the head.

    A :class:`ModelError` where a number is out of its range, ``unit`` is unknown, there is no entity type, or
    a type stands twice.

    Attributes
    ----------
    entity_types, relation_types : labels, at least one of entities; class 0 of the logits is "none" in
        addition.
    unit : what is read at a time.
    max_width : words of the widest span that can be an entity.
    hidden, width_size : sizes of the head's layers and of its embedding of widths.
    dropout : in the layer of the spans' vectors and before the classifier of relations.
    spans_per_word : in training, how many spans per word of a unit are paired, at least the gold ones.
    entity_weight : weight of the entity loss, where that of the relation loss is 1.
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
    spans_per_word: float = 0.5
    entity_weight: float = 1.0
    frozen_layers: int = 0

    def __post_init__(self) -> None:
        check_choice(self.unit, Unit, "graph model", ModelError)
        sizes = {"max_width": self.max_width, "hidden": self.hidden, "width_size": self.width_size}
        check_at_least(1, "graph model", ModelError, **sizes)
        check_at_least(0, "graph model", ModelError, frozen_layers=self.frozen_layers)
        weights = {"spans_per_word": self.spans_per_word, "entity_weight": self.entity_weight}
        check_at_least(0.0, "graph model", ModelError, **weights)
        check_share("graph model", ModelError, dropout=self.dropout)
        if not self.entity_types:
            raise ModelError("no entity type", "graph model", "Give at least one.")
        check_once("graph model", ModelError, self.entity_types)
        check_once("graph model", ModelError, self.relation_types)


def graph_module(encoder: Any, settings: GraphSettings) -> torch.nn.Module:
    """Return the encoder with its head.

    ``forward`` takes a batch of units as :meth:`GraphModel.collate` makes it: ``input_ids`` and
    ``attention_mask`` of shape (units, pieces); of shape (units, spans) ``starts`` and ``ends``, the first
    and last piece of each span, ``words``, its first word, ``widths``, its words less one, -1 in padding, and
    in training ``labels``, its class, :data:`IGNORED` in padding; and in training ``relations`` of shape
    (gold relations, 4): unit, head span, tail span, class.

    It returns ``entities``, logits of shape (units, spans, types + 1);
    ``chosen``, the positions of the spans that were paired, shape (units, k), -1 where there are fewer; and
    ``pairs``, logits of shape (units, k, k, relations + 1), head before tail. With ``labels`` and
    ``relations`` it also returns ``loss``: the summed cross-entropy over spans and over pairs, each divided
    by the number of gold spans, so that batches of long and of short texts weigh alike.
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
            near = chosen.clamp(min=0)
            pairs = self._pairs(spans[rows, near], words[rows, near])
            found = {"entities": entities, "chosen": chosen, "pairs": pairs}
            if labels is not None and relations is not None:
                found["loss"] = self._loss(entities, pairs, chosen, labels, relations)
            return found

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
                counts = torch.maximum(gold, (s.spans_per_word * length).ceil().long())
                # The argsort of an argsort is the rank: gold spans come first, padding last.
                order = margin.argsort(dim=-1, descending=True, stable=True).argsort(dim=-1)
                wanted = (order < counts.unsqueeze(-1)) & (widths >= 0)
            # Positions of the wanted spans, in order, on the left of each row; -1 behind them.
            most = int(wanted.sum(-1).max())
            places = torch.arange(wanted.shape[1], device=wanted.device).expand_as(wanted)
            first = places.masked_fill(~wanted, wanted.shape[1]).sort(-1).values[:, :most]
            return first.masked_fill(first == wanted.shape[1], -1)

        def _pairs(self, spans: Tensor, words: Tensor) -> Tensor:
            """Return logits of every ordered pair of the chosen spans, shape (units, k, k, relations + 1),
            from their vectors, shape (units, k, hidden), and first words, shape (units, k): head, tail, their
            product, and the distance in words, clipped at 12 either way."""
            apart = (words.unsqueeze(2) - words.unsqueeze(1)).clamp(-_DISTANCES, _DISTANCES) + _DISTANCES
            product = self.head["product"](spans.unsqueeze(2) * spans.unsqueeze(1))
            joint = self.head["head"](spans).unsqueeze(2) + self.head["tail"](spans).unsqueeze(1)
            logits: Tensor = self.head["pair"](joint + product + self.head["distance"](apart))
            return logits

        def _loss(
            self, entities: Tensor, pairs: Tensor, chosen: Tensor, labels: Tensor, relations: Tensor
        ) -> Tensor:
            """Return the loss that ``forward`` returns. A pair of chosen spans without a gold relation is of
            class 0; padding, and a span with itself, do not count."""
            wanted = torch.zeros(pairs.shape[:3], dtype=torch.long, device=pairs.device)
            absent = chosen < 0
            empty = absent.unsqueeze(2) | absent.unsqueeze(1)
            itself = torch.eye(wanted.shape[1], dtype=torch.bool, device=pairs.device)
            wanted = wanted.masked_fill(empty | itself, IGNORED)
            if len(relations):
                unit, head, tail, kind = relations.unbind(-1)
                places = [(chosen[unit] == span.unsqueeze(1)).long().argmax(-1) for span in (head, tail)]
                wanted[unit, places[0], places[1]] = kind
            entropy = nn.functional.cross_entropy
            first = entropy(
                entities.flatten(0, 1).float(), labels.flatten(), ignore_index=IGNORED, reduction="sum"
            )
            second = entropy(
                pairs.flatten(0, 2).float(), wanted.flatten(), ignore_index=IGNORED, reduction="sum"
            )
            return (s.entity_weight * first + second) / (labels > 0).sum().clamp(min=1)

    return GraphModule()
