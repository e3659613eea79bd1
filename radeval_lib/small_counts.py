"""Small-cell suppression: the smallest count that tables may show while restricted data are readable.

It is not in :mod:`radeval_lib.tables`, because runs set it and should not depend on the style of tables.
"""

from __future__ import annotations

_threshold = {"below": 0}


def hide_below(smallest: int) -> None:
    """Make :func:`radeval_lib.tables.show` write counts from 1 to ``smallest - 1`` as ``< smallest``; 0 shows
    all."""
    _threshold["below"] = smallest


def smallest_shown() -> int:
    """Return the count below which counts are hidden; 0 if none is hidden."""
    return _threshold["below"]
