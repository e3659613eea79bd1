"""The annotation pipeline of Zhao et al. 2024, A.2: annotate, check against a library, drop thin sentences,
set polarity.

An annotator (in the paper GPT-4 with a few hand-made examples; here any object of the role) proposes
entities; three filters follow, each of which can be left out to see what it buys.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Patch, Rectangle
from numpy.typing import NDArray

from radeval_lib import plots
from radeval_lib.data.records import AnnotatedSentence, Entity
from radeval_lib.data.restricted import reveal
from radeval_lib.models.ner.entities import plain_words
from radeval_lib.stats.resampling import drawn_counts
from radeval_lib.study.checks import Check, above, check_statement
from radeval_lib.wording import with_interval

LIBRARY_COSINE = 0.83
DENSITY = 0.7
CUES = (
    "no",
    "without",
    "unremarkable",
    "intact",
    "not",
    "absence of",
    "negative for",
    "free of",
    "nor",
    "normal",
)
"""The first four are the paper's own examples of key negative words."""

_STOPS = frozenset({"but", "however", "although", "except", ";", ":"})
_AFTER = frozenset({"unremarkable", "intact", "normal"})
_POLARITY = {"Abnormality": "Non-Abnormality", "Disease": "Non-Disease"}
_BACK = {negated: positive for positive, negated in _POLARITY.items()}
_COUNTS = ("kept", "gold", "found", "right", "polarity", "border", "invented", "missed", "findings")
_FUNCTION = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "in",
        "on",
        "at",
        "to",
        "for",
        "with",
        "and",
        "or",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "there",
        "this",
        "that",
        "no",
        "not",
        "without",
        "by",
        "from",
        "as",
        "it",
        "its",
        "has",
        "have",
        "had",
    ]
)


class Annotator(Protocol):
    """Proposes entities; a language model fills this role with a few annotated examples."""

    def annotate(
        self, sentences: Sequence[Sequence[str]], examples: Sequence[AnnotatedSentence]
    ) -> list[list[Entity]]:
        """Entities of sentences given as words; types are the paper's five."""
        ...


