"""The understanding tasks of RaLEs behind one interface: their records, models, measures and results.

Source: RaLEs (Zambrano Chaves et al. 2023), Sections 4.1 and 4.2.2 and Table 1. One fitted
model may give several columns of Table 3: the RadGraph model gives four of the seven. A linear probe
classifies a document by its first token's vector, and a word by its first subword's vector. The graph tasks
have no linear probe: as in RaLEs, their graph layers are trained on the frozen encoder.
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
from radeval_lib.data.records import AnnotatedSentence, Document, reveal_tokens
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import TaskError
from radeval_lib.jobs.rales import TASKS, role_of
from radeval_lib.models.classifiers import FrozenEncoder, Probe, TextClassifier, fit_probe
from radeval_lib.models.entities import compare_spans, decode_standard, read_gold
from radeval_lib.models.graph_model import GraphModel, make_graph_model, split_into_units, tally_matches
from radeval_lib.models.ner_models import IobScheme

MIMIC, CHEXPERT = "MIMIC-CXR", "CheXpert"
"""The domains of RadGraph's reports: in-domain (models are trained on it) and out-of-domain."""

_GENERATED_DOMAINS = {"X-Ray": MIMIC, "CT": CHEXPERT}
"""The domain for which each modality of generated reports stands. A model trained on radiographs is then
tested on CT, which is a larger change than another hospital."""

OTHER = "Other"
"""Class into which rare procedures are merged (RaLEs, Table 15)."""


@dataclass(frozen=True)
class Column:
    """A column of RaLEs' Tables 3 and 9 to 11: its heading, and the part and domain of its counts."""

    name: str
    part: str
    domain: str = ""


class Parts(NamedTuple):
    """The records of a task, in three splits."""

    train: list[Any]
    dev: list[Any]
    test: list[Any]

    def all_records(self) -> list[Any]:
        """Return the records of all splits."""
        return [*self.train, *self.dev, *self.test]


class BenchmarkTask(ABC):
    """One understanding task of RaLEs.

    Attributes
    ----------
    name : name of the task in profiles and jobs.
    columns : columns of Table 3 that the task's results fill.
    measure : the measure on the dev split that chooses hyperparameters and the epoch, such as ``f1``.
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

        Raises TaskError if a split has no records or, unless records are documents, no entities.
        """

    def stratum(self, record: Any) -> str:
        """Return the stratum of a record for sampling: its least frequent label, or ``none``."""
        return _find_rarest(entity.label for entity in record.entities)

    @abstractmethod
    def start(self, init_model: str | Path, parts: Parts, seed: int) -> Any:
        """Return the untrained model, a :class:`~radeval_lib.models.training.Task`.

        ``init_model`` is the encoder's folder or its name on the Hugging Face Hub. ``seed`` determines the
        weights of new layers.
        """

    def probe(self, encoder: str | Path, parts: Parts, device: str) -> Any:
        """Return a linear probe on the frozen encoder, or None if the task has none."""
        return None

    def training_records(self, records: Sequence[Any]) -> list[Any]:
        """Return training records in the form that the model takes."""
        return list(records)

    @abstractmethod
    def outcomes(self, fitted: Any, parts: Parts) -> dict[str, pd.DataFrame]:
        """Return the results of a fitted model or probe on the test split, as a mapping from name to table.

        The table ``counts`` has one row per ``case``, ``domain`` and ``part`` (``entity``, ``relation`` or
        ``document``), with the numbers of ``matched``, ``predicted`` and ``gold`` items.
        """


class ProbedDocuments:
    """A linear probe on a frozen encoder that classifies documents into ``labels``."""

    _probe: Probe

    def __init__(self, encoder: str | Path, labels: Sequence[str], *, device: str) -> None:
        self._encoder, self.labels = _load_encoder(str(encoder), device), list(labels)

    def fit(self, train: Sequence[Document], dev: Sequence[Document], penalty: float) -> float:
        """Fit the probe to the training documents, and return its accuracy on ``dev``, from 0 to 1.

        ``penalty`` is the weight of the L2 penalty.
        """
        self._probe = fit_probe(self._features(train), [row.label for row in train], self.labels, penalty)
        targets = np.array([self.labels.index(row.label) for row in dev])
        return float((self.logits(dev).argmax(axis=1) == targets).mean())

    def logits(self, records: Sequence[Document]) -> NDArray[np.float64]:
        """Return the log-probability of each class, shape (documents, classes)."""
        return self._probe.logits(self._features(records))

    def _features(self, records: Sequence[Document]) -> NDArray[np.float32]:
        """Return the encoder's vector of each document, shape (documents, dimension)."""
        return self._encoder.encode_texts([reveal(row.text).split() for row in records])


