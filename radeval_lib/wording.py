"""Numbers and lists in words, for sentences that code makes."""

from __future__ import annotations

from collections.abc import Sequence

_COUNTS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def in_words(number: int) -> str:
    """A count as running text has it: in letters up to ten, ``none`` for nothing."""
    return _COUNTS[number] if 0 <= number < len(_COUNTS) else f"{number:,}"


def joined(parts: Sequence[str], last: str = "and") -> str:
    """Parts of a list as running text has them: ``a, b and c``."""
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}" if len(parts) > 1 else "".join(parts)


def percent(share: float) -> str:
    """A share as whole percent, where 0% and 100% are said of none and of all alone."""
    if 0 < share < 0.01:
        return "under 1%"
    return "over 99%" if 0.99 < share < 1 else f"{share:.0%}"
