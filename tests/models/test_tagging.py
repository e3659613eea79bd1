"""Entities read from labels, by the usual rule and by the rules of RaTEScore's released code."""

from __future__ import annotations

import pytest

from radeval_lib.models.ner.entities import Decoding, decode


def read(labels: str, decoding: Decoding) -> list[tuple[int, int, str]]:
    """Return first and last token and type; the labels begin and end with those of special tokens."""
    row = labels.split()
    special = [place in (0, len(row) - 1) for place in range(len(row))]
    return [(start, end - 1, kind) for start, end, kind in decode(row, special, decoding)]


@pytest.mark.parametrize(
    ("labels", "released", "usual"),
    [
        # RaTEScore a970406, utils.post_process.
        ("O B-X I-X O O", [(1, 2, "X")], [(1, 2, "X")]),
        ("O I-X O O", [], [(1, 1, "X")]),  # an orphan I- is dropped
        ("O I-X B-Y O", [(2, 2, "Y")], [(1, 1, "X"), (2, 2, "Y")]),
        ("O B-X I-Y I-Z O", [(1, 3, "X")], [(1, 1, "X"), (2, 2, "Y"), (3, 3, "Z")]),
        ("O B-X B-X O O", [(1, 1, "X"), (2, 2, "X")], [(1, 1, "X"), (2, 2, "X")]),
        ("O B-X B-Y I-Y O", [(1, 1, "X"), (2, 3, "Y")], [(1, 1, "X"), (2, 3, "Y")]),
        ("O B-X B-Y I-Y I-Y", [(1, 1, "X")], [(1, 1, "X"), (2, 3, "Y")]),  # the closing I- loses the last one
        ("O B-Y I-Y I-Y", [(1, 2, "Y")], [(1, 2, "Y")]),  # no earlier span: it survives
        ("O", [], []),
        ("", [], []),
    ],
)
def test_decoding(
    labels: str, released: list[tuple[int, int, str]], usual: list[tuple[int, int, str]]
) -> None:
    assert read(labels, "released") == released
    assert read(labels, "standard") == usual
