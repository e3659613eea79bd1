"""Measure how little some errors lower RaTEScore with faultless models, and the effect of a text's form."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product
from textwrap import fill

import numpy as np
import pandas as pd

from radeval_lib.metrics.base import Metric
from radeval_lib.metrics.ratescore import RaTEScore, Scorer
from radeval_lib.metrics.ratescore.sentences import split

_Entities = Sequence[tuple[str, str]]
_NODULE = [("nodule", "ABNORMALITY"), ("right upper lobe", "ANATOMY")]
_PNEUMONIA = [("pneumonia", "DISEASE"), ("right lower lobe", "ANATOMY")]
_EFFUSION = [("pleural effusion", "ABNORMALITY")]
# A mapping from each error to the entities that a faultless NER model finds in reference and candidate.
ERRORS: dict[str, tuple[_Entities, _Entities]] = {
    "wrong side": (_NODULE, [_NODULE[0], ("left upper lobe", "ANATOMY")]),
    "nodule denied": (_NODULE, [("nodule", "NON-ABNORMALITY"), _NODULE[1]]),
    "pneumonia denied": (_PNEUMONIA, [("pneumonia", "NON-DISEASE"), _PNEUMONIA[1]]),
    "another finding": (_NODULE, [("effusion", "ABNORMALITY"), _NODULE[1]]),
    "one of two invented": (_EFFUSION, [*_EFFUSION, ("pneumothorax", "ABNORMALITY")]),
    "one of two invented, true one thrice": (_EFFUSION, [*_EFFUSION * 3, ("pneumothorax", "ABNORMALITY")]),
    "no entity": (_EFFUSION, []),
}

SYNONYM, OPPOSITE = "synonym rewrite", "opposite rewrite"
_APPENDIX = ("appendix", "ANATOMY")
# Entities that a faultless NER model finds in the texts of Appendix A.5. Those at the same position match.
ENTITIES = {
    "reference": [_APPENDIX, ("visualized", "NON-ABNORMALITY"), ("air-filled", "NON-ABNORMALITY")],
    SYNONYM: [_APPENDIX, ("seen", "NON-ABNORMALITY"), ("contains gas", "NON-ABNORMALITY")],
    OPPOSITE: [_APPENDIX, ("poorly visualized", "ABNORMALITY"), ("not air-filled", "ABNORMALITY")],
}

# A mapping from a sentence of our own to its entity, which Section 2 of the paper prints with this type.
PRINTED_TYPES = {
    "There is pneumonia.": ("pneumonia", "DISEASE"),
    "There are masses.": ("masses", "ABNORMALITY"),
    "There is an effusion.": ("effusion", "ABNORMALITY"),
    "There is edema.": ("edema", "ABNORMALITY"),
    "There is a pleural effusion.": ("pleural effusion", "ABNORMALITY"),
    "No evidence of pleural effusion.": ("pleural effusion", "NON-ABNORMALITY"),
}


def split_sentences(text: str) -> list[str]:
    """Split a report after each ``.``, ``!`` or ``?`` before white space.

    "Dr. Smith" is split, too. The function does not use :mod:`radeval_lib.rules.report_text`, because the
    tests of that module use these layouts.
    """
    return re.split(r"(?<=[.!?])\s+", text)


# Layouts that change only white space.
WRAPPED: dict[str, Callable[[str], str]] = {
    "wrapped at 40 columns": lambda text: fill(text, 40),
    "wrapped at 60 columns": lambda text: fill(text, 60),
    "wrapped at 80 columns": lambda text: fill(text, 80),
    "wrapped, lines end with CRLF": lambda text: fill(text, 60).replace("\n", "\r\n"),
    "wrapped, lines end with spaces": lambda text: fill(text, 60).replace("\n", "  \n") + " ",
    "one sentence per line": lambda text: "\n".join(split_sentences(text)),
}
# Changes to the form of a report that keep its words.
FORMS = {
    **WRAPPED,
    "a space at the end": lambda text: f"{text} ",
    "sentences in reverse": lambda text: " ".join(reversed(split_sentences(text))),
    "upper case": str.upper,
}
_TOLERANCE = 1e-6  # Scores change by less if texts are in other batches.


def compute_lowest_score(scorer: Scorer, reference: _Entities, candidate: _Entities) -> float:
    """Return the lowest score that a pair can have if equal names have a cosine of 1 and different names 0.

    A name that the other side lacks then matches all names there equally well, and its weight depends on the
    match. The score is the lowest over all ways to break such ties. With n pairs of different names, the
    metric runs 2^n times, so use only a few entities. ``reference`` and ``candidate`` are (name, type) pairs.
    """
    same_name = np.array([[name == other for other, _ in candidate] for name, _ in reference], dtype=bool)
    same_name = same_name.reshape(len(reference), len(candidate))
    different_pairs = np.argwhere(~same_name)
    scores = []
    for tie_breakers in product((0.0, 1e-12), repeat=len(different_pairs)):
        similarity = same_name.astype(np.float64)
        similarity[tuple(different_pairs.T)] = tie_breakers
        scores.append(scorer.score(reference, candidate, similarity).score)
    return min(scores)


def score_rewrites(scorer: Scorer, cosine: float) -> pd.Series:
    """Return the scores of the two rewrites in A.5, given :data:`ENTITIES`; the index is the rewrite.

    Different names have the cosine ``cosine`` (0 to 1) at the same position, and 0 at different positions.
    """
    match_cosine = max(cosine, 1e-9)  # A positive cosine makes names at the same position match.
    similarity = np.diag([1.0, match_cosine, match_cosine])
    reference = ENTITIES["reference"]
    return pd.Series(
        {role: scorer.score(reference, ENTITIES[role], similarity).score for role in (SYNONYM, OPPOSITE)}
    )


def compare_types(metric: RaTEScore) -> pd.DataFrame:
    """Return the entity printed for each sentence in :data:`PRINTED_TYPES`, and those that the metric finds.

    The index is the sentence; columns are ``printed`` and ``found`` (as text), and ``right``, whether the
    metric's NER model finds the printed entity with its type and no other.
    """

    def describe(entities: _Entities) -> str:
        return ", ".join(f"{name} ({kind.capitalize()})" for name, kind in entities) or "no entity"

    rows = [
        (describe([printed_entity]), describe(entities), list(entities) == [printed_entity])
        for entities, printed_entity in zip(
            metric.entities(list(PRINTED_TYPES)), PRINTED_TYPES.values(), strict=True
        )
    ]
    return pd.DataFrame(rows, columns=["printed", "found", "right"], index=list(PRINTED_TYPES))


def measure_forms(metric: Metric, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Return the effect of the candidate's form on its score, one row per form of :data:`FORMS`.

    The index is the form. Columns are ``score changes``, the number of pairs whose score changes by more than
    1e-6; ``of these, split into other sentences``, the number of these in which RaTEScore splits the changed
    candidate into other sentences, apart from white space and case; and ``largest change``, the largest
    absolute change of a score. Each pair is (reference, candidate).
    """
    references, candidates = (list(side) for side in zip(*pairs, strict=True))
    original_scores = metric.score(references, candidates).values
    rows = {}
    for name, change_form in FORMS.items():
        changed_texts = [change_form(text) for text in candidates]
        changes = np.abs(metric.score(references, changed_texts).values - original_scores)
        text_pairs = zip(candidates, changed_texts, strict=True)
        is_recut = np.array([_list_sentences(old) != _list_sentences(new) for old, new in text_pairs])
        has_changed = changes > _TOLERANCE
        rows[name] = (int(has_changed.sum()), int((has_changed & is_recut).sum()), float(changes.max()))
    columns = ["score changes", "of these, split into other sentences", "largest change"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def _list_sentences(text: str) -> list[str]:
    """Return the sentences into which RaTEScore splits a text, sorted, in normalized white space and case."""
    return sorted(" ".join(sentence.upper().split()) for sentence in split(text))