class ProbedWords:
    """A linear probe on a frozen encoder that classifies words into IOB labels of ``entity_types``."""

    _probe: Probe

    def __init__(self, encoder: str | Path, entity_types: Sequence[str], *, device: str) -> None:
        self._encoder = _load_encoder(str(encoder), device)
        self._labels = ["O", *(f"{prefix}-{entity_type}" for entity_type in entity_types for prefix in "BI")]

    def fit(
        self, train: Sequence[AnnotatedSentence], dev: Sequence[AnnotatedSentence], penalty: float
    ) -> float:
        """Fit the probe to the training words, and return the micro F1 of its spans on ``dev``, from 0 to 1.

        ``penalty`` is the weight of the L2 penalty.
        """
        features = np.concatenate(self._encoder.encode_words([reveal_tokens(row) for row in train]))
        targets = [label for row in train for label in iob_tags.encode(read_gold(row), len(row.tokens))]
        self._probe = fit_probe(features, targets, self._labels, penalty)
        words = [reveal_tokens(row) for row in dev]
        return compare_spans(list(map(read_gold, dev)), self.predict(words), list(map(len, words))).spans.f1

    def predict(self, sentences: Sequence[Sequence[str]]) -> list[list[WordSpan]]:
        """Return the entities of each sentence, where a sentence is a list of words."""
        return [
            decode_standard(self._probe.predict(vectors)) for vectors in self._encoder.encode_words(sentences)
        ]


@lru_cache(maxsize=1)
def _load_encoder(name: str, device: str) -> FrozenEncoder:
    """Return a frozen encoder. The last one is cached, because all trials of a search use it."""
    return FrozenEncoder(name, device=device)


class GraphBenchmark(BenchmarkTask):
    """The RadGraph task: entities and relations, predicted by one joint model; micro F1 as in DyGIE++.

    Each test report was labelled by two annotators. Both versions count, and they are resampled together as
    one case.
    """

    name, measure = "graphs", "f1"
    columns: tuple[Column, ...] = (
        Column("RG_NER, in", "entity", MIMIC),
        Column("RG_NER, out", "entity", CHEXPERT),
        Column("RG_RE, in", "relation", MIMIC),
        Column("RG_RE, out", "relation", CHEXPERT),
    )

    def parts(self, records: Sequence[AnnotatedSentence]) -> Parts:
        """Return the records by split, with the domain as their group.

        Raises TaskError if a split has no records or no entities.
        """
        domains = {MIMIC: MIMIC, CHEXPERT: CHEXPERT, **_GENERATED_DOMAINS}
        rows = [
            replace(row, group=domains[prefix])
            for row in records
            if (prefix := row.group.partition(" ")[0]) in domains
        ]
        in_records, out_records = ([row for row in rows if row.group == group] for group in (MIMIC, CHEXPERT))
        is_generated = any(row.group not in (MIMIC, CHEXPERT) for row in records)
        split = _split(in_records, resplit=is_generated)
        # Nothing is trained or chosen on the second domain, so all its generated reports are test records.
        out_test = out_records if is_generated else [row for row in out_records if row.split == "test"]
        return _check_parts(Parts(split.train, split.dev, [*split.test, *out_test]), self.name)

    def start(self, init_model: str | Path, parts: Parts, seed: int) -> GraphModel:
        """Return an untrained joint model for the labels of the records."""
        return make_graph_model(init_model, parts.all_records(), seed)

    def training_records(self, records: Sequence[AnnotatedSentence]) -> list[AnnotatedSentence]:
        """Return the records split into sentences."""
        return split_into_units(records, "sentence")

    def outcomes(self, fitted: GraphModel, parts: Parts) -> dict[str, pd.DataFrame]:
        """Return ``counts`` of entities and relations, summed by case and domain."""
        reports = {row.id: row.report for row in parts.test}
        table = tally_matches(fitted, parts.test)
        table = table[table["part"].isin({column.part for column in self.columns})]
        return {"counts": _sum_by_case(table.assign(case=table["case"].map(reports), domain=table["group"]))}


