"""What a classifier's printed precision and recall allow to say about its whole counts."""

from __future__ import annotations

import math

from radeval_lib.stats.printed_shares import counts_that_print


def predictions_that_print(
    precision: float, recall: float, n: int, half_width: float
) -> tuple[int, int] | None:
    """Fewest and most predictions of a class that fit its printed precision and recall.

    Parameters
    ----------
    precision, recall : printed fractions, 0 to 1.
    n : number of true members of the class.
    half_width : half a unit of the last printed digit, as a fraction.

    Returns
    -------
    tuple or None
        None where no whole numbers fit, or where recall is 0: without a hit, precision tells nothing.
    """
    fitting = [
        predictions
        for hits in counts_that_print(recall, half_width, n)
        if hits
        # hits / precision is at most this; one more for rounding of the quotient itself
        for predictions in range(hits, math.ceil(hits / max(precision - half_width, 1e-9)) + 1)
        if hits in counts_that_print(precision, half_width, predictions)
    ]
    return (min(fitting), max(fitting)) if fitting else None
