"""What the trainings of Table 7 say of mixing two sources, in a sentence."""

from __future__ import annotations

from radeval_lib.wording import in_words


def mixture_sentence(gains: int, comparisons: int, equal_gains: int, equal_comparisons: int) -> str:
    """What is due to more sentences, and what to the mixture.

    Parameters
    ----------
    gains, comparisons : established gains of both sources over one, of so many comparisons.
    equal_gains, equal_comparisons : the same with as many sentences as one source; 0 where not trained.
    """
    whole = (
        "With twice the sentences, both sources together have an established lead over one in "
        f"{in_words(gains)} of {in_words(comparisons)} comparisons."
    )
    if not equal_comparisons:
        return whole
    equal = (
        f"{whole} With as many sentences they have one in {in_words(equal_gains)} of "
        f"{in_words(equal_comparisons)}"
    )
    if equal_gains == equal_comparisons:
        return f"{equal}: the mixture itself adds something."
    if equal_gains:
        return f"{equal}: whether the mixture itself adds anything is not settled."
    if gains:
        return f"{equal}: what is shown is the benefit of more sentences, not of the mixture."
    return f"{equal}: nothing is shown of either."
