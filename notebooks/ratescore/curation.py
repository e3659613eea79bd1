"""Apply RaTE-NER's filters (Zhao et al. 2024, A.2): library of names, annotation density, cue words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

import pandas as pd

from radeval_lib.data.records import AnnotatedSentence, Entity, plain_words
from radeval_lib.metrics.ratescore.formula import normalize_rows
from radeval_lib.models.encoders import Encoder

# Cue words that deny a finding; the first four are the paper's own examples of key negative words.
CUES = (
    *("no", "without", "unremarkable", "intact"),
    *("not", "absence of", "negative for", "free of", "nor", "normal"),
)
ENTITIES, OTHERS = "annotated entities, dropped by the library", "other words, dropped by the library"
SENTENCES, FINDINGS = "sentences, dropped by the density", "findings, turned by the cue words"

_STOPS = frozenset({"but", "however", "although", "except", ";", ":"})
_AFTER = frozenset({"unremarkable", "intact", "normal"})
_NEGATED = {"Abnormality": "Non-Abnormality", "Disease": "Non-Disease"}
_AFFIRMED = {negated: positive for positive, negated in _NEGATED.items()}
_FUNCTION = frozenset(
    {"a", "an", "the", "of", "in", "on", "at", "to", "for", "with", "and", "or", "is", "are", "was", "were"}
    | {"be", "been", "there", "this", "that", "no", "not", "without", "by", "from", "as", "it", "its"}
    | {"has", "have", "had"}
)


def content_words(words: Sequence[str]) -> set[int]:
    """Return the positions, from 0, of the words that have letters and are not function words."""
    return {
        position
        for position, word in enumerate(words)
        if re.search(r"[^\W\d_]", word) and word.lower() not in _FUNCTION
    }


def annotated_words(entities: Iterable[Entity]) -> set[int]:
    """Return the positions, from 0, of the words that are in an entity."""
    return {position for entity in entities for position in range(entity.start, entity.end)}


def apply_cue_words(words: Sequence[str], entities: Sequence[Entity]) -> list[Entity]:
    """Return a sentence's entities with the types that the cue words imply.

    An entity that a cue denies becomes a Non-Abnormality or Non-Disease, and any other becomes an Abnormality
    or Disease; Anatomy stays. A cue denies entities that contain it and entities after it, up to the next
    ``but``, ``however``, ``although``, ``except``, semicolon or colon. ``unremarkable``, ``intact`` and
    ``normal`` also deny entities before them, back to such a word.
    """
    lowered, retyped = [word.lower() for word in words], []
    for entity in entities:
        words_before = [*takewhile(lambda word: word not in _STOPS, reversed(lowered[: entity.start]))][::-1]
        words_after = takewhile(lambda word: word not in _STOPS, lowered[entity.end :])
        span = f" {' '.join([*words_before, *lowered[entity.start : entity.end]])} "
        negated = any(f" {cue} " in span for cue in CUES) or not _AFTER.isdisjoint(words_after)
        new_labels = _NEGATED if negated else _AFFIRMED
        retyped.append(replace(entity, label=new_labels.get(entity.label, entity.label)))
    return retyped


def entity_names(sentence: AnnotatedSentence) -> list[str]:
    """Return the words of each entity of a sentence, in lower case, joined by blanks."""
    words = plain_words(sentence)
    return [" ".join(words[entity.start : entity.end]).lower() for entity in sentence.entities]


def filter_effects(
    sentences: Iterable[AnnotatedSentence],
    library: Iterable[str],
    encoder: Encoder,
    cuts: Mapping[str, float],
) -> pd.DataFrame:
    """Return whether each filter, applied alone, changes the parts of sentences whose annotation is right.

    Parameters
    ----------
    sentences : the annotated sentences.
    library : the names of entities in RaTE-NER's library.
    encoder : makes the vectors of words and names.
    cuts : two thresholds, 0 to 1. A word or entity is dropped if its cosine with the most similar name in the
        library is below ``cosine``. A sentence is dropped if the share of its content words that are in an
        entity is below ``density``; without content words, the share is 0.

    Returns
    -------
    DataFrame
        One row per entity, other content word, sentence and finding: ``report``; ``kind``, one of
        :data:`ENTITIES`, :data:`OTHERS`, :data:`SENTENCES` and :data:`FINDINGS`; ``changed``, whether the
        filter drops it or reverses its type.
    """
    looked_up, rows = list[tuple[str, str, str]](), list[tuple[str, str, bool]]()
    for sentence in sentences:
        words, report, entities = plain_words(sentence), sentence.report, sentence.entities
        content, annotated = content_words(words), annotated_words(entities)
        looked_up += [(report, ENTITIES, name) for name in entity_names(sentence)]
        looked_up += [(report, OTHERS, words[position].lower()) for position in sorted(content - annotated)]
        density = len(content & annotated) / len(content) if content else 0.0
        rows.append((report, SENTENCES, density < cuts["density"]))
        retyped = zip(entities, apply_cue_words(words, entities), strict=True)
        rows += [(report, FINDINGS, old != new) for old, new in retyped if old.label != "Anatomy"]
    queries, in_library = sorted({name for *_, name in looked_up}), sorted({name.lower() for name in library})
    cosines = normalize_rows(encoder.encode(queries)) @ normalize_rows(encoder.encode(in_library)).T
    nearest = dict(zip(queries, cosines.max(axis=1).tolist(), strict=True))
    rows += [(report, kind, nearest[name] < cuts["cosine"]) for report, kind, name in looked_up]
    return pd.DataFrame(rows, columns=["report", "kind", "changed"])