class SpatialBenchmark(GraphBenchmark):
    """The RadSpRL task: relations between spatial indicators and their roles; micro F1 as in DyGIE++.

    Only documents with relations are used (RaLEs, Section 4.1), and of these only sentences with an entity
    (RaLEs repository, datasets/convert_radsprl_to_dygiepp.py).
    """

    name, measure = "spatial", "relation_f1"
    columns = (Column("RadSpRL", "relation"),)

    def parts(self, records: Sequence[AnnotatedSentence]) -> Parts:
        """Return the sentences that have an entity, from documents that have a relation, in a new split."""
        split = _split([row for row in records if row.relations], resplit=True)
        sentences = (split_into_units(part, "sentence") for part in split)
        return _check_parts(Parts(*([row for row in part if row.entities] for part in sentences)), self.name)

    def stratum(self, record: AnnotatedSentence) -> str:
        """Return the least frequent relation label of a record; ``none`` if it has no relation."""
        return _find_rarest(relation.label for relation in record.relations)

    def training_records(self, records: Sequence[AnnotatedSentence]) -> list[AnnotatedSentence]:
        """Return the records unchanged, because they are sentences already."""
        return list(records)


class TaggingBenchmark(BenchmarkTask):
    """The Stanza task: entities, predicted by a token classifier; micro F1 in seqeval's default mode.

    If the sentences cover several kinds of examination, they are generated ones and get a new split.
    """

    name, measure = "stanza", "f1"
    columns: tuple[Column, ...] = (Column("Stanza", "entity"),)

    def parts(self, records: Sequence[AnnotatedSentence]) -> Parts:
        """Return the sentences by split; generated sentences get a new split."""
        groups = {row.group for row in records}
        return _check_parts(_split(records, resplit="" not in groups and len(groups) > 1), self.name)

    def labels(self, parts: Parts) -> list[str]:
        """Return the entity types that occur in the records, in upper case and sorted."""
        return sorted({entity_type for row in parts.all_records() for *_, entity_type in read_gold(row)})

    def start(self, init_model: str | Path, parts: Parts, seed: int) -> IobScheme:
        """Return an untrained token classifier for the entity types of the records."""
        import torch

        torch.manual_seed(seed)
        return IobScheme(init_model, self.labels(parts), first_pieces=True)

    def probe(self, encoder: str | Path, parts: Parts, device: str) -> ProbedWords:
        """Return a linear probe that labels words."""
        return ProbedWords(encoder, self.labels(parts), device=device)

    def outcomes(self, fitted: IobScheme | ProbedWords, parts: Parts) -> dict[str, pd.DataFrame]:
        """Return ``counts`` of entities by case."""
        words = [reveal_tokens(row) for row in parts.test]
        return {"counts": count_tags(parts.test, fitted.predict(words))}


class ProcedureBenchmark(BenchmarkTask):
    """The procedure task: choose the CT procedure for a reason for examination; accuracy.

    ``min_size`` is the minimum number of training documents per class; rarer classes become :data:`OTHER`.
    """

    name, measure = "procedures", "accuracy"
    columns = (Column("Procedure", "document"),)

    def __init__(self, min_size: int = 0) -> None:
        self.min_size = min_size

    def parts(self, records: Sequence[Document]) -> Parts:
        """Return the documents on CT by split, with rare classes merged into :data:`OTHER`."""
        # The paper's records are all on CT and name no modality; generated ones are on every modality.
        ct = [row for row in records if row.group in ("", "CT", "CTA")]
        split = _split(ct, resplit=any(row.group for row in records))
        classes = {key for key, n in Counter(row.label for row in split.train).items() if n >= self.min_size}
        merged = (
            [row if row.label in classes else replace(row, label=OTHER) for row in part] for part in split
        )
        return _check_parts(Parts(*merged), self.name)

    def stratum(self, record: Document) -> str:
        """Return the class of a document."""
        return record.label

    def labels(self, parts: Parts) -> list[str]:
        """Return the classes that occur in the documents, sorted.

        In the paper's code they are in random order, that of a set.
        """
        return sorted({row.label for row in parts.all_records()})

    def start(self, init_model: str | Path, parts: Parts, seed: int) -> TextClassifier:
        """Return an untrained classifier for the classes of the documents."""
        import torch

        torch.manual_seed(seed)
        return TextClassifier(init_model, self.labels(parts))

    def probe(self, encoder: str | Path, parts: Parts, device: str) -> ProbedDocuments:
        """Return a linear probe that classifies documents."""
        return ProbedDocuments(encoder, self.labels(parts), device=device)

    def outcomes(self, fitted: TextClassifier | ProbedDocuments, parts: Parts) -> dict[str, pd.DataFrame]:
        """Return ``counts``, and ``outputs`` for every document of dev and test.

        Every document has one true and one predicted class, so micro F1 equals accuracy. ``outputs`` has
        ``split``, ``case``, ``label`` (the number of the true class, as text) and a column ``c<k>`` with the
        logit of class ``k`` or, for a probe, its log-probability.
        """
        labels = fitted.labels
        tables = []
        for split, rows in (("dev", parts.dev), ("test", parts.test)):
            scores = fitted.logits(rows)
            targets = [labels.index(row.label) for row in rows]
            documents = pd.DataFrame({"split": split, "case": [row.id for row in rows]})
            documents["label"] = [str(label) for label in targets]  # as text, as in stored results
            score_columns = pd.DataFrame(np.round(scores, 6), columns=[f"c{k}" for k in range(len(labels))])
            tables.append(pd.concat([documents, score_columns], axis=1))
        counts = documents[["case"]].assign(domain="", part="document")
        counts["matched"] = (scores.argmax(axis=1) == targets).astype(int)
        outputs = pd.concat(tables, ignore_index=True)
        return {"counts": counts.assign(predicted=1, gold=1), "outputs": outputs}


