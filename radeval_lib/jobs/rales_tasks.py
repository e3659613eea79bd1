"""The understanding tasks of RaLEs behind one interface: records, head, measure and counts.

Source: RaLEs (Zambrano Chaves et al. 2023), Sections 4.1 and 4.2.2 and Table 1. A task is fitted once for all
its columns of Table 3: one model of RadGraph gives four of the seven. A linear probe classifies documents by
their first token, and words by their first piece; the graph tasks have none: RaLEs trains their graph layers
with the encoder frozen, and so does :mod:`notebooks.rales.fitting`.
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
from radeval_lib.models.entities import decode_standard, gold_spans, span_scores
from radeval_lib.models.graph_model import GraphModel, new_model, tally, unit_records
from radeval_lib.models.ner_models import IobScheme

IN, OUT = "MIMIC-CXR", "CheXpert"
"""The institutions of RadGraph: in domain, which models are trained on, and out of domain."""

_DOMAINS = {"X-Ray": IN, "CT": OUT}
"""In generated reports the kind of examination takes the place of the institution: a model trained on
radiographs is tested on CT. A change of modality is larger than a change of hospital."""

OTHER = "Other"
"""The class that rare procedures are merged into (RaLEs, Table 15)."""


@dataclass(frozen=True)
class Column:
    """A column of Tables 3 and 9 to 11."""

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
    """One task.

    Attributes
    ----------
    name : its name in settings and jobs.
    columns : of Table 3 that its results correspond to.
    measure : of the fitted model on dev, by which settings and epoch are chosen.
    """

    name: str
    columns: tuple[Column, ...]
    measure: str

    @property
    def role(self) -> str:
        """The role of the data that it takes."""
        return TASKS[self.name]

    @abstractmethod
    def parts(self, records: Sequence[Any]) -> Parts:
        """Return the records as the task uses them; TaskError if a split has nothing to find."""

    def stratum(self, record: Any) -> str:
        """Return the stratum of a record."""
        return _rarest(entity.label for entity in record.entities)

    @abstractmethod
    def start(self, init_model: str | Path, parts: Parts, seed: int) -> Any:
        """Return a :class:`~radeval_lib.models.training.Task` to fit, its new layers drawn from ``seed``."""

    def probe(self, encoder: str | Path, parts: Parts, device: str) -> Any:
        """Return a linear probe to fit, or None if the encoder is frozen below the task's own layers."""
        return None

    def training_records(self, records: Sequence[Any]) -> list[Any]:
        """Return the records in the form that the model is trained on."""
        return list(records)

    @abstractmethod
    def outcomes(self, fitted: Any, parts: Parts) -> dict[str, pd.DataFrame]:
        """Return the results of a fitted model or probe: ``counts`` has one row per case of test and part,
        with ``case``, ``domain``, ``part``, ``matched``, ``predicted`` and ``gold``."""


class ProbedDocuments:
    """A probe that classifies documents."""

    _probe: Probe

    def __init__(self, encoder: str | Path, labels: Sequence[str], *, device: str) -> None:
        self._encoder, self.labels = _encoder(str(encoder), device), list(labels)

    def fit(self, train: Sequence[Document], dev: Sequence[Document], penalty: float) -> float:
        """Fit the probe on the training documents, and return its accuracy on validation."""
        self._probe = fit_probe(self._features(train), [row.label for row in train], self.labels, penalty)
        truth = np.array([self.labels.index(row.label) for row in dev])
        return float((self.logits(dev).argmax(axis=1) == truth).mean())

    def logits(self, records: Sequence[Document]) -> NDArray[np.float64]:
        """Return logarithms of probabilities, shape (documents, classes)."""
        return self._probe.logits(self._features(records))

    def _features(self, records: Sequence[Document]) -> NDArray[np.float32]:
        return self._encoder.of_texts([reveal(row.text).split() for row in records])


class ProbedWords:
    """A probe that gives each word its label of the IOB scheme, each by itself."""

    _probe: Probe

    def __init__(self, encoder: str | Path, types: Sequence[str], *, device: str) -> None:
        self._encoder = _encoder(str(encoder), device)
        self._labels = ["O", *(f"{prefix}-{kind}" for kind in types for prefix in "BI")]

    def fit(
        self, train: Sequence[AnnotatedSentence], dev: Sequence[AnnotatedSentence], penalty: float
    ) -> float:
        """Fit the probe on the training words, and return the micro F1 of its spans on validation."""
        features = np.concatenate(self._encoder.of_words([plain_words(row) for row in train]))
        targets = [label for row in train for label in iob_tags.encode(gold_spans(row), len(row.tokens))]
        self._probe = fit_probe(features, targets, self._labels, penalty)
        words = [plain_words(row) for row in dev]
        return span_scores(list(map(gold_spans, dev)), self.predict(words), list(map(len, words))).spans.f1

    def predict(self, sentences: Sequence[Sequence[str]]) -> list[list[WordSpan]]:
        """Return the entities of sentences given as words."""
        return [
            decode_standard(self._probe.predict(vectors)) for vectors in self._encoder.of_words(sentences)
        ]


