"""Trainings of recognisers: which a profile asks for, and what each left behind.

One cell, the notebook ``ratescore/ner_training``, makes one training; Snakemake fans it out. A training is a
folder ``trainings/<slug>`` of a profile's outputs: counts from which every measure and interval follows, the
history, and for the study's own recogniser the model.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib import origin
from radeval_lib.data.records import AnnotatedSentence
from radeval_lib.errors import ParameterError, ResultError
from radeval_lib.models.ner.agreement import agreement
from radeval_lib.models.ner.corpus import gold_spans, plain_words
from radeval_lib.models.ner.schemes import Scheme
from radeval_lib.paths import shown
from radeval_lib.study.profiles import Profile

NOTEBOOK = "ratescore/ner_training"
SOURCES = ("MIMIC-IV", "Radiopaedia")
CORPORA = ("both", *SOURCES)
_TABLES = ("counts", "by_type", "history")


@dataclass(frozen=True)
class Training:
    """One training.

    Attributes
    ----------
    scheme : ``iob`` or ``span``.
    init_model : see :mod:`radeval_lib.models.initial`.
    corpus : one of :data:`CORPORA`.
    sentences : training sentences of each source; 0: all that there are.
    """

    scheme: str
    init_model: str
    corpus: str
    sentences: int

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("scheme", self.scheme, ("iob", "span")),
            ("corpus", self.corpus, CORPORA),
        ):
            if value not in choices:
                raise ParameterError(f"unknown {name} {value!r}", NOTEBOOK, f"Choices: {', '.join(choices)}.")
        if self.sentences < 0:
            raise ParameterError(f"sentences must not be negative: {self.sentences}", NOTEBOOK)

    @property
    def slug(self) -> str:
        """A name for its folder."""
        model = "".join(sign if sign.isalnum() or sign in "-." else "_" for sign in self.init_model)
        return f"{self.scheme}-{model}-{self.corpus}-{self.sentences or 'all'}"


def planned(profile: Profile) -> list[Training]:
    """The trainings of a profile: the study's recogniser, then Table 6's rows, then Table 7's.

    Sources: Zhao et al. 2024, Tables 6 (schemes and initial models, both sources) and 7 (each source alone).
    The last row, which the paper does not have, takes half of each source, as many sentences as one source
    alone. The recogniser that the other notebooks use is the IOB scheme with the first model, on more
    sentences where the comparisons have few.
    """
    size, models = profile.sizes["training_sentences"], profile.initial_models
    first = models["iob"][0]
    rows = [
        Training("iob", first, "both", profile.sizes["recogniser_sentences"]),
        *(Training(scheme, model, "both", size) for scheme in models for model in models[scheme]),
        *(Training("iob", first, source, size) for source in SOURCES),
        *([Training("iob", first, "both", size // 2)] if size else []),
    ]
    return list(dict.fromkeys(rows))


def choose(
    sentences: Sequence[AnnotatedSentence], training: Training, rng: np.random.Generator
) -> list[AnnotatedSentence]:
    """The training sentences: of each source as many as the training takes, drawn without return."""
    chosen: list[AnnotatedSentence] = []
    for source in SOURCES if training.corpus == "both" else (training.corpus,):
        own = [row for row in sentences if row.split == "train" and row.group == source]
        order = rng.permutation(len(own))[: training.sentences or None]
        chosen += [own[index] for index in sorted(order)]
    return chosen


@dataclass(frozen=True)
class Trained:
    """What a training left.

    Attributes
    ----------
    training : what was asked for.
    counts : one row a seed and test case: ``seed``, ``case``, ``source``, ``matched``, ``predicted``,
        ``gold``, ``correct_words``, ``words`` (strict spans; see :mod:`radeval_lib.models.ner.agreement`).
    by_type : one row a seed and entity type: ``seed``, ``type``, ``matched``, ``predicted``, ``gold``.
    history : one row a seed and epoch: the measures on dev, and the loss.
    facts : numbers of sentences, settings, versions and checksums.
    """

    training: Training
    counts: pd.DataFrame
    by_type: pd.DataFrame
    history: pd.DataFrame
    facts: dict[str, Any]


def tally(
    scheme: Scheme, sentences: Sequence[AnnotatedSentence], seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Counts by test case and by type (see :class:`Trained`); a case is the report that a sentence is
    from."""
    words = [plain_words(sentence) for sentence in sentences]
    predicted = scheme.predict(words)
    cases: dict[tuple[str, str], list[int]] = {}
    for index, sentence in enumerate(sentences):
        cases.setdefault((f"{sentence.group}/{sentence.report}", sentence.group), []).append(index)
    rows, whole = [], agreement(list(map(gold_spans, sentences)), predicted, list(map(len, words)))
    for (case, source), indices in cases.items():
        found = agreement(
            [gold_spans(sentences[index]) for index in indices],
            [predicted[index] for index in indices],
            [len(words[index]) for index in indices],
        )
        tail = {"correct_words": found.correct_words, "words": found.words}
        rows.append({"seed": seed, "case": case, "source": source, **asdict(found.overall), **tail})
    types = [{"seed": seed, "type": kind, **asdict(counts)} for kind, counts in sorted(whole.by_type.items())]
    return pd.DataFrame(rows), pd.DataFrame(types)


