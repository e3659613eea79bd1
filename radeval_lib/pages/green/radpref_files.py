"""RadPref's cases and ratings of a run, where the data root holds them."""

from __future__ import annotations

from radeval_lib.data import radpref
from radeval_lib.data.radpref import Case, Rating
from radeval_lib.study.runs import Run

_NEEDED = "The ratings of RadPref are public: `radbook data add radpref` says how to get them."


def load(run: Run) -> tuple[list[Case], list[Rating]] | None:
    """Cases and the ratings of the three radiologists, or None where a file is not there."""
    cases = run.find("radpref", "radpref/preference_data.json")
    ratings = [run.find("radpref", f"radpref/radiologist_annotations/user_{n}.json") for n in (1, 2, 3)]
    if cases is None or any(path is None for path in ratings):
        return None
    return radpref.load_cases(cases), [one for path in ratings if path for one in radpref.load_ratings(path)]


def missing() -> str:
    """What a page says where the ratings are not there."""
    return f"This build has no ratings to compute on, so nothing is shown. {_NEEDED}"
