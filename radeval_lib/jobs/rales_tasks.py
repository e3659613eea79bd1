"""The understanding tasks of RaLEs behind one interface: their records, models, measures and results.

Source: RaLEs (Zambrano Chaves et al. 2023), Sections 4.1 and 4.2.2 and Table 1. One fitted
model may give several columns of Table 3: that of RadGraph gives four of the seven. A linear probe classifies
a document by the vector of its first token, and a word by that of its first piece. The graph tasks have no
linear probe: there, as in RaLEs, the graph layers are trained on the frozen encoder.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.data import iob_tags
from radeval_lib.data.iob_tags import WordSpan
from radeval_lib.data.records import AnnotatedSentence, Document, plain_words
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import TaskError
from radeval_lib.jobs.rales import TASKS, role_of
from radeval_lib.models.classifiers import FrozenEncoder, Probe, TextClassifier, fit_probe
from radeval_lib.models.entities import compare_spans, decode_standard, read_gold
from radeval_lib.models.graph_model import GraphModel, make_graph_model, split_into_units, tally_matches
from radeval_lib.models.ner_models import IobScheme

IN, OUT = "MIMIC-CXR", "CheXpert"
"""The institutions of RadGraph's reports: in domain (models are trained on it) and out of domain."""

_GENERATED_DOMAINS = {"X-Ray": IN, "CT": OUT}
"""The institution for which each modality of generated reports is used. A model trained on radiographs is
then tested on CT, which is a larger change than another hospital."""

OTHER = "Other"
"""Class into which rare procedures are merged (RaLEs, Table 15)."""


@dataclass(frozen=True)
class Column:
    """A column of RaLEs' Tables 3 and 9 to 11: its heading, and the part and domain of the counts that give
    it."""

    name: str
    part: str
    domain: str = ""


class Parts(NamedTuple):
    """A task's records by split."""

    train: list[Any]
    dev: list[Any]
    test: list[Any]

    def every(self) -> list[Any]:
        """Return the records of all splits."""
        return [*self.train, *self.dev, *self.test]


class BenchmarkTask(ABC):
    """One understanding task of RaLEs.

    Attributes
    ----------
    name : name of the task in settings and jobs.
    columns : columns of Table 3 that the task's results give.
    measure : measure on the dev part by which settings and the epoch are chosen, such as ``f1``.
    """

    name: str
    columns: tuple[Column, ...]
    measure: str

    @property
    def role(self) -> str:
        """The data role of the task."""
        return TASKS[self.name]

    @abstractmethod
    def parts(self, records: Sequence[Any]) -> Parts:
        """Return the records that the task uses, by split.

        Raises TaskError if a split has no record or, unless records are documents, no entity.
        """

    def stratum(self, record: Any) -> str:
        """Return the stratum of a record for sampling: the rarest label that it has, or ``none``."""
        return _find_rarest(entity.label for entity in record.entities)

    @abstractmethod
    def start(self, init_model: str | Path, parts: Parts, seed: int) -> Any:
        """Return the model before training, a :class:`~radeval_lib.models.training.Task`.

        ``init_model`` is the folder or hub name of its encoder; new layers are drawn with ``seed``.
        """

    def probe(self, encoder: str | Path, parts: Parts, device: str) -> Any:
        """Return a linear probe on the frozen encoder; None for a task without one."""
        return None

    def training_records(self, records: Sequence[Any]) -> list[Any]:
        """Return training records in the form that the model takes."""
        return list(records)

    @abstractmethod
    def outcomes(self, fitted: Any, parts: Parts) -> dict[str, pd.DataFrame]:
        """Return tables with the results of a fitted model or probe on the test part.

        The table ``counts`` has one row per case, domain and part (``entity``, ``relation`` or ``document``),
        with the numbers of ``matched``, ``predicted`` and ``gold`` items.
        """


class ProbedDocuments:
    """A linear probe on a frozen encoder that classifies documents into ``labels``."""

    _probe: Probe

    def __init__(self, encoder: str | Path, labels: Sequence[str], *, device: str) -> None:
        self._encoder, self.labels = _load_encoder(str(encoder), device), list(labels)

    def fit(self, train: Sequence[Document], dev: Sequence[Document], penalty: float) -> float:
        """Fit the probe to the training documents, and return its accuracy on ``dev``, from 0 to 1."""
        self._probe = fit_probe(self._features(train), [row.label for row in train], self.labels, penalty)
        truth = np.array([self.labels.index(row.label) for row in dev])
        return float((self.logits(dev).argmax(axis=1) == truth).mean())

    def logits(self, records: Sequence[Document]) -> NDArray[np.float64]:
        """Return the logarithm of each class's probability, shape (documents, classes)."""
        return self._probe.logits(self._features(records))

    def _features(self, records: Sequence[Document]) -> NDArray[np.float32]:
        """Return the encoder's vector of each document."""
        return self._encoder.encode_texts([reveal(row.text).split() for row in records])


