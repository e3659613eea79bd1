"""A summarizer by the name that a profile gives it."""

from __future__ import annotations

from pathlib import Path

from radeval_lib.models.loading import ModelError
from radeval_lib.models.summarizers import pointer_task, selector
from radeval_lib.models.summarizers.base import Summarizer
from radeval_lib.models.summarizers.extractive import ClusterExtractor, Encode, Lead

LEAD, CLUSTERS = "lead-3", "bert-ext"


def open_summarizer(
    name: str | Path, *, encode: Encode | None = None, encoder_name: str = "", device: str = "auto"
) -> Summarizer:
    """The summarizer of that name."""
    if str(name) == LEAD:
        return Lead(3)
    needs_vectors = str(name) == CLUSTERS or (Path(name) / selector.SETTINGS).is_file()
    if needs_vectors:
        if encode is None:
            raise ModelError(
                f"the summarizer {Path(name).name!r} needs sentence vectors", "summarizer", "Name an encoder."
            )
        if str(name) == CLUSTERS:
            return ClusterExtractor(encode)
        return selector.SentenceSelector.load(name, encode, encoder_name=encoder_name)
    if (Path(name) / pointer_task.SETTINGS).is_file():
        return pointer_task.PointerSummarizer.load(name, device=device)
    from radeval_lib.models.summarizers.seq2seq import Seq2SeqSummarizer

    return Seq2SeqSummarizer.load(name, device=device)