def count_tags(records: Sequence[AnnotatedSentence], predicted: Sequence[Any]) -> pd.DataFrame:
    """Count matched, predicted and gold entity spans in each report; a match has the same words and type.

    ``predicted`` has the predicted spans of each record. The columns are those of ``counts`` in
    :meth:`BenchmarkTask.outcomes`.
    """
    rows = []
    for record, spans in zip(records, predicted, strict=True):
        counts = compare_spans([read_gold(record)], [spans], [len(record.tokens)]).spans
        rows.append({"case": record.report, "domain": "", "part": "entity", **vars(counts)})
    return _sum_by_case(pd.DataFrame(rows))


def _sum_by_case(table: pd.DataFrame) -> pd.DataFrame:
    """Return the sums of matched, predicted and gold items by case, domain and part."""
    keys = ["case", "domain", "part"]
    return table.groupby(keys, sort=False)[["matched", "predicted", "gold"]].sum().reset_index()


def _split(records: Sequence[Any], *, resplit: bool) -> Parts:
    """Return records by their own split or, with ``resplit``, by a new one.

    A new split keeps reports whole and in order. Records that have a split, as generated ones do, are divided
    into 55, 15 and 30% (train, dev, test), to enlarge the test split; other records into 80, 10 and 10%, as
    RadSpRL is in RaLEs.
    """
    if not resplit:
        return Parts(*([row for row in records if row.split == name] for name in Parts._fields))
    report_ids = [row.report if isinstance(row, AnnotatedSentence) else row.id for row in records]
    distinct_ids = list(dict.fromkeys(report_ids))
    shares = (0.55, 0.70) if any(row.split for row in records) else (0.8, 0.9)
    cuts = [round(share * len(distinct_ids)) for share in shares]
    splits = {name: sum(index >= cut for cut in cuts) for index, name in enumerate(distinct_ids)}
    rows = list(zip(records, report_ids, strict=True))
    return Parts(*([row for row, name in rows if splits[name] == number] for number in range(3)))


def _find_rarest(labels: Iterable[str]) -> str:
    """Return the least frequent label (of several, the alphabetically first); ``none`` without labels."""
    counts = Counter(labels)
    return min(counts, key=lambda label: (counts[label], label), default="none")


def _check_parts(parts: Parts, name: str) -> Parts:
    """Return ``parts``; raises TaskError if a split has no records or, unless it has documents, no entities.

    ``name`` is the task's name, for the error message.
    """
    for split, rows in zip(Parts._fields, parts, strict=True):
        if not rows:
            raise TaskError(f"the {split} split has no records", name, "Add records to all three splits.")
        if not isinstance(rows[0], Document) and not any(row.entities for row in rows):
            raise TaskError(f"the {split} split has no entities", name, "Annotate entities in every split.")
    return parts


def tasks(min_size: int = 0) -> dict[str, BenchmarkTask]:
    """Return a mapping from name to task; ``min_size`` is passed to :class:`ProcedureBenchmark`."""
    all_tasks = (GraphBenchmark(), SpatialBenchmark(), TaggingBenchmark(), ProcedureBenchmark(min_size))
    return {task.name: task for task in all_tasks}


def task_of(name: str, min_size: int = 0) -> BenchmarkTask:
    """Return the task called ``name``; raises TaskError if there is none."""
    role_of(name)
    return tasks(min_size)[name]


def list_texts(parts: Parts) -> list[str]:
    """Return the distinct texts that a task's model reads, sorted: whole documents, or single words."""
    texts_of_records = (
        [reveal(row.text)] if isinstance(row, Document) else reveal_tokens(row) for row in parts.all_records()
    )
    return sorted({text for texts in texts_of_records for text in texts})
