"""The protocol of metrics: ``score(references, candidates) -> Scores``, one finite value per pair.

A metric subclasses :class:`Metric`, sets the class attributes, implements ``_score_pairs`` and registers
itself; its other annotated attributes are its settings, as in a dataclass::

    @register
    class Rouge(Metric):
        name = "rouge_l"
        stem: bool = True
        ...

Metric modules do not import torch or transformers at the top, because listing the metrics imports all of
these modules.
"""

from __future__ import annotations

import math
import typing
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from radeval_lib import checksums
from radeval_lib.errors import RadevalError
from radeval_lib.placeholders import refuse_placeholders
from radeval_lib.registry import RULES
from radeval_lib.stats.tokens import one_line

if TYPE_CHECKING:
    from radeval_lib.metrics.cautions import Reason
    from radeval_lib.rules.lexicon.significance import Context
    from radeval_lib.stats.base import FloatArray, Formula

#: The texts (reference, candidate).
Pair = tuple[str, str]
UNKNOWN = "unknown"
_UNQUOTED = ":/@+,.-_~()[]<>=#*"  # characters that signatures do not percent-encode
_VALUE_WORDS = {True: "yes", False: "no", None: "none"}
_TOLERANCE = 1e-6  # how far a value may exceed the range by rounding, as cosines in float32 do
#: The steps by which :mod:`radeval_lib.rules.report_text` changes a text, for the signatures of metrics that
#: use it.
REPORT_STEPS = ("plain-characters", "sections", "statements")


def format_model_id(name: str) -> str:
    """Return a model's name and the beginning of its checksum as ``name@digits``, for signatures.

    For a folder or file, the name is the last part of its path. The digits are the first twelve of the
    SHA-256 of the model's files (of the source code, for ``rules``) or, for a model of the Hugging Face Hub,
    the first twelve of its commit. If neither can be determined, ``unknown`` replaces them.
    """
    short_name = Path(name).name if "://" not in name and Path(name).exists() else name
    return f"{short_name}@{_find_content_id(name)[:12]}"


def _find_content_id(name: str) -> str:
    """Return the SHA-256 of a model's files (of the source code, for the rules), the commit of a cached model
    of the Hugging Face Hub, or :data:`UNKNOWN`."""
    if name == RULES:
        return _compute_rules_digest()
    from radeval_lib.errors import ModelError
    from radeval_lib.models.catalog import RADGRAPH, URL_PREFIXES, find_revision, hash_model, is_packaged

    if name.startswith((RADGRAPH, *URL_PREFIXES)):
        return UNKNOWN
    path = Path(name)
    if path.is_file():
        return checksums.of_file(path)
    # The commit is unknown if the package huggingface_hub is missing or the name is not valid on the Hub.
    with suppress(ModelError, ModuleNotFoundError, ValueError):
        if path.is_dir() or is_packaged(name):
            return hash_model(name)
        from huggingface_hub import try_to_load_from_cache

        # In the Hub's cache, the folder of a model's files is named after their commit.
        cached: Any = try_to_load_from_cache(name, "config.json", revision=find_revision(name))
        return Path(cached).parent.name if isinstance(cached, str) else UNKNOWN
    return UNKNOWN


@lru_cache(maxsize=1)
def _compute_rules_digest() -> str:
    """Return one SHA-256 of the source code of the package ``rules``, without the report generator, and of
    the observation metric."""
    # The files are read, not imported, so that other metrics do not depend on these modules.
    library = Path(__file__).parents[1]
    files = [path for path in (library / "rules").rglob("*") if path.suffix in (".py", ".yml")]
    files = [path for path in files if path.parent.name != "generator"]
    files += Path(__file__).parent.glob("observations.*")
    digests = {path: checksums.of_source(path.read_bytes(), path.suffix) for path in files}
    lines = sorted(f"{path.parent.name}/{path.name} {digest}" for path, digest in digests.items())
    return checksums.of_text("\n".join(lines))


class MetricError(RadevalError):
    """Error for input that a metric cannot score, or for an unknown metric or setting."""


