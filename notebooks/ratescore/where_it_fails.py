"""Measure errors that RaTEScore lets pass with faultless models, and changes of form."""

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
ERRORS: dict[str, tuple[_Entities, _Entities]] = {
    "wrong side": (_NODULE, [_NODULE[0], ("left upper lobe", "ANATOMY")]),
    "nodule denied": (_NODULE, [("nodule", "NON-ABNORMALITY"), _NODULE[1]]),
    "pneumonia denied": (_PNEUMONIA, [("pneumonia", "NON-DISEASE"), _PNEUMONIA[1]]),
    "another finding": (_NODULE, [("effusion", "ABNORMALITY"), _NODULE[1]]),
    "one of two invented": (_EFFUSION, [*_EFFUSION, ("pneumothorax", "ABNORMALITY")]),
    "one of two invented, true one thrice": (_EFFUSION, [*_EFFUSION * 3, ("pneumothorax", "ABNORMALITY")]),
    "no entity": (_EFFUSION, []),
}
"""Entities that a faultless NER model finds in a reference and in a candidate with an error."""

SYNONYM, OPPOSITE = "synonym rewrite", "opposite rewrite"
_APPENDIX = ("appendix", "ANATOMY")
ENTITIES = {
    "reference": [_APPENDIX, ("visualized", "NON-ABNORMALITY"), ("air-filled", "NON-ABNORMALITY")],
    SYNONYM: [_APPENDIX, ("seen", "NON-ABNORMALITY"), ("contains gas", "NON-ABNORMALITY")],
    OPPOSITE: [_APPENDIX, ("poorly visualized", "ABNORMALITY"), ("not air-filled", "ABNORMALITY")],
}
"""Entities that a faultless NER model finds in A.5's texts; those at the same position match."""

PRINTED_TYPES = {
    "There is pneumonia.": ("pneumonia", "DISEASE"),
    "There are masses.": ("masses", "ABNORMALITY"),
    "There is an effusion.": ("effusion", "ABNORMALITY"),
    "There is edema.": ("edema", "ABNORMALITY"),
    "There is a pleural effusion.": ("pleural effusion", "ABNORMALITY"),
    "No evidence of pleural effusion.": ("pleural effusion", "NON-ABNORMALITY"),
}
"""Entities of the paper's Section 2 with their types, each in a plain sentence that we wrote."""


def sentences(text: str) -> list[str]:
    """Return the sentences of a report, cut at every full stop before white space, even in "Dr. Smith".

    It does not use :mod:`radeval_lib.rules.report_text`, which the layouts are meant to test.
    """
    return re.split(r"(?<=[.!?])\s+", text)


WRAPPED: dict[str, Callable[[str], str]] = {
    "wrapped at 40 columns": lambda text: fill(text, 40),
    "wrapped at 60 columns": lambda text: fill(text, 60),
    "wrapped at 80 columns": lambda text: fill(text, 80),
    "wrapped, lines end with CRLF": lambda text: fill(text, 60).replace("\n", "\r\n"),
    "wrapped, lines end with spaces": lambda text: fill(text, 60).replace("\n", "  \n") + " ",
    "a sentence a line": lambda text: "\n".join(sentences(text)),
}
"""Layouts that change only white space."""
FORMS = {
    **WRAPPED,
    "a space at the end": lambda text: f"{text} ",
    "sentences in reverse": lambda text: " ".join(reversed(sentences(text))),
    "upper case": str.upper,
}
"""The same report in another form."""
_ROUNDING = 1e-6  # noise from batch composition is smaller


def least_score(scorer: Scorer, reference: _Entities, candidate: _Entities) -> float:
    """Return the lowest score if different names have a cosine of 0.

    A name without an identical one then matches all names of the other side equally well, and the match that
    is chosen decides the weight. This is the lowest score over all ways to break such ties. With n pairs of
    different names, the metric runs 2^n times: use it for a handful of entities.
    """
    same = np.array([[ours == theirs for theirs, _ in candidate] for ours, _ in reference], dtype=bool)
    same = same.reshape(len(reference), len(candidate))
    unlike = np.argwhere(~same)
    scores = []
    for preferred in product((0.0, 1e-12), repeat=len(unlike)):
        similarity = same.astype(np.float64)
        similarity[tuple(unlike.T)] = preferred
        scores.append(scorer.score(reference, candidate, similarity).score)
    return min(scores)


def by_entities(scorer: Scorer, cosine: float) -> pd.Series:
    """Return RaTEScore of both rewrites with :data:`ENTITIES`.

    Matched names that differ have this ``cosine`` (0 to 1); all other different names have 0.
    """
    least = max(cosine, 1e-9)  # above unmatched names, so that names at the same position match
    similarity = np.diag([1.0, least, least])
    reference = ENTITIES["reference"]
    return pd.Series(
        {role: scorer.score(reference, ENTITIES[role], similarity).score for role in (SYNONYM, OPPOSITE)}
    )


def types_found(metric: RaTEScore) -> pd.DataFrame:
    """Return the entities that the NER model finds in :data:`PRINTED_TYPES`, and if they are ``right``."""

    def listed(entities: _Entities) -> str:
        return ", ".join(f"{words} ({kind.capitalize()})" for words, kind in entities) or "no entity"

    rows = [
        (listed([wanted]), listed(entities), list(entities) == [wanted])
        for entities, wanted in zip(metric.entities(list(PRINTED_TYPES)), PRINTED_TYPES.values(), strict=True)
    ]
    return pd.DataFrame(rows, columns=["printed", "found", "right"], index=list(PRINTED_TYPES))


def changed_by_form(metric: Metric, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Return the effect of the candidate's form on the scores, one row per form of :data:`FORMS`.

    ``score changes``: pairs whose score changes; ``of these, cut into other sentences``: those among them
    whose candidate is cut into other sentences, white space and case apart; ``largest change``.
    """
    references, candidates = (list(side) for side in zip(*pairs, strict=True))
    before = metric.score(references, candidates).values
    rows = {}
    for form, layout in FORMS.items():
        formed = [layout(text) for text in candidates]
        change = np.abs(metric.score(references, formed).values - before)
        recut = np.array([_cut(text) != _cut(other) for text, other in zip(candidates, formed, strict=True)])
        changed = change > _ROUNDING
        rows[form] = (int(changed.sum()), int((changed & recut).sum()), float(change.max()))
    columns = ["score changes", "of these, cut into other sentences", "largest change"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def _cut(text: str) -> list[str]:
    return sorted(" ".join(sentence.upper().split()) for sentence in split(text))