class Encoder(Protocol):
    """See :class:`radeval_lib.models.encoders.Encoder`; the paper's is MedCPT."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


@dataclass(frozen=True)
class Curated:
    """What the pipeline kept, and what each step took."""

    sentences: list[AnnotatedSentence]
    proposed: int
    outside_library: int
    thin: int
    flipped: int


def curate(
    sentences: Sequence[AnnotatedSentence],
    annotator: Annotator,
    examples: Sequence[AnnotatedSentence],
    library: Iterable[str],
    encoder: Encoder,
    *,
    cosine: float | None = LIBRARY_COSINE,
    density: float | None = DENSITY,
    negation: bool = True,
    restore: bool = True,
) -> Curated:
    """Annotate sentences and filter what comes back; their own entities are not looked at."""
    words = [[reveal(token) for token in sentence.tokens] for sentence in sentences]
    proposed = annotator.annotate(words, examples)
    kept = proposed if cosine is None else in_library(words, proposed, library, encoder, cosine)
    result, thin, flipped = [], 0, 0
    for sentence, own, entities in zip(sentences, words, kept, strict=True):
        if density is not None and annotated_share(own, entities) < density:
            thin += 1
            continue
        final = with_polarity(own, entities, restore) if negation else entities
        flipped += sum(a.label != b.label for a, b in zip(final, entities, strict=True))
        result.append(replace(sentence, entities=tuple(final), relations=()))
    before, after = (sum(map(len, lists)) for lists in (proposed, kept))
    return Curated(result, before, before - after, thin, flipped)


def in_library(
    words: Sequence[Sequence[str]],
    proposed: Sequence[Sequence[Entity]],
    library: Iterable[str],
    encoder: Encoder,
    cosine: float = LIBRARY_COSINE,
) -> list[list[Entity]]:
    """The entities whose names are at least ``cosine`` similar to some name of the library."""
    from radeval_lib.metrics.ratescore.scoring import unit

    names = sorted({_name(own, entity) for own, row in zip(words, proposed, strict=True) for entity in row})
    known = sorted({name.lower() for name in library})
    if not names or not known:
        return [[] for _ in proposed]
    shelf = unit(encoder.encode(known))
    best = np.concatenate(
        [(unit(encoder.encode(part)) @ shelf.T).max(axis=1) for part in _parts(names, 1_000)]
    )
    fit = {name for name, value in zip(names, best, strict=True) if value >= cosine}
    return [
        [entity for entity in row if _name(own, entity) in fit]
        for own, row in zip(words, proposed, strict=True)
    ]


def annotated_share(words: Sequence[str], entities: Sequence[Entity]) -> float:
    """Share of the content words (letters, and not a function word) that are in an entity; 0 where there
    are none."""
    content = {
        i for i, word in enumerate(words) if re.search(r"[^\W\d_]", word) and word.lower() not in _FUNCTION
    }
    covered = {position for entity in entities for position in range(entity.start, entity.end)}
    return len(content & covered) / len(content) if content else 0.0


def with_polarity(words: Sequence[str], entities: Sequence[Entity], restore: bool = True) -> list[Entity]:
    """The entities with Abnormality and Disease turned to their negations, or back, by the cue words of the
    sentence.

    A cue reaches from where it stands to the next ``but``, ``however``, semicolon or the like;
    ``unremarkable``, ``intact`` and ``normal`` say the same of what stands before them. Anatomy stays.
    """
    lowered = [word.lower() for word in words]
    return [
        entity
        if entity.label not in _POLARITY and entity.label not in _BACK
        else replace(entity, label=_labelled(entity, _negated(lowered, entity), restore))
        for entity in entities
    ]


def _labelled(entity: Entity, negated: bool, restore: bool) -> str:
    if negated:
        return _POLARITY.get(entity.label, entity.label)
    return _BACK.get(entity.label, entity.label) if restore else entity.label


def _negated(words: Sequence[str], entity: Entity) -> bool:
    start = entity.start
    while start and words[start - 1] not in _STOPS:
        start -= 1
    stop = entity.end
    while stop < len(words) and words[stop] not in _STOPS:
        stop += 1
    before = f" {' '.join(words[start : entity.end])} "
    return any(f" {cue} " in before for cue in CUES) or bool(_AFTER & set(words[entity.end : stop]))


def _name(words: Sequence[str], entity: Entity) -> str:
    return " ".join(words[entity.start : entity.end]).lower()


def names(sentences: Iterable[AnnotatedSentence]) -> list[str]:
    """The distinct names of the sentences' entities, in lower case, sorted."""
    return sorted(
        {
            _name([reveal(token) for token in sentence.tokens], entity)
            for sentence in sentences
            for entity in sentence.entities
        }
    )


def _parts(names: list[str], size: int) -> Iterable[list[str]]:
    return (names[start : start + size] for start in range(0, len(names), size))


@dataclass(frozen=True)
class NoisyAnnotator:
    """An annotator that knows the gold entities and errs at stated rates: what a filter buys can then be
    measured.

    Parameters
    ----------
    gold : the sentences with their true entities; words are the key.
    miss : share of entities left out.
    shift : share whose border is one word off.
    invent : entities of random words, a sentence, on average.
    confuse : share whose polarity is wrong.
    seed : of the errors; a sentence's errors depend on the seed and its words alone.
    """

    gold: Sequence[AnnotatedSentence]
    miss: float = 0.05
    shift: float = 0.1
    invent: float = 0.3
    confuse: float = 0.1
    seed: int = 0

    def annotate(
        self, sentences: Sequence[Sequence[str]], examples: Sequence[AnnotatedSentence]
    ) -> list[list[Entity]]:
        known = {tuple(reveal(token) for token in row.tokens): row.entities for row in self.gold}
        return [self._erring(tuple(words), known.get(tuple(words), ())) for words in sentences]

    def _erring(self, words: tuple[str, ...], entities: Sequence[Entity]) -> list[Entity]:
        rng = random.Random(f"{self.seed} {' '.join(words)}")
        found = []
        for entity in entities:
            if rng.random() < self.miss:
                continue
            start, end, kind = entity.start, entity.end, entity.label
            if rng.random() < self.shift:
                start, end = (
                    (max(0, start - 1), end) if rng.random() < 0.5 else (start, min(len(words), end + 1))
                )
            if rng.random() < self.confuse:
                kind = (_POLARITY | _BACK).get(kind, kind)
            found.append(Entity(start, end, kind))
        invented = int(self.invent) + (rng.random() < self.invent % 1)
        for _ in range(invented):
            start = rng.randrange(len(words))
            if not any(entity.start <= start < entity.end for entity in found):
                kind = rng.choice(["Anatomy", *_POLARITY, *_BACK])
                found.append(Entity(start, start + 1, kind))
        return sorted(found, key=lambda entity: (entity.start, entity.end))