@lru_cache(maxsize=1)
def _encoder(name: str, device: str) -> FrozenEncoder:
    """Return an encoder; the last is kept, since the trials of a search share it."""
    return FrozenEncoder(name, device=device)


class GraphBenchmark(BenchmarkTask):
    """RadGraph: entities and relations by one joint model; micro F1 as DyGIE++ counts.

    The two labelers of its test part are two documents of one case: each counts, and both are drawn together
    when cases are resampled.
    """

    name, measure = "graphs", "f1"
    columns: tuple[Column, ...] = (
        Column("RG_NER, in", "entity", IN),
        Column("RG_NER, out", "entity", OUT),
        Column("RG_RE, in", "relation", IN),
        Column("RG_RE, out", "relation", OUT),
    )

    def parts(self, records: Sequence[AnnotatedSentence]) -> Parts:
        domains = {IN: IN, OUT: OUT, **_DOMAINS}
        of_domains = [
            replace(row, group=domains[kind])
            for row in records
            if (kind := row.group.partition(" ")[0]) in domains
        ]
        inside, outside = ([row for row in of_domains if row.group == domain] for domain in (IN, OUT))
        generated = any(row.group not in (IN, OUT) for row in records)
        split = _split(inside, again=generated)
        # Nobody trains or chooses on the other institution, so all that is generated of it can be tested on.
        away = outside if generated else [row for row in outside if row.split == "test"]
        return _checked(Parts(split.train, split.dev, [*split.test, *away]), self.name)

    def start(self, init_model: str | Path, parts: Parts, seed: int) -> GraphModel:
        return new_model(init_model, parts.every(), seed)

    def training_records(self, records: Sequence[AnnotatedSentence]) -> list[AnnotatedSentence]:
        return unit_records(records, "sentence")

    def outcomes(self, fitted: GraphModel, parts: Parts) -> dict[str, pd.DataFrame]:
        report = {row.id: row.report for row in parts.test}
        table = tally(fitted, parts.test)
        table = table[table["part"].isin({column.part for column in self.columns})]
        return {"counts": _by_case(table.assign(case=table["case"].map(report), domain=table["group"]))}


class SpatialBenchmark(GraphBenchmark):
    """RadSpRL: relations between spatial indicators and their roles; micro F1 as DyGIE++ counts.

    Only documents with relations are taken (RaLEs, Section 4.1), and of them only sentences with an entity
    (RaLEs repository, datasets/convert_radsprl_to_dygiepp.py).
    """

    name, measure = "spatial", "relation_f1"
    columns = (Column("RadSpRL", "relation"),)

    def parts(self, records: Sequence[AnnotatedSentence]) -> Parts:
        split = _split([row for row in records if row.relations], again=True)
        sentences = (unit_records(part, "sentence") for part in split)
        return _checked(Parts(*([row for row in part if row.entities] for part in sentences)), self.name)

    def stratum(self, record: AnnotatedSentence) -> str:
        return _rarest(relation.label for relation in record.relations)

    def training_records(self, records: Sequence[AnnotatedSentence]) -> list[AnnotatedSentence]:
        return list(records)


class TaggingBenchmark(BenchmarkTask):
    """Stanza's radiology entities by a token classifier; entity micro F1 as seqeval counts by default.

    Generated sentences, which are those of several kinds of examination, are divided again.
    """

    name, measure = "stanza", "f1"
    columns: tuple[Column, ...] = (Column("Stanza", "entity"),)

    def parts(self, records: Sequence[AnnotatedSentence]) -> Parts:
        groups = {row.group for row in records}
        return _checked(_split(records, again="" not in groups and len(groups) > 1), self.name)

    def labels(self, parts: Parts) -> list[str]:
        """Return the types of entities, in upper case."""
        return sorted({kind for row in parts.every() for *_, kind in gold_spans(row)})

    def start(self, init_model: str | Path, parts: Parts, seed: int) -> IobScheme:
        import torch

        torch.manual_seed(seed)
        return IobScheme(init_model, self.labels(parts), first_pieces=True)

    def probe(self, encoder: str | Path, parts: Parts, device: str) -> ProbedWords:
        return ProbedWords(encoder, self.labels(parts), device=device)

    def outcomes(self, fitted: IobScheme | ProbedWords, parts: Parts) -> dict[str, pd.DataFrame]:
        words = [plain_words(row) for row in parts.test]
        return {"counts": tagging_counts(parts.test, fitted.predict(words))}


