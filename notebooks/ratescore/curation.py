"""The filters behind RaTE-NER (Zhao et al. 2024, A.2): a library of names, annotation density, cue words.

In place of the paper's GPT-4, an annotator that knows the truth errs on purpose, so that it is known of every
entity whether a filter should have taken it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

import pandas as pd

from radeval_lib.data.records import AnnotatedSentence, Entity, plain_words
from radeval_lib.metrics.ratescore.formula import unit
from radeval_lib.models.encoders import Encoder
from radeval_lib.stats.resampling import share_interval
from radeval_lib.study.runs import Run

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
KINDS = {"right": "right", "polarity": "wrong polarity", "border": "wrong border", "invented": "invented"}
FILTERS = {"outside": "library", "thin": "density"}
CUE_WORDS = "cue words, which turn the polarity"

_STOPS = frozenset({"but", "however", "although", "except", ";", ":"})
_AFTER = frozenset({"unremarkable", "intact", "normal"})
_POLARITY = {"Abnormality": "Non-Abnormality", "Disease": "Non-Disease"}
_BACK = {negated: positive for positive, negated in _POLARITY.items()}
_OPPOSITE = _POLARITY | _BACK
_FUNCTION = frozenset(
    {"a", "an", "the", "of", "in", "on", "at", "to", "for", "with", "and", "or", "is", "are", "was", "were"}
    | {"be", "been", "there", "this", "that", "no", "not", "without", "by", "from", "as", "it", "its"}
    | {"has", "have", "had"}
)


def nearest(wanted: Sequence[str], library: Sequence[str], encoder: Encoder) -> dict[str, float]:
    """Return the cosine of each name with the nearest name of the library, by the name in lower case;
    capitals are not compared."""
    asked, library_names = (sorted({name.lower() for name in side}) for side in (wanted, library))
    table = unit(encoder.encode(asked)) @ unit(encoder.encode(library_names)).T
    return dict(zip(asked, table.max(axis=1).tolist(), strict=True))


def annotated_share(words: Sequence[str], entities: Sequence[Entity]) -> float:
    """Return share of the content words (letters, and not a function word) that are in an entity; 0 if there
    are none."""
    content = {
        i for i, word in enumerate(words) if re.search(r"[^\W\d_]", word) and word.lower() not in _FUNCTION
    }
    covered = {position for entity in entities for position in range(entity.start, entity.end)}
    return len(content & covered) / len(content) if content else 0.0


def with_polarity(words: Sequence[str], entities: Sequence[Entity]) -> list[Entity]:
    """Return the entities with Abnormality and Disease turned to their negations, or back, by the cue words
    of the sentence.

    A cue reaches from where it stands to the next ``but``, ``however``, semicolon or the like;
    ``unremarkable``, ``intact`` and ``normal`` say the same of what stands before them. Anatomy stays.
    """
    lowered, turned = [word.lower() for word in words], []
    for entity in entities:
        turn = _POLARITY if _negated(lowered, entity) else _BACK
        turned.append(replace(entity, label=turn.get(entity.label, entity.label)))
    return turned


def _negated(words: Sequence[str], entity: Entity) -> bool:
    before = [*takewhile(lambda word: word not in _STOPS, reversed(words[: entity.start]))][::-1]
    after = takewhile(lambda word: word not in _STOPS, words[entity.end :])
    span = f" {' '.join([*before, *words[entity.start : entity.end]])} "
    return any(f" {cue} " in span for cue in CUES) or bool(_AFTER & set(after))


def _name(words: Sequence[str], entity: Entity) -> str:
    return " ".join(words[entity.start : entity.end]).lower()


def names(sentences: Iterable[AnnotatedSentence]) -> list[str]:
    """Return the distinct names of the sentences' entities, in lower case, sorted."""
    return sorted(
        {_name(plain_words(sentence), entity) for sentence in sentences for entity in sentence.entities}
    )


