"""Numbers, and the few words that depend on them, for the Markdown of a page: MyST's ``glue``.

A paragraph is written by a person; a cell glues ``lead="2.1 [0.4, 3.9]"`` and ``verb="leads"``, and the text
says ``{glue:text}`lead```.
"""

from __future__ import annotations

import myst_nb

from radeval_lib.stats.estimates import Estimate
from radeval_lib.study.checks import above


def glue(**values: str) -> None:
    """Give names to texts, which the Markdown of the page puts in by ``{glue:text}`name```.

    Parameters
    ----------
    values : texts, formatted as the page shows them; hyphens of a name are written as underscores there.

    Raises
    ------
    TypeError
        Where a value is not text: a number without a format would show all its digits.
    """
    for name, value in values.items():
        if not isinstance(value, str):
            raise TypeError(f"glue({name}=...): format the {type(value).__name__} as a text first")
        myst_nb.glue(name, value, display=False)


def phrase(estimate: Estimate, *, more: str, less: str, open: str) -> str:
    """The words that an interval decides: ``more`` above 0, ``less`` below, ``open`` where it holds 0.

    No other function writes words of a result.
    """
    return {True: more, False: less, None: open}[above(estimate.low, estimate.high)]
