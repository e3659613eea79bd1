"""Summarizers: what writes the impression of a report from its findings.

Extraction (``extractive``, ``selector``) keeps sentences of the findings; ``pointer_task`` and ``seq2seq``
write new ones. ``opening`` opens any of them by name.
"""

from radeval_lib.models.summarizers.base import Summarizer, rouge_l, sentences
from radeval_lib.models.summarizers.opening import open_summarizer

__all__ = ["Summarizer", "open_summarizer", "rouge_l", "sentences"]