@dataclass(frozen=True)
class Remembered:
    """An encoder that encodes each text once in its life: settings that are compared ask for the same names
    again and again."""

    encoder: Encoder
    _known: dict[str, NDArray[np.float32]] = field(default_factory=dict, repr=False)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self.encoder.encode(new), strict=True))
        return np.stack([self._known[text] for text in texts])


def kind_of(entity: Entity, truth: Iterable[Entity]) -> str:
    """What an entity is beside the true ones.

    ``right``; ``polarity``: right words, opposite polarity; ``border``: touches a true entity, but has other
    borders or an unrelated type; ``invented``: touches none.
    """
    near = [true for true in truth if true.start < entity.end and entity.start < true.end]
    if not near:
        return "invented"
    same = {true.label for true in near if (true.start, true.end) == (entity.start, entity.end)}
    if entity.label in same:
        return "right"
    return "polarity" if (_POLARITY | _BACK).get(entity.label) in same else "border"


def tally(gold: Sequence[AnnotatedSentence], curated: Curated) -> pd.DataFrame:
    """Count what became of each sentence that was to be annotated.

    Returns
    -------
    DataFrame
        One row a sentence, by its id. ``report``: the id before its last slash; ``sentences``: 1;
        ``entities``: true entities. The other columns are 0 where the sentence was dropped. ``kept``: 1;
        ``gold``: true entities; ``found``: entities of the kept sentence, by :func:`kind_of` ``right``,
        ``polarity``, ``border`` or ``invented``; ``missed``: true entities that none of these touches;
        ``findings``: entities other than Anatomy whose borders are right.
    """
    kept = {sentence.id: sentence.entities for sentence in curated.sentences}
    rows = []
    for sentence in gold:
        truth = sentence.entities
        row = {"sentences": 1, "entities": len(truth), **dict.fromkeys(_COUNTS, 0)}
        if sentence.id in kept:
            found = kept[sentence.id]
            row |= {"kept": 1, "gold": len(truth), "found": len(found)}
            for entity in found:
                kind = kind_of(entity, truth)
                row[kind] += 1
                row["findings"] += kind in ("right", "polarity") and entity.label != "Anatomy"
            row["missed"] = sum(kind_of(true, found) == "invented" for true in truth)
        rows.append(row)
    table = pd.DataFrame(rows, index=pd.Index([sentence.id for sentence in gold], name="sentence"))
    table.insert(0, "report", [sentence.report for sentence in gold])
    return table


def rates(counts: pd.DataFrame) -> pd.DataFrame:
    """What sums of :func:`tally` say, row by row: strict ``precision``, ``recall`` and ``f1`` within the kept
    sentences, the shares of all ``sentences`` and of all true ``entities`` (rightly annotated) that are left,
    and the share of ``polarity`` that is right where borders are."""
    return pd.DataFrame(
        {
            "precision": counts["right"] / counts["found"],
            "recall": counts["right"] / counts["gold"],
            "f1": 2 * counts["right"] / (counts["found"] + counts["gold"]),
            "sentences": counts["kept"] / counts["sentences"],
            "entities": counts["right"] / counts["entities"],
            "polarity": 1 - counts["polarity"] / counts["findings"],
        }
    )


