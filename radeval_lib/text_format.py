"""Numbers and lists in words for running text, and the environment of HTML templates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

_COUNTS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_RANKS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def in_words(number: int) -> str:
    """Return an integer as a string for running text.

    Integers from 0 (``none``) to 10 (``ten``) become words, others digits with commas (``1,234``).
    """
    return _COUNTS[number] if 0 <= number < len(_COUNTS) else f"{number:,}"


def ordinal(number: int) -> str:
    """Return the ordinal of a positive integer for running text: a word up to ``tenth``, then ``11th``."""
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number // 10 % 10 != 1 else 0, "th")
    return _RANKS[number - 1] if 1 <= number <= len(_RANKS) else f"{number}{suffix}"


def with_interval(value: float, low: float, high: float, form: str = ".3f") -> str:
    """Return a number with its interval as a string, such as ``0.123 [0.100, 0.150]``.

    ``form`` is the format specification of all three numbers.
    """
    return f"{value:{form}} [{low:{form}}, {high:{form}}]"


def joined(parts: Sequence[str], last: str = "and") -> str:
    """Return strings as a list in running text, such as ``a, b and c``; empty if there are none.

    ``last`` is the conjunction before the last string.
    """
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}" if len(parts) > 1 else "".join(parts)


def out_of(part: int, whole: int, write: Callable[[int], str] = in_words) -> str:
    """Return a count and its total for running text, such as ``two of five``, ``all five`` or ``both``.

    If ``part`` is 0, the result is ``none of five``; if both numbers are 1, it is ``one of one``. ``write``
    formats each number; pass ``str`` for digits.
    """
    if part == whole > 1:
        return "both" if whole == 2 else f"all {write(whole)}"
    return f"{write(part) if part else 'none'} of {write(whole)}"


def long_date(day: date) -> str:
    """Return a date for running text, such as ``4 July 2023``."""
    return f"{day.day} {day:%B %Y}"


def p_digits(p: float, below: str = "<") -> str:
    """Return a p value as a string with at most two significant digits, or as ``< 0.001``.

    ``below`` replaces the sign ``<``.
    """
    return f"{below} 0.001" if p < 0.001 else f"{p:.2g}"


def p_words(p: float) -> str:
    """Return a p value for running text: ``p = 0.012`` or ``p < 0.001``."""
    return f"p {p_digits(p)}" if p < 0.001 else f"p = {p_digits(p)}"


def percent(share: float) -> str:
    """Return a share, from 0 to 1, as a string in whole percent, such as ``42%``.

    Only 0 and 1 become ``0%`` and ``100%``; shares below 0.01 and above 0.99 become ``under 1%`` and
    ``over 99%``.
    """
    if 0 < share < 0.01:
        return "under 1%"
    return "over 99%" if 0.99 < share < 1 else f"{share:.0%}"


def environment(folder: Path) -> Any:
    """Return a Jinja environment for the templates in a folder.

    It escapes inserted strings for HTML, and raises UndefinedError for a name that the template did not get.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
