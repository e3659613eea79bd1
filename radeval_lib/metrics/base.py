"""The protocol of metrics: ``score(references, candidates) -> Scores``.

A metric gives one finite value per pair, in the input's order.

A metric subclasses :class:`Metric`, sets the class attributes, implements ``_score_pairs`` and registers
itself; what else its class annotates are its settings, as of a dataclass::

    @register
    class Rouge(Metric):
        name = "rouge_l"
        stem: bool = True
        ...

Modules of this package must be cheap to import (no torch, no transformers at the top), because listing the
metrics imports all of them.
"""

from __future__ import annotations

import difflib
import inspect
import math
import typing
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from numbers import Integral, Real
from os import PathLike
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from radeval_lib.errors import RadevalError, check_choice
from radeval_lib.metrics.reasons import Reason, moved
from radeval_lib.metrics.signature import Signature, model_text, rules_text, setting_text
from radeval_lib.placeholders import refuse
from radeval_lib.registry import check_cited
from radeval_lib.stats.tokens import one_line

if TYPE_CHECKING:
    from radeval_lib.rules.lexicon.significance import Context
    from radeval_lib.stats.inputs import FloatArray, OfSums


_EDGE = 1e-6
"""How far rounding, as of cosines in float32, may take a score beyond its range."""


class MetricError(RadevalError):
    """Input that a metric cannot score, an unknown metric, or a setting that it does not have."""


class Score(NamedTuple):
    """The score of one pair.

    ``cautions`` are sentences that a reader of the value should know. ``reasons`` (what it rests on, with
    places in the texts) and ``errors`` (as :meth:`Metric.error_counts`) are empty where they were not asked
    for.
    """

    value: float
    cautions: Sequence[str] = ()
    reasons: Sequence[Reason] = ()
    errors: Sequence[int] = ()


@dataclass(frozen=True)
class Scores:
    """The scores of n pairs by one metric, in the input's order.

    Attributes
    ----------
    values : float64 of shape (n,), all finite.
    details : for each pair, what the metric needs to explain its value; the type differs by metric.
    metric : the metric that scored the pairs.
    contexts : for each pair, the patient's context that was given to the metric, or None; empty for none.
    """

    values: NDArray[np.float64]
    details: list[Any]
    metric: Metric
    contexts: Sequence[Context | None] = ()

    def __len__(self) -> int:
        return len(self.values)

    @property
    def signature(self) -> Signature:
        """The metric, settings and models that made the scores."""
        return self.metric.signature(in_context=any(self.contexts))

    def each(
        self, pairs: Sequence[tuple[str, str]], *, explained: bool = False, counted: bool = False
    ) -> list[Score]:
        """One Score per pair, with its cautions.

        Parameters
        ----------
        pairs : the (reference, candidate) pairs that were scored, in the same order.
        explained, counted : whether to add the reasons, or the errors by kind.
        """
        metric, contexts = self.metric, self.contexts or [None] * len(pairs)
        return [
            Score(
                float(value),
                tuple(dict.fromkeys(metric.cautions(*pair, detail))),
                metric.explain(*pair, detail) if explained else (),
                metric.error_counts(*pair, detail, context) if counted else (),
            )
            for pair, value, detail, context in zip(pairs, self.values, self.details, contexts, strict=True)
        ]