class ProbedWords:
    """A linear probe on a frozen encoder that gives each word its own label of the IOB scheme."""

    _probe: Probe

    def __init__(self, encoder: str | Path, types: Sequence[str], *, device: str) -> None:
        self._encoder = _load_encoder(str(encoder), device)
        self._labels = ["O", *(f"{prefix}-{kind}" for kind in types for prefix in "BI")]

    def fit(
        self, train: Sequence[AnnotatedSentence], dev: Sequence[AnnotatedSentence], penalty: float
    ) -> float:
        """Fit the probe to the training words, and return the micro F1 of its spans on ``dev``, from 0 to
        1."""
        features = np.concatenate(self._encoder.encode_words([plain_words(row) for row in train]))
        targets = [label for row in train for label in iob_tags.encode(read_gold(row), len(row.tokens))]
        self._probe = fit_probe(features, targets, self._labels, penalty)
        words = [plain_words(row) for row in dev]
        return compare_spans(list(map(read_gold, dev)), self.predict(words), list(map(len, words))).spans.f1

    def predict(self, sentences: Sequence[Sequence[str]]) -> list[list[WordSpan]]:
        """Return the entities of each sentence, which is given as its words."""
        return [
            decode_standard(self._probe.predict(vectors)) for vectors in self._encoder.encode_words(sentences)
        ]


@lru_cache(maxsize=1)
def _load_encoder(name: str, device: str) -> FrozenEncoder:
    """Return a frozen encoder. The last one is cached, since all trials of a search use it."""
    return FrozenEncoder(name, device=device)


class GraphBenchmark(BenchmarkTask):
    """RadGraph: entities and relations, found by one joint model; micro F1 as DyGIE++ counts it.

    The test part has the labels of two people, as two documents of one case. Both count, and they are
    resampled together.
    """

    name, measure = "graphs", "f1"
    columns: tuple[Column, ...] = (
        Column("RG_NER, in", "entity", IN),
        Column("RG_NER, out", "entity", OUT),
        Column("RG_RE, in", "relation", IN),
        Column("RG_RE, out", "relation", OUT),
    )

    def parts(self, records: Sequence[AnnotatedSentence]) -> Parts:
        """Return the records by split, with the institution as their group; see the base class."""
        domains = {IN: IN, OUT: OUT, **_GENERATED_DOMAINS}
        in_domains = [
            replace(row, group=domains[kind])
            for row in records
            if (kind := row.group.partition(" ")[0]) in domains
        ]
        inside, outside = ([row for row in in_domains if row.group == domain] for domain in (IN, OUT))
        generated = any(row.group not in (IN, OUT) for row in records)
        split = _split(inside, resplit=generated)
        # Nothing is trained or chosen on the other institution, so all of its generated reports are for test.
        test_outside = outside if generated else [row for row in outside if row.split == "test"]
        return _check_parts(Parts(split.train, split.dev, [*split.test, *test_outside]), self.name)

    def start(self, init_model: str | Path, parts: Parts, seed: int) -> GraphModel:
        """Return an untrained joint model for the labels of the records."""
        return make_graph_model(init_model, parts.every(), seed)

    def training_records(self, records: Sequence[AnnotatedSentence]) -> list[AnnotatedSentence]:
        """Return the records cut into sentences."""
        return split_into_units(records, "sentence")

    def outcomes(self, fitted: GraphModel, parts: Parts) -> dict[str, pd.DataFrame]:
        """Return the ``counts`` of entities and relations, added up by case and institution."""
        report = {row.id: row.report for row in parts.test}
        table = tally_matches(fitted, parts.test)
        table = table[table["part"].isin({column.part for column in self.columns})]
        return {"counts": _sum_by_case(table.assign(case=table["case"].map(report), domain=table["group"]))}


