"""What recorded results and findings say of where they come from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from radeval_lib import checksums
from radeval_lib.paths import BUILD, MANIFESTS, ROOT
from radeval_lib.study.results import read_all


def _validator(name: str) -> Draft202012Validator:
    schema = json.loads((MANIFESTS / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def _read(smoke: Path, pattern: str) -> dict[str, Any]:
    paths = sorted((smoke / "results").glob(f"*/*/{pattern}"))
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in paths}


@pytest.mark.parametrize(("name", "pattern"), [("result", "*.*.*.json"), ("headline", "headline_*.json")])
def test_every_result_and_finding_names_data_code_settings_and_cells(
    smoke: Path, name: str, pattern: str
) -> None:
    validator, contents = _validator(name), _read(smoke, pattern)
    assert contents
    assert [file for file, content in contents.items() if not validator.is_valid(content)] == []
    assert all(content["provenance"]["notebook"]["as_source"] for content in contents.values())


def test_the_schema_refuses_what_lacks_code_or_names_a_path_of_a_machine(smoke: Path) -> None:
    validator = _validator("result")
    content = next(iter(_read(smoke, "*.*.*.json").values()))
    without = {key: value for key, value in content["provenance"].items() if key != "code"}
    assert not validator.is_valid({**content, "provenance": without})
    somewhere = {"encoder": {"name": "/models/encoder", "sha256": "0" * 64}}
    assert not validator.is_valid({**content, "provenance": {**content["provenance"], "models": somewhere}})


def test_a_result_on_print_names_what_papers_print_and_nothing_else(smoke: Path) -> None:
    for name, content in _read(smoke, "*.*.printed.json").items():
        provenance = content["provenance"]
        assert provenance["models"] == {}, name
        for file, sha256 in provenance["data"].items():
            assert file.startswith("data_manifests/papers/"), name
            assert checksums.of_file(ROOT / file) == sha256


def test_a_result_of_trained_models_names_their_cells(smoke: Path) -> None:
    content = _read(smoke, "ratescore.table6.synthetic-own.json")["ratescore.table6.synthetic-own.json"]
    assert any(file.startswith("cells/ratescore/ner_training/") for file in content["provenance"]["data"])


def _outcomes(build: Path) -> dict[tuple[str, ...], str]:
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


def test_the_default_and_the_public_edition_say_the_same_if_both_were_built() -> None:
    builds = BUILD / "embedded", BUILD / "open"
    if not all((build / "results" / "across" / "which_judge").is_dir() for build in builds):
        pytest.skip("`make book` and `make open` were not both run")
    stored, public = map(_outcomes, builds)
    both = stored.keys() & public.keys()
    assert both
    assert not {check: (stored[check], public[check]) for check in both if stored[check] != public[check]}