def folder(output_dir: Path, training: Training) -> Path:
    """Where a training's results are."""
    return output_dir / "trainings" / training.slug


def write(output_dir: Path, result: Trained, model: Scheme | None = None) -> Path:
    """Write a training, whole or not at all; ``model`` is kept where it is given."""
    target = folder(output_dir, result.training)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".part-") as temporary:
        new = Path(temporary) / "training"
        new.mkdir()
        for name in _TABLES:
            getattr(result, name).to_csv(new / f"{name}.csv", index=False)
        if model is not None:
            model.save(new / "model")
        sums = {name: origin.sha256(new / f"{name}.csv") for name in _TABLES}
        facts = {"training": asdict(result.training), "sha256": sums, **result.facts}
        (new / "training.json").write_text(
            json.dumps(facts, indent=1, sort_keys=True) + "\n", encoding="utf-8"
        )
        if target.exists():
            shutil.rmtree(target)
        new.chmod(0o755)
        new.rename(target)
    return target


def read(output_dir: Path, training: Training) -> Trained:
    """What :func:`write` wrote.

    Raises
    ------
    ResultError
        Where the training was not made yet, or a file of it is damaged.
    """
    where = folder(output_dir, training)
    made = f"radbook run {NOTEBOOK} -p scheme {training.scheme} -p init_model {training.init_model}"
    made += f" -p corpus {training.corpus} -p sentences {training.sentences}"
    remedy = f"Run `radbook build`, or this one alone: {made}"
    try:
        facts = json.loads((where / "training.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ResultError(f"the training {training.slug} was not made yet", shown(where), remedy) from None
    except ValueError:
        raise ResultError("this training is cut short", shown(where / "training.json"), remedy) from None
    for name in _TABLES:
        path = where / f"{name}.csv"
        if not path.is_file() or origin.sha256(path) != facts["sha256"][name]:
            raise ResultError(
                "this table is missing or was changed after it was written", shown(path), remedy
            )
    counts, by_type, history = (pd.read_csv(where / f"{name}.csv", dtype={"case": str}) for name in _TABLES)
    origin.note_use(where / "training.json", f"trainings/{training.slug}/training.json")
    return Trained(training, counts, by_type, history, facts)


def recogniser(output_dir: Path, profile: Profile) -> Path:
    """Folder of the model that the study trained.

    Raises
    ------
    ResultError
        Where it was not trained yet.
    """
    own = planned(profile)[0]
    read(output_dir, own)
    return folder(output_dir, own) / "model"