class ProcedureBenchmark(BenchmarkTask):
    """CT procedure selection: the procedure of a reason for examination; accuracy."""

    name, measure = "procedures", "accuracy"
    columns = (Column("Procedure", "document"),)

    def __init__(self, rare: int = 0) -> None:
        self.rare = rare

    def parts(self, records: Sequence[Document]) -> Parts:
        # Generated reports are of every modality; the papers' set is of CT alone, and does not name it.
        ct = [row for row in records if row.group in ("", "CT", "CTA")]
        split = _split(ct, again=any(row.group for row in records))
        common = {label for label, n in Counter(row.label for row in split.train).items() if n >= self.rare}
        merged = (
            [row if row.label in common else replace(row, label=OTHER) for row in part] for part in split
        )
        return _checked(Parts(*merged), self.name)

    def stratum(self, record: Document) -> str:
        return record.label

    def labels(self, parts: Parts) -> list[str]:
        """Return the classes, sorted. The reference code takes them from a set, so their order changes by
        run."""
        return sorted({row.label for row in parts.every()})

    def start(self, init_model: str | Path, parts: Parts, seed: int) -> TextClassifier:
        import torch

        torch.manual_seed(seed)
        return TextClassifier(init_model, self.labels(parts))

    def probe(self, encoder: str | Path, parts: Parts, device: str) -> ProbedDocuments:
        return ProbedDocuments(encoder, self.labels(parts), device=device)

    def outcomes(self, fitted: TextClassifier | ProbedDocuments, parts: Parts) -> dict[str, pd.DataFrame]:
        """Return the counts and, as ``outputs``, the scores and true classes of the documents of dev and
        test. Every document has exactly one class and gets one, so micro F1 equals accuracy."""
        labels = fitted.labels
        tables = []
        for split, rows in (("dev", parts.dev), ("test", parts.test)):
            scores = fitted.logits(rows)
            truth = [labels.index(row.label) for row in rows]
            about = pd.DataFrame({"split": split, "case": [row.id for row in rows]})
            about["label"] = [str(label) for label in truth]  # as what an interrupted search kept
            scored = pd.DataFrame(np.round(scores, 6), columns=[f"c{k}" for k in range(len(labels))])
            tables.append(pd.concat([about, scored], axis=1))
        counts = about[["case"]].assign(domain="", part="document")
        counts["matched"] = (scores.argmax(axis=1) == truth).astype(int)
        outputs = pd.concat(tables, ignore_index=True)
        return {"counts": counts.assign(predicted=1, gold=1), "outputs": outputs}


def tagging_counts(records: Sequence[AnnotatedSentence], predicted: Sequence[Any]) -> pd.DataFrame:
    """Return counts of strict spans, with the sentences of a report added up."""
    rows = []
    for row, spans in zip(records, predicted, strict=True):
        counts = span_scores([gold_spans(row)], [spans], [len(row.tokens)]).spans
        rows.append({"case": row.report, "domain": "", "part": "entity", **vars(counts)})
    return _by_case(pd.DataFrame(rows))


def _by_case(table: pd.DataFrame) -> pd.DataFrame:
    keys = ["case", "domain", "part"]
    return table.groupby(keys, sort=False)[["matched", "predicted", "gold"]].sum().reset_index()


def _split(records: Sequence[Any], *, again: bool) -> Parts:
    """Return records by their split, or divided again, by report and in their order: 55, 15 and 30 % of
    generated ones, whose test part would be small otherwise; 80, 10 and 10 % of those that come without a
    split, as RaLEs divides RadSpRL."""
    if not again:
        return Parts(*([row for row in records if row.split == name] for name in Parts._fields))
    owners = [row.report if isinstance(row, AnnotatedSentence) else row.id for row in records]
    reports = list(dict.fromkeys(owners))
    borders = (0.55, 0.70) if any(row.split for row in records) else (0.8, 0.9)
    cuts = [round(border * len(reports)) for border in borders]
    part = {name: sum(index >= cut for cut in cuts) for index, name in enumerate(reports)}
    rows = list(zip(records, owners, strict=True))
    return Parts(*([row for row, owner in rows if part[owner] == number] for number in range(3)))


def _rarest(labels: Iterable[str]) -> str:
    """Return the label that a record has least of; ``none`` if it has none."""
    counts = Counter(labels)
    return min(counts, key=lambda label: (counts[label], label), default="none")


def _checked(parts: Parts, name: str) -> Parts:
    """Return the parts, or a TaskError if one has nothing to find."""
    for part, rows in zip(Parts._fields, parts, strict=True):
        if not rows:
            raise TaskError(f"no record in the {part} part", name, "Give data with all three splits.")
        if not isinstance(rows[0], Document) and not any(row.entities for row in rows):
            raise TaskError(f"no entity in the {part} part to measure", name, "Give more records.")
    return parts


def tasks(rare: int = 0) -> dict[str, BenchmarkTask]:
    """Return every task, by name."""
    every = (GraphBenchmark(), SpatialBenchmark(), TaggingBenchmark(), ProcedureBenchmark(rare))
    return {task.name: task for task in every}


def task_of(name: str, rare: int = 0) -> BenchmarkTask:
    """Return the task of that name; raises :class:`TaskError` if there is none."""
    role_of(name)
    return tasks(rare)[name]


def texts_of(parts: Parts) -> list[str]:
    """Return all text that a model of the task reads, word by word if records are words."""
    read = ([reveal(row.text)] if isinstance(row, Document) else plain_words(row) for row in parts.every())
    return sorted({words for texts in read for words in texts})