@typing.dataclass_transform(kw_only_default=True, eq_default=False)
class Metric(ABC):
    """A metric of a candidate text against a reference text.

    Class attributes
    ----------------
    name : what ``create`` and the command line call it.
    title : what tables and figures call it; the name where it has none.
    range : (lowest, highest) value; ``inf`` where there is no bound.
    higher_is_better : direction.
    citation : BibTeX key of its source; may be empty.
    needs : the roles (``ner_model``, ``encoder``, ``judge`` ...) that must be filled before it can score.
    variant : which of the scores that go by this name it is: a word, or the setting that decides it.
    normalises : what it does to a text beside joining its lines, in short words, for the signature.
    by_rules : whether it reads findings by this library's rules, which its signature then names.
    reads_lines : whether it sees line breaks; every other metric sees each text on one line, so that a report
        scores the same however its lines are wrapped.
    device : what its models run on: ``auto``, ``cpu`` or ``cuda``.
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    higher_is_better: ClassVar[bool] = True
    citation: ClassVar[str] = ""
    needs: ClassVar[tuple[str, ...]] = ()
    variant: ClassVar[str] = "only"
    normalises: ClassVar[tuple[str, ...]] = ()
    by_rules: ClassVar[bool] = False
    reads_lines: ClassVar[bool] = False
    device: str = "auto"

    @classmethod
    def sign(cls) -> int:
        """1 if a higher score is better, else -1: multiplied by it, a higher score is always better."""
        return 1 if cls.higher_is_better else -1

    def __init_subclass__(cls) -> None:
        dataclass(kw_only=True, eq=False, repr=False)(cls)

    def __post_init__(self) -> None:
        hints = typing.get_type_hints(type(self))
        for one in fields(self):  # type: ignore[arg-type]
            value, hint, where = getattr(self, one.name), hints[one.name], f"{self.name}.{one.name}"
            check_choice(value, hint, where, MetricError)
            _check_type(value, hint, where)

    def score(
        self,
        references: Sequence[str],
        candidates: Sequence[str],
        contexts: Sequence[Context | None] | None = None,
    ) -> Scores:
        """Score each candidate against the reference of the same position.

        Each distinct pair is scored once, in an order that depends on the texts alone: neither the order of
        the input nor repetitions in it change a pair's score.

        Parameters
        ----------
        references, candidates : equally long sequences of str.
        contexts : what is known of each patient, one per pair; only the judge by rules reads them.

        Raises
        ------
        MetricError
            If an argument is no sequence of texts, or the lengths differ; or if the metric's own
            ``_score_pairs`` returns something other than one finite value, in ``range``, and one detail per
            pair.
        PlaceholderError
            If a text is recorded as numbers alone.
        """
        pairs = checked_pairs(references, candidates)
        for pair in pairs:
            refuse(pair, self.name)
        if not self.reads_lines:
            pairs = [(one_line(reference), one_line(candidate)) for reference, candidate in pairs]
        if contexts is not None and len(contexts) != len(pairs):
            raise MetricError(f"{len(contexts)} contexts for {len(pairs)} pairs", "contexts")
        if contexts is None or not self.reads_context():
            contexts = [None] * len(pairs)
        cases = list(zip(pairs, contexts, strict=True))
        distinct = sorted(set(cases), key=lambda case: (case[0], str(case[1])))
        place = {case: position for position, case in enumerate(distinct)}
        scored = list(self._checked(self._score_cases(distinct))) if distinct else []
        if len(scored) != len(distinct):
            raise MetricError(f"{len(scored)} scores for {len(distinct)} pairs", self.name)
        low, high = self.bounds()
        for position, (value, _) in enumerate(scored):
            if not math.isfinite(value):
                at = cases.index(distinct[position])
                raise MetricError(f"the score of pair {at} is {value}, not a finite number", self.name)
            if not low - _EDGE <= value <= high + _EDGE:
                at = cases.index(distinct[position])
                what = f"the score of pair {at} is {value:g}, outside its range {low:g} to {high:g}"
                raise MetricError(what, self.name, "Correct the score, or `range` of its class.")
        where = [place[case] for case in cases]
        values = np.array([scored[index][0] for index in where], dtype=np.float64)
        return Scores(values, [scored[index][1] for index in where], self, contexts)

    def values(self, references: Sequence[str], candidates: Sequence[str]) -> NDArray[np.float64]:
        """The values of :meth:`score` without its details, which would not fit into memory for many pairs.

        float64 of shape (n,). Placeholders of recorded texts and values that are not finite are not refused
        here, and no contexts are taken.
        """
        pairs = checked_pairs(references, candidates)
        if not self.reads_lines:
            known = {text: one_line(text) for pair in pairs for text in pair}
            pairs = [(known[reference], known[candidate]) for reference, candidate in pairs]
        distinct = sorted(set(pairs))
        found = (value for value, _ in self._checked(self._score_pairs(distinct))) if distinct else ()
        value = dict(zip(distinct, found, strict=True))
        return np.array([value[pair] for pair in pairs], dtype=np.float64)

    def matrix(self, references: Sequence[str], candidates: Sequence[str]) -> NDArray[np.float64]:
        """The :meth:`values` of every candidate against every reference, shape (references, candidates)."""
        check_texts("references", references)
        check_texts("candidates", candidates)
        pairs = [(reference, candidate) for reference in references for candidate in candidates]
        values = self.values([reference for reference, _ in pairs], [candidate for _, candidate in pairs])
        return values.reshape(len(references), len(candidates))

    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest value under these settings: ``range``, where no setting leaves it."""
        return self.range

    def _checked(self, scored: Any) -> Iterator[tuple[float, Any]]:
        """What ``_score_pairs`` gave, which may be any object, one by one; a MetricError where it is not
        (value, detail) for each pair."""
        remedy = "Give (value, detail) for each pair."
        if not isinstance(scored, Iterable):
            kind = type(scored).__name__
            raise MetricError(f"`_score_pairs` gave {kind} and no scores", self.name, remedy)
        for one in scored:
            if not (isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], Real)):
                kind = type(one).__name__
                raise MetricError(f"`_score_pairs` gave {kind}, not a number and a detail", self.name, remedy)
            yield one

    def _score_cases(
        self, cases: list[tuple[tuple[str, str], Context | None]]
    ) -> Iterable[tuple[float, Any]]:
        pairs = [pair for pair, _ in cases]
        contexts = [context for _, context in cases]
        return self._score_in_context(pairs, contexts) if any(contexts) else self._score_pairs(pairs)

    @abstractmethod
    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterable[tuple[float, Any]]:
        """(value, detail) for each pair, in the order given.

        :meth:`score` calls it with distinct (reference, candidate) pairs, at least one.
        """

    def _score_in_context(
        self, pairs: list[tuple[str, str]], contexts: list[Context | None]
    ) -> Iterable[tuple[float, Any]]:
        """As ``_score_pairs``, with the context of each pair's patient; overridden, together with
        :meth:`reads_context`, by metrics whose scores depend on it."""
        return self._score_pairs(pairs)

    def reads_context(self) -> bool:
        """Whether the context of a patient (age, indication) can change a score."""
        return False

    def error_counts(
        self, reference: str, candidate: str, detail: Any, context: Context | None
    ) -> Sequence[int]:
        """The errors in a candidate by kind, then urgent findings, as
        :func:`radeval_lib.metrics.error_profile.error_counts`; empty for a metric that finds no errors."""
        return ()

    def corpus(self, scores: Scores) -> tuple[FloatArray, OfSums]:
        """Sufficient statistics for the score of a corpus, so that resampling needs no rescoring.

        Returns
        -------
        statistics : of each scored pair, shape (n, statistics).
        value : a function from sums of statistics over pairs, shape (..., statistics), to the corpus score of
            these pairs, shape (..., 1).

        By default the mean over pairs; corpus BLEU overrides it.
        """
        from radeval_lib.stats.resampling import mean_of_sums

        return np.column_stack([scores.values, np.ones(len(scores))]), mean_of_sums

    def explain(self, reference: str, candidate: str, detail: Any) -> list[Reason]:
        """The reasons for the score of a pair, given its detail from :class:`Scores`; empty for a metric that
        cannot explain. Places are those of the texts that were given to :meth:`score`."""
        given = reference, candidate
        seen = given if self.reads_lines else (one_line(reference), one_line(candidate))
        return moved(self._reasons(*seen, detail), seen, given)

    def _reasons(self, reference: str, candidate: str, detail: Any) -> Iterable[Reason]:
        """The reasons, with places in the texts as ``_score_pairs`` sees them."""
        return ()

    @classmethod
    def explains(cls) -> bool:
        """Whether the metric can give reasons for a score."""
        return cls._reasons is not Metric._reasons

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterable[str]:
        """Sentences of caution about a pair's score. The wording must not depend on the pair: pairs are
        counted by sentence. Cautions for any metric, such as an empty text, are in
        :func:`radeval_lib.metrics.cautions.of_texts`."""
        return ()

    def signature(self, *, in_context: bool = False) -> Signature:
        """Metric, variant, settings, models, normalisation and version, equal for equal settings and models
        in whatever folder these are; ``in_context``: whether contexts of patients were given."""
        from radeval_lib import __version__

        settings, models = self.settings(), self.models()
        if self.reads_context():
            settings["context"] = "given" if in_context else None
        variant = str(settings.pop(self.variant, self.variant))
        signed = {role: model_text(name) for role, name in models.items()}
        if self.by_rules:
            signed["rules"] = rules_text()
        return Signature(
            self.name,
            variant,
            {key: setting_text(value) for key, value in settings.items() if key not in models},
            signed,
            ("as-written" if self.reads_lines else "one-line", *self.normalises),
            __version__,
        )

    def settings(self) -> dict[str, Any]:
        """The settings that can change a score, with their values; not ``device`` and ``cache``."""
        given = (one.name for one in fields(self) if one.name not in ("device", "cache"))  # type: ignore[arg-type]
        return {name: getattr(self, name) for name in given}

    def models(self) -> dict[str, str]:
        """Folder or name of every model that the scores depend on, by setting."""
        settings = self.settings()
        return {role: str(settings[role]) for role in self.needs}


