"""The joint model of entities and relations: trained on annotated records, saved, and asked for graphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from radeval_lib.data.records import AnnotatedSentence, plain_words
from radeval_lib.errors import ModelError
from radeval_lib.models.batching import IGNORED, in_batches, padded, stacked
from radeval_lib.models.devices import device_of
from radeval_lib.models.graph.counting import PARTS, counts
from radeval_lib.models.graph.network import GraphSettings, graph_module
from radeval_lib.models.graph.word_graphs import WordGraph, gold_graph, joined_units
from radeval_lib.models.pretrained import weights
from radeval_lib.models.saving import fill, read_settings, save_checkpoint
from radeval_lib.models.uses import ENCODER
from radeval_lib.models.word_pieces import candidate_spans, encode_words, fast_tokenizer, places_of_spans

if TYPE_CHECKING:
    from torch import Tensor

SETTINGS = "graph_model.json"
_HEAD = "graph_head.safetensors"


class GraphModel:
    """The joint model over any encoder, to be trained on annotated records (a
    :class:`~radeval_lib.models.training.Task`)."""

    new_layers = ("head.",)

    def __init__(self, init_model: str | Path, settings: GraphSettings) -> None:
        from transformers import AutoModel, AutoTokenizer

        self.settings = settings
        self.tokenizer: Any = fast_tokenizer(AutoTokenizer, init_model)
        self.module: Any = graph_module(weights(AutoModel, init_model, ENCODER), settings)
        if settings.frozen_layers:
            encoder: Any = self.module.encoder
            layers = getattr(getattr(encoder, "encoder", None), "layer", ())
            if settings.frozen_layers > len(layers):
                wrong = f"frozen_layers is {settings.frozen_layers}"
                raise ModelError(
                    wrong, "graph model", f"The encoder has {len(layers)} layers as BERT has them."
                )
            for number, layer in enumerate([encoder.embeddings, *layers]):
                layer.requires_grad_(number > settings.frozen_layers)
        self._entity = {kind: index + 1 for index, kind in enumerate(settings.entity_types)}
        self._relation = {kind: index + 1 for index, kind in enumerate(settings.relation_types)}

    @classmethod
    def load(cls, folder: str | Path, *, device: str = "auto") -> GraphModel:
        """Return what :meth:`save` wrote, ready to predict; a :class:`ModelError` if it is not one of our
        checkpoints."""
        where = Path(folder)
        model = cls(where, read_settings(where / SETTINGS, GraphSettings, "graph model"))
        fill(model.module.head, where / _HEAD)
        model.module.eval().to(device_of(device))
        return model

    def save(self, folder: str | Path) -> None:
        """Write safetensors weights, configuration and tokenizer."""
        parts = {_HEAD: self.module.head, SETTINGS: self.settings}
        save_checkpoint(folder, self.module.encoder, self.tokenizer, parts)

    def example(self, record: AnnotatedSentence) -> dict[str, Any]:
        """Return an annotated record as the module takes it, see :meth:`encoded`."""
        return self.encoded(plain_words(record), gold_graph(record))

    def measure(self, records: Sequence[AnnotatedSentence]) -> dict[str, float]:
        """Return ``entity_f1``, ``relation_f1`` and ``strict_f1`` (micro, see :func:`tally`); ``f1`` is the
        mean of the first two. All are 0 where there is nothing to find and nothing is found."""
        sums = tally(self, records).groupby("part")[["matched", "predicted", "gold"]].sum()
        sums = sums.reindex(PARTS, fill_value=0)
        f1 = (2 * sums["matched"] / (sums["predicted"] + sums["gold"]).clip(lower=1)).to_dict()
        return {"f1": (f1["entity"] + f1["relation"]) / 2, **{f"{part}_f1": f1[part] for part in PARTS}}

    def encoded(self, words: Sequence[str], graph: WordGraph) -> dict[str, Any]:
        """Return a unit as the numbers that the module takes. Spans that the model cannot see, and their
        relations, are left out; of two entities with one span the last counts, of two relations of a pair
        likewise."""
        row = self._encoded([words])[0]
        spans = list(zip(row["words"], row["widths"], strict=True))
        place = {(start, start + width + 1): number for number, (start, width) in enumerate(spans)}
        labels = [0] * len(spans)
        for start, end, kind in graph.entities:
            if (start, end) in place and kind in self._entity:
                labels[place[start, end]] = self._entity[kind]
        seen = [place.get((start, end), -1) for start, end, _ in graph.entities]
        relations: dict[tuple[int, int], int] = {}
        for head, tail, kind in graph.relations:
            pair = seen[head], seen[tail]
            typed = min(pair) >= 0 and pair[0] != pair[1] and all(labels[span] for span in pair)
            if typed and kind in self._relation:
                relations[pair] = self._relation[kind]
        return {**row, "labels": labels, "relations": [[*pair, kind] for pair, kind in relations.items()]}

    def _encoded(self, texts: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
        """For each unit ``input_ids``, and of all its candidate spans ``starts``, ``ends``, ``widths`` and
        ``words``; see :func:`graph_module`."""
        rows = []
        for ids, places in encode_words(self.tokenizer, texts):
            spans = candidate_spans(len(places), self.settings.max_width)
            words = [start for start, _ in spans]
            rows.append({"input_ids": ids, **places_of_spans(places, spans), "words": words})
        return rows

    def collate(self, rows: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        """Return a padded batch of units; ``widths`` is -1 where there is no span."""
        import torch

        inputs = padded(self.tokenizer, (row["input_ids"] for row in rows))
        batch = {key: inputs[key] for key in ("input_ids", "attention_mask")}
        fillers = {"starts": 0, "ends": 0, "words": 0, "widths": -1, "labels": IGNORED}
        for key in (name for name in fillers if name in rows[0]):
            batch[key] = stacked((row[key] for row in rows), fillers[key])
        if "relations" in rows[0]:
            found = [[number, *relation] for number, row in enumerate(rows) for relation in row["relations"]]
            batch["relations"] = torch.tensor(found, dtype=torch.long).reshape(-1, 4)
        return batch

    def predict(self, texts: Sequence[Sequence[str]]) -> list[WordGraph]:
        """Return the graphs of texts that are given as words; each distinct unit is read once."""
        return joined_units(texts, self.settings.unit, self.predict_units)

    def predict_units(self, texts: Sequence[tuple[str, ...]]) -> list[WordGraph]:
        """Return the graph of each unit, in batches of like length."""
        rows = self._encoded(texts)

        def found(batch: list[int], device: Any) -> Iterator[WordGraph]:
            inputs = self.collate([rows[index] for index in batch])
            output = self.module(**{key: value.to(device) for key, value in inputs.items()})
            kinds = output["entities"].argmax(-1).tolist()
            chosen, links = output["chosen"].tolist(), output["pairs"].argmax(-1).tolist()
            return map(self._graph, (rows[index] for index in batch), kinds, chosen, links)

        return in_batches(self.module, [len(row["input_ids"]) for row in rows], found)

    def _graph(
        self, row: dict[str, Any], kinds: list[int], chosen: list[int], links: list[list[int]]
    ) -> WordGraph:
        """Return the graph of one unit: ``row`` as :meth:`_encoded` made it, the likeliest class of each span
        (``kinds``) and of each pair of chosen spans (``links``, shape (k, k))."""
        taken = [span for span in chosen if span >= 0]
        entities = [
            (
                row["words"][span],
                row["words"][span] + row["widths"][span] + 1,
                self.settings.entity_types[kinds[span] - 1],
            )
            for span in taken
        ]
        relations = [
            (head, tail, self.settings.relation_types[links[head][tail] - 1])
            for head in range(len(taken))
            for tail in range(len(taken))
            if head != tail and links[head][tail]
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
        for record, found in zip(records, predicted, strict=True)
        for row in counts(gold_graph(record), found, s.entity_types, s.relation_types, s.max_width)
    ]
    columns = ("case", "group", "part", "label", "matched", "predicted", "gold", "unseen")
    return pd.DataFrame(rows, columns=columns)