@dataclass(frozen=True)
class Trials:
    """Runs of the procedure with different settings, judged on the same resamples of reports.

    Attributes
    ----------
    sentences : with their true entities.
    annotator : of a run that names no other.
    names : of the library, in random order: a larger part of it holds the smaller ones.
    encoder : of the library.
    resamples : how often reports are drawn.
    rng : source of the draws.
    """

    sentences: Sequence[AnnotatedSentence]
    annotator: NoisyAnnotator
    names: Sequence[str]
    encoder: Encoder
    resamples: int
    rng: np.random.Generator

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """How often each resample has each report."""
        reports = len({sentence.report for sentence in self.sentences})
        return np.concatenate(list(drawn_counts(reports, self.resamples, self.rng, reports)))

    def curated(
        self, options: dict[str, Any], share: float = 0.8, annotator: NoisyAnnotator | None = None
    ) -> Curated:
        """What a setting of :func:`curate` keeps, with a library of a share of the names."""
        library = self.names[: round(share * len(self.names))]
        return curate(self.sentences, annotator or self.annotator, [], library, self.encoder, **options)

    def rates(self, *args: Any, **settings: Any) -> pd.DataFrame:
        """The :func:`rates` of :meth:`curated`: of all reports in the first row, then of each resample."""
        return rates(self.sums(self.tally(*args, **settings)))

    def tally(self, *args: Any, **settings: Any) -> pd.DataFrame:
        """The :func:`tally` of :meth:`curated`."""
        return tally(self.sentences, self.curated(*args, **settings))

    def sums(self, counts: pd.DataFrame) -> pd.DataFrame:
        """Sums of a tally over all reports in the first row, then over the reports of each resample."""
        by_report = counts.groupby("report").sum()
        table = by_report.to_numpy()
        return pd.DataFrame(np.vstack([table.sum(axis=0), self.weights @ table]), columns=by_report.columns)


def interval(draws: pd.DataFrame) -> pd.DataFrame:
    """Value and 95% interval of each column of what :class:`Trials` resampled."""
    ends = draws.iloc[1:].quantile([0.025, 0.975])
    return pd.DataFrame({"value": draws.iloc[0], "low": ends.loc[0.025], "high": ends.loc[0.975]})


def percent(row: pd.Series, form: str = ".1%") -> str:
    """A row of :func:`interval` as text."""
    return with_interval(row["value"], row["low"], row["high"], form)


def points(row: pd.Series) -> str:
    """A difference between rates, as text in percentage points."""
    return percent(100 * row, "+.1f") + " percentage points"


def check_rise(name: str, claim: str, change: pd.Series) -> Check:
    """Whether a rate rises, by the interval of its change."""
    return check_statement(name, claim, points(change), above(change["low"], change["high"]))


def right_spans(gold: Sequence[AnnotatedSentence], curated: Curated) -> set[tuple[str, int, int]]:
    """The entities that are right: sentence, first and last word."""
    true = {sentence.id: sentence.entities for sentence in gold}
    return {
        (sentence.id, entity.start, entity.end)
        for sentence in curated.sentences
        for entity in sentence.entities
        if kind_of(entity, true[sentence.id]) == "right"
    }