@dataclass(frozen=True)
class Scores:
    """One metric's scores of n pairs, in the order of the input.

    Attributes
    ----------
    values : float64 of shape (n,), all finite.
    details : for each pair, the data from which the metric explains the value; their type depends on the
        metric.
    metric : the metric that scored the pairs.
    """

    values: NDArray[np.float64]
    details: list[Any]
    metric: Metric

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.values)


@typing.dataclass_transform(kw_only_default=True, eq_default=False)
class Metric(ABC):
    """Base class of metrics that score a candidate text against a reference text.

    Class attributes
    ----------------
    name : the metric's name in ``create`` and on the command line.
    title : the name in tables and figures; empty if it equals ``name``.
    range : the lowest and the highest possible score; infinite where there is no bound.
    higher_is_better : whether higher scores are better.
    citation : the BibTeX key of the metric's source; may be empty.
    required_roles : the roles (``ner_model``, ``encoder``, ``judge`` ...) that need a model before the metric
        can score.
    variant : a word that distinguishes this score from others of the same name, or the setting whose value
        does.
    corpus_variant : the variant of the corpus score; empty if that score is the mean over pairs.
    remark : a sentence on how the metric differs from what its name leads readers to expect; may be empty.
    normalises : the steps, other than joining lines, that change a text before it is scored, for the
        signature.
    by_rules : whether the metric reads findings by this library's rules, which its signature then names.
    reads_lines : whether the metric sees line breaks; any other metric gets each text on one line, so that
        line wrapping does not change the score.
    device : where the metric's models run: ``auto``, ``cpu`` or ``cuda``.
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    higher_is_better: ClassVar[bool] = True
    citation: ClassVar[str] = ""
    required_roles: ClassVar[tuple[str, ...]] = ()
    variant: ClassVar[str] = "only"
    corpus_variant: ClassVar[str] = ""
    remark: ClassVar[str] = ""
    normalises: ClassVar[tuple[str, ...]] = ()
    by_rules: ClassVar[bool] = False
    reads_lines: ClassVar[bool] = False
    device: str = "auto"

    @classmethod
    def sign(cls) -> int:
        """Return 1 if a higher score is better and -1 if a lower one is."""
        return 1 if cls.higher_is_better else -1

    def __init_subclass__(cls) -> None:
        """Turn the subclass into a dataclass whose annotated attributes are settings."""
        dataclass(kw_only=True, eq=False, repr=False)(cls)

    def score(
        self,
        references: Sequence[str],
        candidates: Sequence[str],
        contexts: Sequence[Context | None] | None = None,
    ) -> Scores:
        """Return the score of each candidate against the reference at the same position.

        Each distinct pair, with its context, is scored once, in an order that depends only on texts and
        contexts, so that neither input order nor repetitions change a pair's score. Empty lists give empty
        scores.

        Parameters
        ----------
        references, candidates : equally long sequences of str; an empty text is allowed.
        contexts : the age and indication of each pair's patient, None where unknown; by default, all are
            unknown. Only metrics of the rule-based judge use them.

        Raises
        ------
        MetricError
            If an argument is not a sequence of str, or the numbers of texts differ; or if ``_score_pairs``
            does not yield a finite value within :meth:`bounds` and a detail for each pair.
        PlaceholderError
            If a text is a placeholder for a stored text.
        ValueError
            If the metric reads contexts, and their number is not that of the pairs.
        ModelError, JudgeError
            If a model or judge of the metric cannot be loaded, or fails.
        """
        pairs = self._prepare_pairs(references, candidates)
        for pair in pairs:
            refuse_placeholders(pair, self.name)
        if not pairs:
            return Scores(np.empty(0), [], self)
        if contexts is None or not self.reads_context():
            contexts = [None] * len(pairs)
        cases = list(zip(pairs, contexts, strict=True))
        distinct = sorted(set(cases), key=lambda case: (case[0], str(case[1])))
        batch, patients = [pair for pair, _ in distinct], [context for _, context in distinct]
        results = self._score_in_context(batch, patients) if any(patients) else self._score_pairs(batch)
        results = list(results) if isinstance(results, Iterable) else []
        try:
            paired = zip(distinct, results, strict=True)
            scored = {case: (float(value), detail) for case, (value, detail) in paired}
        except (TypeError, ValueError):
            problem = f"`_score_pairs` did not yield (value, detail) for each of {len(distinct)} pairs"
            raise MetricError(problem, self.name, "Yield (value, detail) once per pair, in order.") from None
        low, high = self.bounds()
        for position, case in enumerate(cases, start=1):
            value = scored[case][0]
            if not (math.isfinite(value) and low - _TOLERANCE <= value <= high + _TOLERANCE):
                problem = f"pair {position} of {len(cases)} scored {value:g}, expected a finite number"
                problem += f" in [{low:g}, {high:g}]" if math.isfinite(low) or math.isfinite(high) else ""
                remedy = "Check the metric's model, or correct `_score_pairs` or `range` of its class."
                raise MetricError(problem, self.name, remedy)
        values = np.array([scored[case][0] for case in cases], dtype=np.float64)
        return Scores(values, [scored[case][1] for case in cases], self)

    def values(self, references: Sequence[str], candidates: Sequence[str]) -> NDArray[np.float64]:
        """Return the scores of n pairs, float64 of shape (n,), without details, to save memory.

        Unlike :meth:`score`, this method accepts placeholders and values that are out of range or not finite,
        and takes no contexts.

        Raises
        ------
        MetricError
            If an argument is not a sequence of str, or the numbers of texts differ.
        ValueError
            If ``_score_pairs`` does not yield one value per pair.
        """
        pairs = self._prepare_pairs(references, candidates)
        distinct = sorted(set(pairs))
        values = (value for value, _ in self._score_pairs(distinct)) if distinct else ()
        value_of = dict(zip(distinct, values, strict=True))
        return np.array([value_of[pair] for pair in pairs], dtype=np.float64)

    def _prepare_pairs(self, references: Sequence[str], candidates: Sequence[str]) -> list[Pair]:
        """Return the (reference, candidate) pairs, each text joined to one line unless ``reads_lines``."""
        pairs = check_pairs(references, candidates)
        if self.reads_lines:
            return pairs
        joined = {text: one_line(text) for pair in pairs for text in pair}
        return [(joined[reference], joined[candidate]) for reference, candidate in pairs]

    def bounds(self) -> tuple[float, float]:
        """Return the lowest and the highest score that the settings allow; infinite if there is no bound."""
        return self.range

    @abstractmethod
    def _score_pairs(self, pairs: Sequence[Pair]) -> Iterable[tuple[float, Any]]:
        """Yield (value, detail) for each pair, in order; ``pairs`` is not empty and has no duplicates."""

    def _score_in_context(
        self, pairs: list[Pair], contexts: list[Context | None]
    ) -> Iterable[tuple[float, Any]]:
        """Yield (value, detail) for each pair, given the context of the pair's patient, or None.

        By default, contexts are ignored. A metric that uses them overrides this method and
        :meth:`reads_context`.
        """
        return self._score_pairs(pairs)

    def reads_context(self) -> bool:
        """Return whether a patient's age or indication can change a score."""
        return False

    def corpus(self, scores: Scores) -> tuple[FloatArray, Formula]:
        """Return per-pair statistics, and the function from their sums to the corpus score.

        Pairs can thus be resampled without being scored again. The corpus score is the mean over pairs unless
        a subclass overrides this method, as BLEU does.

        Returns
        -------
        statistics : float64 of shape (n, k), a row per scored pair.
        value : a function from sums of rows, shape (..., k), to the corpus score of the summed pairs, shape
            (..., 1).
        """
        from radeval_lib.stats.resampling import ratio_of_sums

        return np.column_stack([scores.values, np.ones(len(scores))]), ratio_of_sums

    def explain(self, reference: str, candidate: str, detail: Any) -> Iterable[Reason]:
        """Yield the reasons for a pair's score; none if the metric cannot explain its scores.

        ``detail`` is the pair's entry in ``Scores.details``. Character positions in the reasons refer to the
        texts as passed to :meth:`score`.
        """
        return ()

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterable[str]:
        """Yield the cautions about a pair that only this metric can give, such as a text cut by its model.

        ``detail`` is the pair's entry in ``Scores.details``. The wording of a caution must not depend on the
        pair, because pairs are counted by caution. :mod:`radeval_lib.metrics.cautions` has the cautions that
        hold for all metrics.
        """
        return ()

    def signature(self, *, in_context: bool = False, of_corpus: bool = False) -> str:
        """Return one line that names everything a score depends on, in sacrebleu's format::

            metric:rouge_l|variant:f1|stem:yes|text:one-line+lowercase+ascii-alphanumeric|version:1.0.0

        Its parts are the metric's name, the variant, every other setting that can change a score, the models
        (:meth:`list_model_ids`), such as ``model.encoder:minilm@6c3a0f9d21b4``, the steps that change a text
        before it is scored, and the version of this library. Equal settings and models have equal signatures,
        wherever the models are stored. Device and cache are left out, because they change at most the last
        digits of a score. In values, all characters but ASCII letters, digits and ``:/@+,.-_~()[]<>=#*`` are
        percent-encoded.

        Parameters
        ----------
        in_context : whether the scores were computed with patients' contexts.
        of_corpus : whether the signature is for the corpus score (:meth:`corpus`) instead of scores of pairs.
        """
        from radeval_lib import __version__

        settings, models = self.settings(), self.models()
        if self.reads_context():
            settings["context"] = "given" if in_context else None
        variant = str(settings.pop(self.variant, self.variant))
        parts = {
            "metric": self.name,
            "variant": (of_corpus and self.corpus_variant) or variant,
            **{
                key: _VALUE_WORDS[value] if value is None or isinstance(value, bool) else str(value) or "none"
                for key, value in sorted(settings.items())
                if key not in models
            },
            **{f"model.{role}": model for role, model in sorted(self.list_model_ids().items())},
            "text": "+".join(("as-written" if self.reads_lines else "one-line", *self.normalises)),
            "version": __version__,
        }
        return "|".join(f"{key}:{quote(value, safe=_UNQUOTED)}" for key, value in parts.items())

    def list_model_ids(self) -> dict[str, str]:
        """Return a mapping from role to the model's name and checksum (:func:`format_model_id`).

        The key ``rules`` is added if ``by_rules`` is True.
        """
        models = {role: format_model_id(name) for role, name in self.models().items()}
        return models | ({"rules": format_model_id(RULES)} if self.by_rules else {})

    def settings(self) -> dict[str, Any]:
        """Return a mapping from setting to value for all settings but ``device`` and ``cache``."""
        names = (field.name for field in fields(self))  # type: ignore[arg-type]
        return {name: getattr(self, name) for name in names if name not in ("device", "cache")}

    def models(self) -> dict[str, str]:
        """Return a mapping from role to the name or folder of its model, for models that change scores."""
        settings = self.settings()
        return {role: str(settings[role]) for role in self.required_roles}