def check_texts(label: str, texts: Any) -> None:
    """Refuse what is no sequence of texts; the MetricError names the argument and the position, and never
    repeats a text, which may be restricted."""
    if isinstance(texts, str | bytes):
        raise MetricError(f"{label} is a single text", label, "Pass a list of texts, one per pair.")
    # A set has no order; the items of a mapping or table would be its keys or the names of its columns.
    unordered = isinstance(texts, Mapping | Set) or hasattr(texts, "columns")
    if unordered or not hasattr(texts, "__len__") or not hasattr(texts, "__iter__"):
        raise MetricError(f"{type(texts).__name__} is not a sequence of texts", label)
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            what = f"item {position} is of type {type(text).__name__}, not a text"
            raise MetricError(what, label, "Use '' for a report that is empty.")


def checked_pairs(references: Sequence[str], candidates: Sequence[str]) -> list[tuple[str, str]]:
    """The (reference, candidate) pairs of two lists of texts.

    Raises
    ------
    MetricError
        As :func:`check_texts`, or if their lengths differ.
    """
    check_texts("references", references)
    check_texts("candidates", candidates)
    if len(references) != len(candidates):
        raise MetricError(
            f"{len(references)} references but {len(candidates)} candidates",
            remedy="Candidates are matched to references by position, so there must be as many of each.",
        )
    return list(zip(references, candidates, strict=True))


