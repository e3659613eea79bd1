"""Small-cell suppression: the smallest count that tables may show if restricted data are readable.

It is separate from :mod:`radeval_lib.tables`, so that runs, which set this count, do not depend on the
style of tables.
"""

from __future__ import annotations

_threshold = {"below": 0}


def hide_below(smallest: int) -> None:
    """Make :func:`radeval_lib.tables.show` write counts from 1 to ``smallest - 1`` as ``< smallest``.

    With 0, all counts are shown.
    """
    _threshold["below"] = smallest


def smallest_shown() -> int:
    """Return the smallest positive count that tables show; 0 if all counts are shown."""
    return _threshold["below"]
