"""The default and the public edition say the same, if both were built."""

from __future__ import annotations

from pathlib import Path

import pytest

from radeval_lib.paths import BUILD
from radeval_lib.study.results import read_all


def outcomes(build: Path) -> dict[tuple[str, ...], str]:
    """Return the outcome of every check of printed, released or public numbers; those that an edition has
    stored count as public."""
    return {
        (
            result.exhibit,
            result.evidence.replace("recorded", "open"),
            result.stand_in,
            check.name,
        ): check.outcome
        for result in read_all(build)
        for check in result.checks
    }


def test_both_editions_say_the_same() -> None:
    builds = BUILD / "embedded", BUILD / "open"
    if not all((build / "results" / "across" / "which_judge").is_dir() for build in builds):
        pytest.skip("`make book` and `make open` were not both run")
    stored, public = map(outcomes, builds)
    both = stored.keys() & public.keys()
    assert both
    assert not {check: (stored[check], public[check]) for check in both if stored[check] != public[check]}