REGISTERED: dict[str, type[Metric]] = {}
"""The metrics whose modules were imported, by name; :mod:`radeval_lib.metrics.by_name` imports them."""
M = TypeVar("M", bound=Metric)


def register(metric: type[M]) -> type[M]:
    """Class decorator: make a metric known by its ``name``.

    Raises
    ------
    MetricError
        If it has no ``name`` or does not implement ``_score_pairs``; if what it defines is nearly called like
        a part of :class:`Metric`; or if the bibliography has no such ``citation``.
    """
    where = f"class {metric.__name__}"
    parts = {part: callable(getattr(Metric, part, "")) for part in (*dir(Metric), "name")}
    settings = inspect.get_annotations(metric)
    for name, value in list(vars(metric).items()):
        inherited = any(hasattr(base, name) for base in metric.__mro__[1:])
        if inherited or name.startswith("__") or name in settings:
            continue
        alike = [part for part, is_method in parts.items() if is_method == callable(value)]
        near = difflib.get_close_matches(name, alike, n=1, cutoff=0.88 if callable(value) else 0.7)
        if near and name != near[0]:
            raise MetricError(f"unknown attribute {name!r}", where, f"Did you mean {near[0]!r}?")
    if not isinstance(getattr(metric, "name", None), str):
        raise MetricError("no attribute 'name'", where, "Give the name by which it is created.")
    if lacking := sorted(getattr(metric, "__abstractmethods__", ())):
        raise MetricError(f"no method {lacking[0]!r}", where, "Define it.")
    if metric.citation:
        check_cited(metric.citation, f"{where}, citation", MetricError)
    REGISTERED[metric.name] = metric
    return metric


_NUMBERS: dict[type, type] = {int: Integral, float: Real}


def _check_type(value: Any, hint: Any, where: str) -> None:
    """Refuse a value that is not of the annotated type; a text may be a path, and what is a Literal has been
    checked."""
    options = typing.get_args(hint) or (hint,)
    kinds = [kind for kind in (bool, int, float, str) if kind in options]
    if not kinds or (value is None and NoneType in options):
        return
    if isinstance(value, bool):
        fits = bool in kinds
    else:
        fits = isinstance(value, tuple(_NUMBERS.get(kind, kind) for kind in kinds if kind is not bool))
    if not fits and not (str in kinds and isinstance(value, PathLike)):
        raise MetricError(f"{value!r} is not of type {kinds[0].__name__}", where)
