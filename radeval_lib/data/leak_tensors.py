"""Which bytes of a file are weights; used by the guard.

Of a safetensors file the layout is checked to the last byte, so that nothing else passes for one.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

_LENGTH = 8  # bytes that say how long the header is
_BYTES = {
    "BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1, "U16": 2, "I16": 2, "F16": 2, "BF16": 2,
    "U32": 4, "I32": 4, "F32": 4, "U64": 8, "I64": 8, "F64": 8,
}  # fmt: skip
_MOST_SIZES = 66  # of a tensor: where it begins and ends, and its shape; more would take long to multiply
_FLOATS = ("F16", "BF16", "F32", "F64")  # what weights are; numbers of one byte may as well be letters


def layout(content: bytes) -> tuple[str, list[int]]:
    """The header of a safetensors file, and where its floating-point numbers begin and end by turns.

    Both are empty for any other file, also for one that only begins like it.
    """
    start = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    if content[_LENGTH : _LENGTH + 1] != b"{" or start > len(content):
        return "", []
    with suppress(ValueError, TypeError, KeyError, RecursionError):  # what is no such header
        header = content[_LENGTH:start].decode("utf-8")
        tensors = sorted(_tensors(json.loads(header)))
        ends = [0, *(end for _, end, _ in tensors)]
        if [begin for begin, _, _ in tensors] == ends[:-1] and start + ends[-1] == len(content):
            floats = ((start + begin, start + end) for begin, end, kind in tensors if kind in _FLOATS)
            return header, list(itertools.chain.from_iterable(floats))
    return "", []


def _tensors(header: dict[str, Any]) -> Iterator[tuple[int, int, str]]:
    """Where each tensor begins and ends in the data, and the kind of its numbers."""
    for name, tensor in header.items():
        if name == "__metadata__":
            continue
        kind, shape, (begin, end) = tensor["dtype"], tensor["shape"], tensor["data_offsets"]
        sizes = [begin, end, *shape]
        if len(tensor) != 3 or len(sizes) > _MOST_SIZES:
            raise ValueError
        if not all(type(size) is int and 0 <= size < 1 << 63 for size in sizes):
            raise ValueError
        if end - begin != math.prod(shape) * _BYTES[kind]:
            raise ValueError
        yield begin, end, kind
