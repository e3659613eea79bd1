"""Summarizers, which write the impression from a report's findings; each is opened by its name."""

from __future__ import annotations

from pathlib import Path

from radeval_lib.models.pretrained import ModelError
from radeval_lib.models.summarizers.base import Summarizer, rouge_l, sentences
from radeval_lib.models.summarizers.extractive import (
    SELECTOR,
    ClusterExtractor,
    Encode,
    LeadSentences,
    SentenceSelector,
)

__all__ = ["Summarizer", "open_summarizer", "rouge_l", "sentences"]

LEAD, CLUSTERS = "lead-3", "bert-ext"


def open_summarizer(
    name: str | Path, *, encode: Encode | None = None, encoder_name: str = "", device: str = "auto"
) -> Summarizer:
    """The summarizer of that name."""
    if str(name) == LEAD:
        return LeadSentences(3)
    if str(name) == CLUSTERS or (Path(name) / SELECTOR).is_file():
        if encode is None:
            wrong = f"the summarizer {Path(name).name!r} needs sentence vectors"
            raise ModelError(wrong, "summarizer", "Name an encoder.")
        if str(name) == CLUSTERS:
            return ClusterExtractor(encode)
        return SentenceSelector.load(name, encode, encoder_name=encoder_name)
    if (Path(name) / "pointer_generator.json").is_file():
        from radeval_lib.models.summarizers.pointer import PointerSummarizer

        return PointerSummarizer.load(name, device=device)
    from radeval_lib.models.summarizers.seq2seq import Seq2SeqSummarizer

    return Seq2SeqSummarizer.load(name, device=device)
