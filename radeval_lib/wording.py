"""Numbers in words, for sentences that code makes."""

from __future__ import annotations


def percent(share: float) -> str:
    """A share as whole percent, where 0% and 100% are said of none and of all alone."""
    if 0 < share < 0.01:
        return "under 1%"
    return "over 99%" if 0.99 < share < 1 else f"{share:.0%}"
