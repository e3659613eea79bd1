"""What recorded results and findings say of where they come from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from radeval_lib import checksums
from radeval_lib.paths import BUILD, ROOT
from radeval_lib.study.results import read_all


def _read(smoke: Path, pattern: str) -> dict[str, Any]:
    paths = sorted((smoke / "results").glob(f"*/*/{pattern}"))
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in paths}


@pytest.mark.parametrize("pattern", ["*.*.*.json", "headline_*.json"])
def test_every_result_and_finding_names_data_code_settings_and_cells(smoke: Path, pattern: str) -> None:
    contents = _read(smoke, pattern)
    assert contents
    for name, content in contents.items():
        made = content["provenance"]
        assert {"code", "data", "models", "profile", "seed"} <= set(made), name
        assert made["notebook"]["matches_source"], name
        assert not [model for model in made["models"].values() if model["name"].startswith("/")], name


def test_a_result_on_print_names_what_papers_print_and_nothing_else(smoke: Path) -> None:
    for name, content in _read(smoke, "*.*.printed.json").items():
        provenance = content["provenance"]
        assert provenance["models"] == {}, name
        for file, sha256 in provenance["data"].items():
            assert file.startswith("data_manifests/papers/"), name
            assert checksums.of_file(ROOT / file) == sha256


def test_a_result_of_trained_models_names_their_cells(smoke: Path) -> None:
    content = _read(smoke, "ratescore.table6.synthetic-own.json")["ratescore.table6.synthetic-own.json"]
    assert any(file.startswith("jobs/ratescore/ner_training/") for file in content["provenance"]["data"])


def _outcomes(build: Path) -> dict[tuple[str, ...], str]:
    """Return the outcome of every check of printed, released or public numbers; those that an edition has
    stored count as public."""
    return {
        (
            result.exhibit,
            result.evidence.replace("recorded", "open"),
            result.substitutes,
            check.name,
        ): check.outcome
        for result in read_all(build)
        for check in result.checks
    }


def test_the_default_and_the_public_edition_say_the_same_if_both_were_built() -> None:
    builds = BUILD / "embedded", BUILD / "open"
    if not all((build / "results" / "across" / "which_judge").is_dir() for build in builds):
        pytest.skip("`make book` and `make open` were not both run")
    stored, public = map(_outcomes, builds)
    both = stored.keys() & public.keys()
    assert both
    assert not {check: (stored[check], public[check]) for check in both if stored[check] != public[check]}
