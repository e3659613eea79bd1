"""Counts of cases out of all, in the words of sentences and checks."""

from __future__ import annotations

from collections.abc import Callable

from radeval_lib.wording import in_words


def out_of(part: int, whole: int, write: Callable[[int], str] = in_words) -> str:
    """``two of five``, ``all five`` or ``both``, ``none of five``.

    ``write``: how a number is written; ``str`` for digits, as checks have them.
    """
    if part == whole > 1:
        return "both" if whole == 2 else f"all {write(whole)}"
    return f"{write(part) if part else 'none'} of {write(whole)}"
