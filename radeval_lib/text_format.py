"""Numbers and lists in words, for generated sentences, and the environment of templates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

_COUNTS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def in_words(number: int) -> str:
    """Return a whole number for running text: in letters from 0, ``none``, to 10, otherwise in digits."""
    return _COUNTS[number] if 0 <= number < len(_COUNTS) else f"{number:,}"


def ordinal(number: int) -> str:
    """Return a rank, from 1, in letters up to the tenth."""
    last = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number // 10 % 10 != 1 else 0, "th")
    return _PLACES[number - 1] if 1 <= number <= len(_PLACES) else f"{number}{last}"


def with_interval(value: float, low: float, high: float, form: str = ".3f") -> str:
    """Return a number and its interval: ``0.123 [0.100, 0.150]``."""
    return f"{value:{form}} [{low:{form}}, {high:{form}}]"


def joined(parts: Sequence[str], last: str = "and") -> str:
    """Return parts as a list for running text: ``a, b and c``."""
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}" if len(parts) > 1 else "".join(parts)


def out_of(part: int, whole: int, write: Callable[[int], str] = in_words) -> str:
    """Return ``two of five``, ``all five`` or ``both``, ``none of five``.

    ``write`` returns a number in words or, for checks, in digits (``str``).
    """
    if part == whole > 1:
        return "both" if whole == 2 else f"all {write(whole)}"
    return f"{write(part) if part else 'none'} of {write(whole)}"


def long_date(day: date) -> str:
    """Return a date for a sentence: ``4 July 2023``."""
    return f"{day.day} {day:%B %Y}"


def p_digits(p: float, below: str = "<") -> str:
    """Return a p value with at most two digits, ``0.012`` or ``0.2``; a smaller one as ``< 0.001``, with
    ``below`` in place of ``<``."""
    return f"{below} 0.001" if p < 0.001 else f"{p:.2g}"


def p_words(p: float) -> str:
    """Return a p value for a sentence: ``p = 0.012`` or ``p < 0.001``."""
    return f"p {p_digits(p)}" if p < 0.001 else f"p = {p_digits(p)}"


def percent(share: float) -> str:
    """Return a share in whole percent. Only 0 and 1 become 0% and 100%; others near them, ``under 1%`` and
    ``over 99%``."""
    if 0 < share < 0.01:
        return "under 1%"
    return "over 99%" if 0.99 < share < 1 else f"{share:.0%}"


def environment(folder: Path) -> Any:
    """Return a Jinja environment for the templates in ``folder``, which escapes texts and refuses missing
    names."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
