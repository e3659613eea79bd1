"""Stanza radiology NER: sentences of chest CT reports, in the form that RaLEs reads (Zhang et al. 2021)."""

from __future__ import annotations

from pathlib import Path

from radeval_lib.data import iob
from radeval_lib.data.records import AnnotatedSentence

NAME = "stanza_radiology"


def load(path: Path, split: str = "") -> list[AnnotatedSentence]:
    """Sentences of a JSON file with ``tokens`` and ``ner_tags``, in the file's order.

    Raises
    ------
    FormatError
        Naming file and record: missing key, wrong type, cut short, wrong encoding, duplicate id.
    """
    return iob.load(path, source=NAME, restricted=True, split=split)