def flow_boxes(
    gold: Sequence[AnnotatedSentence],
    counts: pd.DataFrame,
    made: Mapping[str, Curated],
    cosine: float,
    density: float,
) -> list[tuple[str, str, str]]:
    """Title, numbers and note of the start and of each step of the procedure, for :func:`draw_flow`.

    Parameters
    ----------
    counts : sums of :func:`tally` after each of the four steps.
    made : what each step, by its name in ``counts``, keeps.
    """
    lost = -counts.diff().iloc[1:].astype(int)
    first, looked_up, dense, last = (row for _, row in counts.iterrows())
    reports = len({sentence.report for sentence in gold})
    before, after = (right_spans(gold, made[name]) for name in counts.index[-2:])
    return [
        (
            f"{first['sentences']:,} sentences of {reports:,} reports",
            f"{first['entities']:,} true entities",
            "",
        ),
        (
            "Annotator proposes",
            f"{first['found']:,} entities",
            f"{first['border']} borders off, {first['polarity']} polarities wrong,\n"
            f"{first['invented']} invented; {first['missed']} missed",
        ),
        (
            f"In the library: cosine ≥ {cosine}",
            f"{looked_up['found']:,} entities",
            f"{lost['found'].iloc[0]:,} outside the library: dropped\n"
            f"{lost['right'].iloc[0]:,} of them were right",
        ),
        (
            f"Dense enough: share ≥ {density}",
            f"{dense['kept']:,} sentences, {dense['found']:,} entities",
            f"{lost['kept'].iloc[1]:,} thin sentences dropped, with\n"
            f"{lost['found'].iloc[1]:,} entities, {lost['right'].iloc[1]:,} of them right",
        ),
        (
            "Polarity by cue words: kept",
            f"{last['kept']:,} sentences, {last['found']:,} entities",
            f"{made[counts.index[-1]].flipped:,} turned: {len(after - before):,} became right,\n"
            f"{len(before - after):,} became wrong",
        ),
    ]


def turned_findings(sentences: Sequence[AnnotatedSentence]) -> pd.Series:
    """How often cues that decide turn a true finding wrong, by its name, commonest first."""
    turned = [
        _name(words, entity)
        for sentence in sentences
        for words in [plain_words(sentence)]
        for entity, other in zip(sentence.entities, with_polarity(words, sentence.entities), strict=True)
        if entity.label != other.label
    ]
    return pd.Series(turned, dtype=object).value_counts()


def draw_flow(axes: Axes, boxes: Sequence[tuple[str, str, str]], counts: pd.DataFrame) -> None:
    """The procedure from top to bottom: what each step keeps, and beside it what it took.

    Parameters
    ----------
    boxes : title, numbers and note of the start and of each step.
    counts : sums of :func:`tally` after each step.
    """
    axes.set(xlim=(0, 100), ylim=(-100, 2))
    axes.set_axis_off()
    blue, orange = plots.PALETTE[:2]
    for place, (title, numbers, note) in enumerate(boxes):
        top = -20 * place
        axes.add_patch(
            FancyBboxPatch(
                (1, top - 14), 49, 14, boxstyle="round,pad=0,rounding_size=1.2", fc="0.97", ec="0.6"
            )
        )
        axes.text(3, top - 3.6, title, fontsize=10, weight="bold", va="center")
        if place:
            row, length = counts.iloc[place - 1], 45 / counts["found"].iloc[0]
            numbers += f", {row['right'] / row['found']:.0%} right"
            axes.add_patch(Rectangle((3, top - 12.4), length * row["found"], 1.8, color=orange, lw=0))
            axes.add_patch(Rectangle((3, top - 12.4), length * row["right"], 1.8, color=blue, lw=0))
            axes.annotate("", (25, top), (25, top + 6), arrowprops={"arrowstyle": "-|>", "color": "0.3"})
            axes.annotate("", (55, top - 7), (50, top - 7), arrowprops={"arrowstyle": "-", "color": "0.6"})
            axes.text(56, top - 7, note, fontsize=9.5, va="center", color="0.25")
        axes.text(3, top - 8, numbers, fontsize=9.5, va="center")
    keys = [Patch(color=blue, label="right"), Patch(color=orange, label="wrong")]
    axes.legend(handles=keys, loc="lower left", bbox_to_anchor=(0, -0.03), ncols=2)


def draw_band(
    axes: Axes, results: dict[float, pd.DataFrame], measure: str, shade: float = 0.15, **style: Any
) -> None:
    """A line of a rate, in per cent, against a setting, with its intervals as a band.

    Parameters
    ----------
    results : by setting, what :meth:`Trials.rates` gives.
    """
    line = 100 * pd.DataFrame({at: interval(result).loc[measure] for at, result in results.items()}).T
    (drawn,) = axes.plot(line.index, line["value"], **style)
    axes.fill_between(line.index, line["low"], line["high"], color=drawn.get_color(), alpha=shade, lw=0)
