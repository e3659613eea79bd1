"""Apply RaTE-NER's filters (Zhao et al. 2024, A.2): library of names, annotation density, cue words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

import pandas as pd

from radeval_lib.data.records import AnnotatedSentence, Entity, reveal_tokens
from radeval_lib.metrics.ratescore.formula import normalize_rows
from radeval_lib.models.encoders import Encoder

# Cue words that deny a finding; the first four are the paper's own examples of key negative words.
CUES = (
    *("no", "without", "unremarkable", "intact"),
    *("not", "absence of", "negative for", "free of", "nor", "normal"),
)
# The filtered parts of sentences, each with its filter.
ENTITIES, OTHER_WORDS = "annotated entities, dropped by the library", "other words, dropped by the library"
SENTENCES, FINDINGS = "sentences, dropped by the density", "findings, reversed by the cue words"

# Words and punctuation that end the scope of a cue.
_STOPS = frozenset({"but", "however", "although", "except", ";", ":"})
# Cues that also deny the entities before them.
_BACKWARD_CUES = frozenset({"unremarkable", "intact", "normal"})
_NEGATED = {"Abnormality": "Non-Abnormality", "Disease": "Non-Disease"}
_AFFIRMED = {negated: positive for positive, negated in _NEGATED.items()}
_FUNCTION_WORDS = frozenset(
    {"a", "an", "the", "of", "in", "on", "at", "to", "for", "with", "and", "or", "is", "are", "was", "were"}
    | {"be", "been", "there", "this", "that", "no", "not", "without", "by", "from", "as", "it", "its"}
    | {"has", "have", "had"}
)


def find_content_words(words: Sequence[str]) -> set[int]:
    """Return the positions, from 0, of the content words: words with letters that are not function words."""
    return {
        position
        for position, word in enumerate(words)
        if re.search(r"[^\W\d_]", word) and word.lower() not in _FUNCTION_WORDS
    }


def find_annotated_words(entities: Iterable[Entity]) -> set[int]:
    """Return the positions, from 0, of the words in any entity."""
    return {position for entity in entities for position in range(entity.start, entity.end)}


def apply_cue_words(words: Sequence[str], entities: Sequence[Entity]) -> list[Entity]:
    """Return the entities of a sentence with the types that the cue words imply.

    An entity that a cue denies becomes a Non-Abnormality or Non-Disease, and any other becomes an Abnormality
    or Disease; the type Anatomy is unchanged. A cue denies the entities that contain it and those after it,
    up to the next ``but``, ``however``, ``although``, ``except``, semicolon or colon. ``unremarkable``,
    ``intact`` and ``normal`` also deny the entities before them, back to such a word or sign.
    """
    tokens, retyped = [word.lower() for word in words], []
    for entity in entities:
        words_before = [*takewhile(lambda word: word not in _STOPS, reversed(tokens[: entity.start]))][::-1]
        words_after = takewhile(lambda word: word not in _STOPS, tokens[entity.end :])
        span = f" {' '.join([*words_before, *tokens[entity.start : entity.end]])} "
        is_negated = any(f" {cue} " in span for cue in CUES) or not _BACKWARD_CUES.isdisjoint(words_after)
        new_labels = _NEGATED if is_negated else _AFFIRMED
        retyped.append(replace(entity, label=new_labels.get(entity.label, entity.label)))
    return retyped


def list_entity_names(sentence: AnnotatedSentence) -> list[str]:
    """Return the text of each entity of a sentence: its words in lower case, separated by spaces."""
    words = reveal_tokens(sentence)
    return [" ".join(words[entity.start : entity.end]).lower() for entity in sentence.entities]


def measure_filter_effects(
    sentences: Iterable[AnnotatedSentence],
    library: Iterable[str],
    encoder: Encoder,
    thresholds: Mapping[str, float],
) -> pd.DataFrame:
    """Return whether each filter, applied alone, changes correctly annotated parts of sentences.

    Parameters
    ----------
    sentences : the annotated sentences.
    library : the names of entities in RaTE-NER's library.
    encoder : the encoder of words and names.
    thresholds : ``cosine`` and ``density``, each from 0 to 1. A word or entity is dropped if its cosine with
        the most similar name in the library is below ``cosine``. A sentence is dropped if the share of its
        content words that are in an entity is below ``density``; without content words, the share is 0.

    Returns
    -------
    DataFrame
        One row per entity, other content word, sentence and finding: ``report``; ``kind``, one of
        :data:`ENTITIES`, :data:`OTHER_WORDS`, :data:`SENTENCES` and :data:`FINDINGS`; ``changed``, whether
        the filter drops it or reverses its type.
    """
    lookups, rows = list[tuple[str, str, str]](), list[tuple[str, str, bool]]()
    for sentence in sentences:
        words, report, entities = reveal_tokens(sentence), sentence.report, sentence.entities
        content, annotated = find_content_words(words), find_annotated_words(entities)
        lookups += [(report, ENTITIES, name) for name in list_entity_names(sentence)]
        lookups += [(report, OTHER_WORDS, words[index].lower()) for index in sorted(content - annotated)]
        density = len(content & annotated) / len(content) if content else 0.0
        rows.append((report, SENTENCES, density < thresholds["density"]))
        before_and_after = zip(entities, apply_cue_words(words, entities), strict=True)
        rows += [(report, FINDINGS, old != new) for old, new in before_and_after if old.label != "Anatomy"]
    queries, targets = sorted({name for *_, name in lookups}), sorted({name.lower() for name in library})
    cosines = normalize_rows(encoder.encode(queries)) @ normalize_rows(encoder.encode(targets)).T
    best_cosines = dict(zip(queries, cosines.max(axis=1).tolist(), strict=True))
    rows += [(report, kind, best_cosines[name] < thresholds["cosine"]) for report, kind, name in lookups]
    return pd.DataFrame(rows, columns=["report", "kind", "changed"])