def check_pairs(references: Sequence[str], candidates: Sequence[str]) -> list[Pair]:
    """Return the (reference, candidate) pairs of two equally long sequences of str.

    Raises
    ------
    MetricError
        If an argument is not a sequence of str, or the lengths differ. The error names the argument and the
        position, and never repeats a text, which may be restricted.
    """
    for argument, texts in (("references", references), ("candidates", candidates)):
        # A set has no order; iterating over a mapping or DataFrame gives its keys or column names.
        is_unsuitable = isinstance(texts, str | bytes | Mapping | Set) or hasattr(texts, "columns")
        if is_unsuitable or not hasattr(texts, "__len__"):
            problem = f"expected a list of str, got {type(texts).__name__}"
            raise MetricError(problem, argument, "Pass a list of strings, one per pair.")
        for position, text in enumerate(texts):
            if not isinstance(text, str):
                problem = f"item {position} (the first is 0) has type {type(text).__name__}, expected str"
                raise MetricError(problem, argument, "Convert it to a string; use '' for an empty report.")
    if len(references) != len(candidates):
        problem = f"{len(references)} references but {len(candidates)} candidates"
        raise MetricError(problem, "candidates", "Pass one candidate per reference, in the same order.")
    return list(zip(references, candidates, strict=True))


#: A mapping from name to class of the metrics whose modules were imported; see
#: :mod:`radeval_lib.metrics.by_name`.
REGISTERED: dict[str, type[Metric]] = {}
MetricClass = TypeVar("MetricClass", bound=Metric)


def register(metric: type[MetricClass]) -> type[MetricClass]:
    """Register a metric class under its ``name``, and return it unchanged; use it as a class decorator."""
    REGISTERED[metric.name] = metric
    return metric
