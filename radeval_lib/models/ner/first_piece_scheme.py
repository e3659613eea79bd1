"""Token classification with the label on each word's first piece: RaLEs' way with Stanza's entities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from radeval_lib.models.ner.agreement import WordSpan
from radeval_lib.models.ner.iob_scheme import IobScheme
from radeval_lib.models.ner.schemes import IGNORED
from radeval_lib.models.ner.tagging import decode_standard


class FirstPieceScheme(IobScheme):
    """As :class:`~radeval_lib.models.ner.iob_scheme.IobScheme`, with one label a word.

    "For words comprised of multiple sub-word tokens, the label is assigned to the first token" (RaLEs,
    Section 4.2.2); other pieces are left out of the loss and of decoding. Words beyond the encoder's reach
    are O. Decoding is that of ``seqeval``'s default mode: an I- that continues nothing begins an entity.
    """

    def example(self, words: Sequence[str], spans: Sequence[WordSpan]) -> dict[str, Any]:
        encoded = self._encoded([words])[0]
        labels = ["O"] * len(words)
        for start, end, kind in spans:
            labels[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
        row, before = [], None
        for word in encoded.word_ids:
            first = word is not None and word != before
            row.append(self._index[labels[word]] if first else IGNORED)
            before = word
        return {"input_ids": encoded.ids, "attention_mask": encoded.attention_mask, "labels": row}

    def _words(self, word_ids: Sequence[int | None], row: Sequence[int]) -> list[WordSpan]:
        labels: list[str] = []
        for position, word in enumerate(word_ids):
            if word is not None and word == len(labels):
                labels.append(self.labels[row[position]])
        found = decode_standard(labels, [False] * len(labels))
        return [(span.start, span.end + 1, span.type) for span in found]