class SpatialBenchmark(GraphBenchmark):
    """RadSpRL: relations between spatial indicators and their roles; micro F1 as DyGIE++ counts it.

    Only documents with relations are used (RaLEs, Section 4.1), and of these only sentences with an entity
    (RaLEs repository, datasets/convert_radsprl_to_dygiepp.py).
    """

    name, measure = "spatial", "relation_f1"
    columns = (Column("RadSpRL", "relation"),)

    def parts(self, records: Sequence[AnnotatedSentence]) -> Parts:
        """Return the sentences with entities of documents with relations, newly split."""
        split = _split([row for row in records if row.relations], resplit=True)
        sentences = (split_into_units(part, "sentence") for part in split)
        return _check_parts(Parts(*([row for row in part if row.entities] for part in sentences)), self.name)

    def stratum(self, record: AnnotatedSentence) -> str:
        """Return the label of the rarest relation of a record; ``none`` without relations."""
        return _find_rarest(relation.label for relation in record.relations)

    def training_records(self, records: Sequence[AnnotatedSentence]) -> list[AnnotatedSentence]:
        """Return the records unchanged, since they are sentences already."""
        return list(records)


class TaggingBenchmark(BenchmarkTask):
    """Stanza's radiology entities, found by a token classifier; micro F1 of entities in seqeval's default
    mode.

    Generated sentences cover more than one kind of examination, by which they are recognized. They get a new
    split.
    """

    name, measure = "stanza", "f1"
    columns: tuple[Column, ...] = (Column("Stanza", "entity"),)

    def parts(self, records: Sequence[AnnotatedSentence]) -> Parts:
        """Return the sentences by split; generated ones are newly split."""
        groups = {row.group for row in records}
        return _check_parts(_split(records, resplit="" not in groups and len(groups) > 1), self.name)

    def labels(self, parts: Parts) -> list[str]:
        """Return the entity types that occur in the records, in upper case and sorted."""
        return sorted({kind for row in parts.every() for *_, kind in read_gold(row)})

    def start(self, init_model: str | Path, parts: Parts, seed: int) -> IobScheme:
        """Return an untrained token classifier for the entity types of the records."""
        import torch

        torch.manual_seed(seed)
        return IobScheme(init_model, self.labels(parts), first_pieces=True)

    def probe(self, encoder: str | Path, parts: Parts, device: str) -> ProbedWords:
        """Return a linear probe that labels words."""
        return ProbedWords(encoder, self.labels(parts), device=device)

    def outcomes(self, fitted: IobScheme | ProbedWords, parts: Parts) -> dict[str, pd.DataFrame]:
        """Return the ``counts`` of entities by case."""
        words = [plain_words(row) for row in parts.test]
        return {"counts": count_tags(parts.test, fitted.predict(words))}


class ProcedureBenchmark(BenchmarkTask):
    """Selection of the CT procedure for a reason for examination; accuracy.

    ``min_size`` is the minimum number of training documents of a class; rarer ones become :data:`OTHER`.
    """

    name, measure = "procedures", "accuracy"
    columns = (Column("Procedure", "document"),)

    def __init__(self, min_size: int = 0) -> None:
        self.min_size = min_size

    def parts(self, records: Sequence[Document]) -> Parts:
        """Return the documents on CT by split, with rare classes merged into :data:`OTHER`."""
        # The paper's records are all of CT and name no modality; generated ones are of every modality.
        ct = [row for row in records if row.group in ("", "CT", "CTA")]
        split = _split(ct, resplit=any(row.group for row in records))
        common = {key for key, n in Counter(row.label for row in split.train).items() if n >= self.min_size}
        merged = (
            [row if row.label in common else replace(row, label=OTHER) for row in part] for part in split
        )
        return _check_parts(Parts(*merged), self.name)

    def stratum(self, record: Document) -> str:
        """Return the class of a document."""
        return record.label

    def labels(self, parts: Parts) -> list[str]:
        """Return the classes that occur in the documents, sorted.

        The paper's code takes them from a set, so their order is random there.
        """
        return sorted({row.label for row in parts.every()})

    def start(self, init_model: str | Path, parts: Parts, seed: int) -> TextClassifier:
        """Return an untrained classifier for the classes of the documents."""
        import torch

        torch.manual_seed(seed)
        return TextClassifier(init_model, self.labels(parts))

    def probe(self, encoder: str | Path, parts: Parts, device: str) -> ProbedDocuments:
        """Return a linear probe that classifies documents."""
        return ProbedDocuments(encoder, self.labels(parts), device=device)

    def outcomes(self, fitted: TextClassifier | ProbedDocuments, parts: Parts) -> dict[str, pd.DataFrame]:
        """Return ``counts`` and ``outputs``, the class scores of every document of dev and test.

        Every document has one class and is given one, so micro F1 equals accuracy. ``outputs`` has ``split``,
        ``case``, ``label`` (the number of the true class, as text) and a column ``c<k>`` for class ``k``.
        """
        labels = fitted.labels
        tables = []
        for split, rows in (("dev", parts.dev), ("test", parts.test)):
            scores = fitted.logits(rows)
            truth = [labels.index(row.label) for row in rows]
            about = pd.DataFrame({"split": split, "case": [row.id for row in rows]})
            about["label"] = [str(label) for label in truth]  # as text, like results that a search has kept
            scored = pd.DataFrame(np.round(scores, 6), columns=[f"c{k}" for k in range(len(labels))])
            tables.append(pd.concat([about, scored], axis=1))
        counts = about[["case"]].assign(domain="", part="document")
        counts["matched"] = (scores.argmax(axis=1) == truth).astype(int)
        outputs = pd.concat(tables, ignore_index=True)
        return {"counts": counts.assign(predicted=1, gold=1), "outputs": outputs}


