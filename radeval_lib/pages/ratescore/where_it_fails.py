"""Small texts of which everybody can say what a good score would be, and trials of RaTEScore's parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from IPython.display import HTML
from numpy.typing import NDArray

from radeval_lib import tables
from radeval_lib.data.records import AnnotatedSentence
from radeval_lib.metrics.ratescore import RaTEScore, cosines
from radeval_lib.models.ner.entities import plain_words
from radeval_lib.synthetic.entity_counterparts import Rewritten

_ONE = "There is a small left pleural effusion."
_WRONG = "There is a large pneumothorax."
TRIALS: dict[str, tuple[str, dict[str, str]]] = {
    "empty": (
        "Comparison is made with the prior study.",
        {
            "a disease": "There is severe pneumonia in the right lower lobe.",
            "all is well": "The lungs are clear.",
        },
    ),
    "details": (
        "There is a 3 mm nodule in the right upper lobe.",
        {
            "ten times the size": "There is a 30 mm nodule in the right upper lobe.",
            "the other side": "There is a 3 mm nodule in the left upper lobe.",
            "both": "There is a 30 mm nodule in the left upper lobe.",
            "no nodule": "There is no nodule in the right upper lobe.",
        },
    ),
    "repeated": (
        f"{_ONE} There is a displaced rib fracture. The heart is enlarged.",
        {
            "one finding": _ONE,
            "the finding three times": " ".join([_ONE] * 3),
            "one right, one wrong": f"{_ONE} {_WRONG}",
            "three times right, one wrong": " ".join([_ONE] * 3 + [_WRONG]),
        },
    ),
    "hedged": (
        "There is pneumonia in the right lower lobe.",
        {
            "possible": "There is possible pneumonia in the right lower lobe.",
            "not excluded": "Pneumonia in the right lower lobe cannot be excluded.",
            "denied": "There is no pneumonia in the right lower lobe.",
        },
    ),
}
"""References, each with candidates by what they say."""

POLARITIES = [
    ("There is a pneumothorax.", "pneumothorax", True),
    ("There is no pneumothorax.", "pneumothorax", False),
    ("The pneumothorax has resolved.", "pneumothorax", False),
    ("Interval resolution of the pneumothorax.", "pneumothorax", False),
    ("The lungs are free of consolidation.", "consolidation", False),
    ("Consolidation is no longer seen.", "consolidation", False),
    ("Pneumonia cannot be excluded.", "pneumonia", True),
    ("There are masses.", "masses", True),
]
"""Sentences that say yes or no of a finding in unusual ways, the finding, and whether it is there."""

PRINTED_TYPES = {
    "There is pneumonia.": ("pneumonia", "DISEASE"),
    "There are masses.": ("masses", "ABNORMALITY"),
    "There is an effusion.": ("effusion", "ABNORMALITY"),
    "There is edema.": ("edema", "ABNORMALITY"),
    "There is a pleural effusion.": ("pleural effusion", "ABNORMALITY"),
    "No evidence of pleural effusion.": ("pleural effusion", "NON-ABNORMALITY"),
}
"""Entities of the paper's Section 2 with their types, each in a plain sentence of ours."""

_POSITIVE, _NEGATIVE = {"ABNORMALITY", "DISEASE"}, {"NON-ABNORMALITY", "NON-DISEASE"}
_SHARES = ("precision", "recall", "score")


def trial(metric: RaTEScore, reference: str, candidates: Mapping[str, str]) -> pd.DataFrame:
    """The reference against itself and several candidates, with what the recogniser found in each."""
    texts = {"the reference itself": reference, **candidates}
    rows = []
    for text in texts.values():
        found = metric.score([reference], [text]).details[0]
        entities = "; ".join(f"{entity.text} ({entity.type.capitalize()})" for entity in found.candidate)
        sides = (np.nan if side is None else side.value for side in (found.precision, found.recall))
        rows.append((text, entities or "none", *sides, found.score))
    return pd.DataFrame(rows, index=pd.Index(texts), columns=["text", "entities", *_SHARES])


def show_trial(frame: pd.DataFrame, caption: str) -> HTML:
    """Show a :func:`trial`."""
    return tables.show(frame, caption, formats=dict.fromkeys(_SHARES, "{:.3f}"))


def polarity_table(metric: RaTEScore) -> pd.DataFrame:
    """What the recogniser makes of :data:`POLARITIES`; ``right`` begins with ✓ where it reads them well."""
    rows = []
    found = metric.entities([sentence for sentence, *_ in POLARITIES])
    for (sentence, words, there_is), entities in zip(POLARITIES, found, strict=True):
        kinds = [entity.type for entity in entities if words in entity.text]
        right = kinds and set(kinds) <= (_POSITIVE if there_is else _NEGATIVE)
        rows.append(
            {
                "sentence": sentence,
                "says that it is there": "yes" if there_is else "no",
                "type found": ", ".join(kind.capitalize() for kind in kinds) or "not marked",
                "right": "✓ yes" if right else "≠ no",
            }
        )
    return pd.DataFrame(rows)


def misread_polarities(tagger: Any, sentences: Sequence[AnnotatedSentence]) -> list[bool]:
    """Of each finding whose words the recogniser finds, whether it has the wrong polarity."""
    wrong = []
    plain = [plain_words(row) for row in sentences]
    found = tagger.tag([" ".join(words) for words in plain])
    for row, own, entities in zip(sentences, plain, found, strict=True):
        known = {
            " ".join(own[entity.start : entity.end]).lower(): entity.label.upper() for entity in row.entities
        }
        for words, kind in entities:
            truth = known.get(words.lower())
            if truth is not None and "ANATOMY" not in (truth, kind):
                wrong.append((truth in _POSITIVE) != (kind in _POSITIVE))
    return wrong


def paired_cosines(first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cosine of each row with the same row of the other."""
    length = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    result: NDArray[np.float32] = (first * second).sum(axis=1) / length
    return result


def counterpart_matches(encoder: Any, texts: Sequence[Rewritten]) -> pd.DataFrame:
    """Entities of rewritten reports that have a counterpart.

    Returns
    -------
    DataFrame
        One row an entity: ``report``, ``hit`` (whether the best match is a counterpart) and ``chance`` (the
        share of the other side that is).
    """
    parts = []
    for text in texts:
        table = cosines(*(encoder.encode([row[0] for row in side]) for side in (text.queries, text.others)))
        hit = text.counterparts[np.arange(len(table)), table.argmax(axis=1)]
        rows = pd.DataFrame(
            {"report": text.report, "hit": hit, "chance": text.counterparts.mean(axis=1)},
        )
        parts.append(rows[text.counterparts.any(axis=1)])
    return pd.concat(parts, ignore_index=True)