def proposed(
    words: Sequence[str],
    entities: Sequence[Entity],
    *,
    seed: int,
    miss: float = 0.05,
    shift: float = 0.1,
    invent: float = 0.3,
    confuse: float = 0.1,
) -> list[Entity]:
    """Return the entities of a sentence as an annotator sees them that knows the true ones and errs at stated
    rates.

    Parameters
    ----------
    seed : of the errors; a sentence's errors depend on the seed and its words alone.
    miss : share of entities left out.
    shift : share one of whose borders is moved outwards by a word, if the sentence goes on there.
    invent : entities of one random word per sentence on average, but for words that are in an entity already.
    confuse : share whose polarity is wrong; an Anatomy has none.
    """
    if not words:
        return []
    rng = random.Random(f"{seed} {' '.join(words)}")
    proposals = []
    for entity in entities:
        if rng.random() < miss:
            continue
        start, end, kind = entity.start, entity.end, entity.label
        if rng.random() < shift:
            start, end = (max(0, start - 1), end) if rng.random() < 0.5 else (start, min(len(words), end + 1))
        if rng.random() < confuse:
            kind = _OPPOSITE.get(kind, kind)
        proposals.append(Entity(start, end, kind))
    for _ in range(int(invent) + (rng.random() < invent % 1)):
        start = rng.randrange(len(words))
        if not any(entity.start <= start < entity.end for entity in proposals):
            proposals.append(Entity(start, start + 1, rng.choice(["Anatomy", *_POLARITY, *_BACK])))
    return sorted(proposals, key=lambda entity: (entity.start, entity.end))


def kind_of(entity: Entity, truth: Iterable[Entity]) -> str:
    """Return the relation of an entity to the true ones.

    ``right``; ``polarity``: right words, opposite polarity; ``border``: touches a true entity, but has other
    borders or an unrelated type; ``invented``: touches none.
    """
    near = [true for true in truth if true.start < entity.end and entity.start < true.end]
    if not near:
        return "invented"
    same = {true.label for true in near if (true.start, true.end) == (entity.start, entity.end)}
    if entity.label in same:
        return "right"
    return "polarity" if _OPPOSITE.get(entity.label) in same else "border"


def judged(
    sentences: Sequence[AnnotatedSentence],
    annotate: Callable[[Sequence[str], Sequence[Entity]], list[Entity]],
    library: Sequence[str],
    encoder: Encoder,
    cuts: Mapping[str, float],
) -> pd.DataFrame:
    """Return the effect of each filter alone on every entity that an annotator as :func:`proposed` proposes.

    ``cuts``: ``cosine`` below which an entity is dropped, ``density`` below which a sentence is. One row per
    entity: ``report``; ``kind`` before any filter and ``after`` the cue words (:func:`kind_of`); ``finding``:
    no Anatomy; whether the library drops it (``outside``) and the density its sentence (``thin``).
    """
    rows = []
    for sentence in sentences:
        words = plain_words(sentence)
        annotated = annotate(words, sentence.entities)
        thin = annotated_share(words, annotated) < cuts["density"]
        for entity, turned in zip(annotated, with_polarity(words, annotated), strict=True):
            kinds = [kind_of(candidate, sentence.entities) for candidate in (entity, turned)]
            rows.append((sentence.report, _name(words, entity), *kinds, entity.label != "Anatomy", thin))
    table = pd.DataFrame(rows, columns=["report", "name", "kind", "after", "finding", "thin"])
    near = nearest(table["name"].tolist(), library, encoder)
    return table.assign(outside=table["name"].map(near) < cuts["cosine"]).drop(columns="name")


def taken(table: pd.DataFrame, run: Run) -> pd.DataFrame:
    """Return share of each kind of entity that each filter drops, with intervals from drawing reports; of
    :data:`CUE_WORDS`, the share of findings whose polarity they turn.

    ``table``: of :func:`judged`. Index ``filter`` and ``kind``; ``value``, ``low``, ``high``, ``n``.
    """
    findings = table[table["finding"]].assign(turned=table["after"] != table["kind"])
    parts = dict.fromkeys(FILTERS.items(), (table, KINDS))
    parts["turned", CUE_WORDS] = findings, {kind: KINDS[kind] for kind in ("right", "polarity")}
    rows = {}
    for (column, name), (entities, kinds) in parts.items():
        for kind, words in kinds.items():
            of_kind, rng = entities[entities["kind"] == kind], run.rng(f"{name} {kind}")
            reports = of_kind["report"].tolist()
            interval = share_interval(of_kind[column], reports, resamples=run.profile.resamples, rng=rng)
            rows[name, words] = (*interval, len(of_kind))
    index = pd.MultiIndex.from_tuples(rows, names=["filter", "kind"])
    return pd.DataFrame(rows.values(), index=index, columns=["value", "low", "high", "n"])
