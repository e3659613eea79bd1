"""Generated pairs with what simulated raters say of them, who err by known rates: to practise statistics on.

Nothing that they say is evidence about a metric or a paper.
"""

from __future__ import annotations

from collections.abc import Iterator

from radeval_lib.labs.raters import SimulatedRating, panel, rate
from radeval_lib.roles.generated_pairs import CANDIDATES, error_cases
from radeval_lib.synthetic import ErrorPair

_RATERS = 6


def cases(n: int, seed: int) -> Iterator[tuple[ErrorPair, list[SimulatedRating]]]:
    """``n`` pairs, four of each reference, with what each of six simulated raters noted."""
    people = panel(_RATERS, seed)
    for number, pair in enumerate(error_cases(n, seed)):
        case, origin = divmod(number, CANDIDATES)
        yield pair, [rate(pair.comparison, rater, seed, f"{case}/{origin}") for rater in people]