def count_tags(records: Sequence[AnnotatedSentence], predicted: Sequence[Any]) -> pd.DataFrame:
    """Return how many entity spans were found exactly, with their type, in each report.

    ``predicted`` has the predicted spans of each record. Columns are those of ``counts`` in
    :meth:`BenchmarkTask.outcomes`.
    """
    rows = []
    for row, spans in zip(records, predicted, strict=True):
        counts = compare_spans([read_gold(row)], [spans], [len(row.tokens)]).spans
        rows.append({"case": row.report, "domain": "", "part": "entity", **vars(counts)})
    return _sum_by_case(pd.DataFrame(rows))


def _sum_by_case(table: pd.DataFrame) -> pd.DataFrame:
    """Return the sums of matched, predicted and gold items by case, domain and part."""
    keys = ["case", "domain", "part"]
    return table.groupby(keys, sort=False)[["matched", "predicted", "gold"]].sum().reset_index()


def _split(records: Sequence[Any], *, resplit: bool) -> Parts:
    """Return records by their own split or, with ``resplit``, by a new one.

    A new split keeps reports whole and in order. Records that have a split, as generated ones do, are divided
    into 55, 15 and 30 % (train, dev, test), which enlarges the test part; others into 80, 10 and 10 %, as
    RaLEs divides RadSpRL.
    """
    if not resplit:
        return Parts(*([row for row in records if row.split == name] for name in Parts._fields))
    owners = [row.report if isinstance(row, AnnotatedSentence) else row.id for row in records]
    reports = list(dict.fromkeys(owners))
    borders = (0.55, 0.70) if any(row.split for row in records) else (0.8, 0.9)
    cuts = [round(border * len(reports)) for border in borders]
    part = {name: sum(index >= cut for cut in cuts) for index, name in enumerate(reports)}
    rows = list(zip(records, owners, strict=True))
    return Parts(*([row for row, owner in rows if part[owner] == number] for number in range(3)))


def _find_rarest(labels: Iterable[str]) -> str:
    """Return the least frequent label, the first in the alphabet if several are; ``none`` without labels."""
    counts = Counter(labels)
    return min(counts, key=lambda label: (counts[label], label), default="none")


def _check_parts(parts: Parts, name: str) -> Parts:
    """Return ``parts``; raises TaskError if a part has no record or, unless it has documents, no entity."""
    for part, rows in zip(Parts._fields, parts, strict=True):
        if not rows:
            raise TaskError(f"no record in the {part} part", name, "Give records of all three splits.")
        if not isinstance(rows[0], Document) and not any(row.entities for row in rows):
            raise TaskError(f"no entity in the {part} part", name, "Give annotated records of every part.")
    return parts


def tasks(min_size: int = 0) -> dict[str, BenchmarkTask]:
    """Return every task, by name; ``min_size`` is that of :class:`ProcedureBenchmark`."""
    every = (GraphBenchmark(), SpatialBenchmark(), TaggingBenchmark(), ProcedureBenchmark(min_size))
    return {task.name: task for task in every}


def task_of(name: str, min_size: int = 0) -> BenchmarkTask:
    """Return the task with this name; raises TaskError if there is none."""
    role_of(name)
    return tasks(min_size)[name]


def list_texts(parts: Parts) -> list[str]:
    """Return the distinct texts that a model of the task reads, sorted: whole documents, or single words."""
    texts_of_records = (
        [reveal(row.text)] if isinstance(row, Document) else plain_words(row) for row in parts.every()
    )
    return sorted({text for texts in texts_of_records for text in texts})
