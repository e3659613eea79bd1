"""The protocol of metrics: ``score(references, candidates) -> Scores``, one finite value per pair.

A metric subclasses :class:`Metric`, sets the class attributes, implements ``_score_pairs`` and registers
itself; what else its class annotates are its settings, as of a dataclass::

    @register
    class Rouge(Metric):
        name = "rouge_l"
        stem: bool = True
        ...

Modules of metrics import no torch and no transformers at the top, because listing the metrics imports all of
them.
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

#: (reference, candidate).
Pair = tuple[str, str]
UNKNOWN = "unknown"
_SAFE = ":/@+,.-_~()[]<>=#*"
_WORDS = {True: "yes", False: "no", None: "none"}
_EDGE = 1e-6  # tolerance beyond the range, for rounding errors such as those of cosines in float32
#: The steps by which :mod:`radeval_lib.rules.report_text` changes a text, for signatures of metrics that use
#: it.
FRONT_DOOR = ("plain-characters", "sections", "statements")


def format_model_id(name: str) -> str:
    """Return the name of a model with the beginning of its checksum, ``name@digits``, for signatures.

    For a folder or file, the name is the last part of its path. The digits are the first twelve of the
    SHA-256 of the model's files or of a hub model's commit, or ``unknown`` if neither can be determined.
    """
    short_name = Path(name).name if "://" not in name and Path(name).exists() else name
    return f"{short_name}@{_find_content_id(name)[:12]}"


def _find_content_id(name: str) -> str:
    """Return the SHA-256 of a model's files, or the commit of a hub model in this machine's cache; else
    :data:`UNKNOWN`."""
    if name == RULES:
        return _compute_rules_digest()
    from radeval_lib.errors import ModelError
    from radeval_lib.models.catalog import ADDRESSES, RADGRAPH, find_revision, hash_model, is_packaged

    if name.startswith((RADGRAPH, *ADDRESSES)):
        return UNKNOWN
    path = Path(name)
    if path.is_file():
        return checksums.of_file(path)
    # Without the package huggingface_hub, or for a name that no hub model can have, the commit is unknown.
    with suppress(ModelError, ModuleNotFoundError, ValueError):
        if path.is_dir() or is_packaged(name):
            return hash_model(name)
        from huggingface_hub import try_to_load_from_cache

        # In the hub's cache, the folder that holds a model's files is named after their commit.
        cached: Any = try_to_load_from_cache(name, "config.json", revision=find_revision(name))
        return Path(cached).parent.name if isinstance(cached, str) else UNKNOWN
    return UNKNOWN


@lru_cache(maxsize=1)
def _compute_rules_digest() -> str:
    """Return one SHA-256 over the source of the lexicon, the reader, the rule-based judge and the
    observations."""
    # The files are read, not imported, so that signatures of other metrics do not come to depend on them.
    library = Path(__file__).parents[1]
    files = [path for path in (library / "rules").rglob("*") if path.suffix in (".py", ".yml")]
    files = [path for path in files if path.parent.name != "generator"]
    files += Path(__file__).parent.glob("observations.*")
    digests = {path: checksums.of_source(path.read_bytes(), path.suffix) for path in files}
    lines = sorted(f"{path.parent.name}/{path.name} {digest}" for path, digest in digests.items())
    return checksums.of_text("\n".join(lines))


class MetricError(RadevalError):
    """Input that a metric cannot score, an unknown metric, or an unknown setting."""


@dataclass(frozen=True)
class Scores:
    """The scores of n pairs by one metric, in the input's order.

    Attributes
    ----------
    values : float64 of shape (n,), all finite.
    details : for each pair, what the metric needs to explain its value; the type differs by metric.
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
    """A metric of a candidate text against a reference text.

    Class attributes
    ----------------
    name : its name for ``create`` and the command line.
    title : its name in tables and figures; empty if that is ``name``.
    range : (lowest, highest) value; ``inf`` if there is no bound.
    higher_is_better : direction.
    citation : BibTeX key of its source; may be empty.
    needs : the roles (``ner_model``, ``encoder``, ``judge`` ...) that must be configured before it can score.
    variant : a word for this score among those that share its name, or the setting that decides which it is.
    corpus_variant : a word for the value that :meth:`corpus` gives; empty if that is the mean over pairs.
    remark : a sentence on how it differs from what readers expect under this name; may be empty.
    normalises : the steps that change a text before it is scored, except joining lines, for the signature.
    by_rules : whether it reads findings by this library's rules, which its signature then names.
    reads_lines : whether it sees line breaks; every other metric sees each text on one line, so that a report
        scores the same however its lines are wrapped.
    device : where its models run: ``auto``, ``cpu`` or ``cuda``.
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    higher_is_better: ClassVar[bool] = True
    citation: ClassVar[str] = ""
    needs: ClassVar[tuple[str, ...]] = ()
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
        """Make a dataclass of the subclass, whose annotated attributes are settings."""
        dataclass(kw_only=True, eq=False, repr=False)(cls)

    def score(
        self,
        references: Sequence[str],
        candidates: Sequence[str],
        contexts: Sequence[Context | None] | None = None,
    ) -> Scores:
        """Return the score of each candidate against the reference at the same position.

        Each distinct pair is scored once, in an order that depends only on the texts, so that neither the
        order of the input nor repetitions in it change a pair's score. Empty lists give empty scores.

        Parameters
        ----------
        references, candidates : equally long sequences of str; an empty text is allowed.
        contexts : age and indication of the patient of each pair, None where unknown; only the rule-based
            judge uses them.

        Raises
        ------
        MetricError
            If an argument is not a sequence of str, or the lengths differ; or if the metric's own
            ``_score_pairs`` does not yield, for each pair, a finite value within :meth:`bounds` and a detail.
        PlaceholderError
            If a text is the placeholder of a text that is stored only as numbers.
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
        texts, patients = [pair for pair, _ in distinct], [context for _, context in distinct]
        results = self._score_in_context(texts, patients) if any(patients) else self._score_pairs(texts)
        results = list(results) if isinstance(results, Iterable) else []
        try:
            paired = zip(distinct, results, strict=True)
            scored = {case: (float(value), detail) for case, (value, detail) in paired}
        except (TypeError, ValueError):
            problem = f"`_score_pairs` did not yield a (number, detail) for each of {len(distinct)} pairs"
            raise MetricError(problem, self.name, "Yield (value, detail) once per pair, in order.") from None
        low, high = self.bounds()
        for position, case in enumerate(cases, start=1):
            value = scored[case][0]
            if not (math.isfinite(value) and low - _EDGE <= value <= high + _EDGE):
                problem = f"pair {position} of {len(cases)} scored {value:g}, expected a finite number"
                problem += f" from {low:g} to {high:g}" if math.isfinite(high - low) else ""
                remedy = "Check the metric's model, or correct `_score_pairs` or `range` of its class."
                raise MetricError(problem, self.name, remedy)
        values = np.array([scored[case][0] for case in cases], dtype=np.float64)
        return Scores(values, [scored[case][1] for case in cases], self)

    def values(self, references: Sequence[str], candidates: Sequence[str]) -> NDArray[np.float64]:
        """Return the scores of n pairs, float64 of shape (n,), without their details, to save memory.

        Unlike :meth:`score`, it refuses neither placeholders of stored texts nor values that are not finite
        or out of range, and it takes no contexts.
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
        """Return the lowest and the highest score that these settings allow; infinite without a bound."""
        return self.range

    @abstractmethod
    def _score_pairs(self, pairs: Sequence[Pair]) -> Iterable[tuple[float, Any]]:
        """Yield (value, detail) for each pair in order; ``pairs`` are distinct, and there is at least one."""

    def _score_in_context(
        self, pairs: list[Pair], contexts: list[Context | None]
    ) -> Iterable[tuple[float, Any]]:
        """Yield (value, detail) for each pair, given the context of its patient or None.

        The default ignores contexts. A metric that uses them overrides this and :meth:`reads_context`.
        """
        return self._score_pairs(pairs)

    def reads_context(self) -> bool:
        """Return whether a patient's age or indication can change a score."""
        return False

    def corpus(self, scores: Scores) -> tuple[FloatArray, Formula]:
        """Return statistics of each pair whose sums determine the corpus score, and the function from sums to
        that score, so that resampling pairs needs no rescoring.

        The corpus score is the mean over pairs, unless a subclass overrides this as corpus BLEU does.

        Returns
        -------
        statistics : float64 of shape (n, k), a row per scored pair.
        value : a function from sums of rows, shape (..., k), to the corpus score of the summed pairs, shape
            (..., 1).
        """
        from radeval_lib.stats.resampling import ratio_of_sums

        return np.column_stack([scores.values, np.ones(len(scores))]), ratio_of_sums

    def explain(self, reference: str, candidate: str, detail: Any) -> Iterable[Reason]:
        """Yield the reasons for the score of one pair; none if the metric cannot explain its scores.

        ``detail`` is the pair's entry of ``Scores.details``. Character positions in the reasons refer to the
        texts as passed to :meth:`score`.
        """
        return ()

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterable[str]:
        """Yield the cautions about one pair that only this metric can give: that its model cut a text, say.

        ``detail`` is the pair's entry of ``Scores.details``. A caution has the same words for every pair,
        because its pairs are counted. :mod:`radeval_lib.metrics.cautions` has the cautions for all metrics.
        """
        return ()

    def signature(self, *, in_context: bool = False, of_corpus: bool = False) -> str:
        """Return one line that names everything that decides a score, in sacrebleu's format::

            metric:bertscore|variant:f1|layer:5|model.encoder:minilm@6c3a0f9d21b4|text:one-line|version:1.0.0

        Its parts are the metric's name, the variant, every other setting that can change a score, the models
        (:meth:`signed_models`), the steps that change a text before it is scored, and the version of this
        library. Equal settings and models have equal signatures, wherever the models are stored. Device and
        cache are left out, because they change at most the last digits of a score. White space, ``|``, ``%``
        and characters other than ASCII are percent-encoded.

        Parameters
        ----------
        in_context : whether the scores were computed with contexts of patients.
        of_corpus : whether the signature is for the value of :meth:`corpus` instead of scores of pairs.
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
                key: _WORDS[value] if value is None or isinstance(value, bool) else str(value) or "none"
                for key, value in sorted(settings.items())
                if key not in models
            },
            **{f"model.{role}": model for role, model in sorted(self.signed_models().items())},
            "text": "+".join(("as-written" if self.reads_lines else "one-line", *self.normalises)),
            "version": __version__,
        }
        return "|".join(f"{key}:{quote(value, safe=_SAFE)}" for key, value in parts.items())

    def signed_models(self) -> dict[str, str]:
        """Return a dictionary from role to name and checksum of its model (:func:`format_model_id`).

        The key ``rules`` is added if ``by_rules`` is True.
        """
        models = {role: format_model_id(name) for role, name in self.models().items()}
        return models | ({"rules": format_model_id(RULES)} if self.by_rules else {})

    def settings(self) -> dict[str, Any]:
        """Return the value of each setting that can change a score: all but ``device`` and ``cache``."""
        names = (field.name for field in fields(self))  # type: ignore[arg-type]
        return {name: getattr(self, name) for name in names if name not in ("device", "cache")}

    def models(self) -> dict[str, str]:
        """Return the folder or name of every model that can change a score, by the setting that names it."""
        settings = self.settings()
        return {role: str(settings[role]) for role in self.needs}


def check_pairs(references: Sequence[str], candidates: Sequence[str]) -> list[Pair]:
    """Return the (reference, candidate) pairs of two equally long sequences of str.

    Raises
    ------
    MetricError
        If an argument is not a sequence of str, or the lengths differ. The error names the argument and the
        position, and never repeats a text, which may be restricted.
    """
    for label, texts in (("references", references), ("candidates", candidates)):
        # A set has no order; the items of a mapping or table would be its keys or the names of its columns.
        unordered = isinstance(texts, str | bytes | Mapping | Set) or hasattr(texts, "columns")
        if unordered or not hasattr(texts, "__len__"):
            problem = f"expected a list of str, got {type(texts).__name__}"
            raise MetricError(problem, label, "Pass a list of strings, one per pair.")
        for position, text in enumerate(texts):
            if not isinstance(text, str):
                problem = f"item {position} (the first is 0) has type {type(text).__name__}, expected str"
                raise MetricError(problem, label, "Convert it to a string; use '' for an empty report.")
    if len(references) != len(candidates):
        problem = f"{len(references)} references but {len(candidates)} candidates"
        raise MetricError(problem, "candidates", "Give one candidate per reference, in the same order.")
    return list(zip(references, candidates, strict=True))


#: The metrics whose modules were imported, by name; :mod:`radeval_lib.metrics.by_name` imports them.
REGISTERED: dict[str, type[Metric]] = {}
MetricClass = TypeVar("MetricClass", bound=Metric)


def register(metric: type[MetricClass]) -> type[MetricClass]:
    """Return a metric class unchanged, after registering it under its ``name``; a class decorator."""
    REGISTERED[metric.name] = metric
    return metric
