"""Manifests: every data set has one, each is of its format, and what papers print of it can be looked up."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
import yaml

from radeval_lib import data, registry
from radeval_lib.data import manifests
from radeval_lib.data.errors import ChecksumError, DataRootError, ManifestError
from radeval_lib.data.manifests import DataFile, Manifest, list_restricted, load_manifest, parse_manifest
from radeval_lib.paths import BIBLIOGRAPHY, DATASETS
from tests.data import samples


def test_every_data_set_has_a_manifest_and_a_reader() -> None:
    kept_names = {name for name in data.names() if load_manifest(name).reader}
    assert set(data.names()) - kept_names == set(registry.READERS)


@pytest.mark.parametrize("name", data.names())
def test_manifest(name: str) -> None:
    manifest = load_manifest(name)
    stated = yaml.safe_load((DATASETS / f"{name}.yml").read_text(encoding="utf-8"))
    assert {"version", "licence", "redistribution", "source", "steps", "schema", "citation", "splits"} <= {
        *stated
    }
    assert manifest.source.startswith("https://")
    assert all(file.url.startswith(("https://", "")) for file in manifest.files)
    # What needs an agreement may not be passed on; what is built or credentialed needs one.
    assert manifest.redistributable != manifest.restricted
    assert manifest.restricted == (manifest.access != "open")
    for file in manifest.files:
        assert not file.url or (file.sha256 and file.size), "a file that is fetched has a checksum"


def test_every_citation_is_in_the_bibliography() -> None:
    bibliography = BIBLIOGRAPHY.read_text(encoding="utf-8")
    missing = sorted(
        name
        for name in data.names()
        if (cited := load_manifest(name).citation) and f"{{{cited}," not in bibliography
    )
    assert not missing


def _content() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((DATASETS / "openi.yml").read_text(encoding="utf-8"))
    return content


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"licence": None}, "licence"),
        ({"files": [{"path": 3}]}, "files.0.path"),
        ({"redistributable": "maybe"}, "redistributable"),
        ({"steps": []}, "steps"),
        ({"access": "secret"}, "access"),
        ({"name": "other"}, "name"),
        ({1: 2}, "'1'"),
        ({"restrited": True}, "'restricted'"),
        ({"files": [{"path": "../x"}]}, "files.0.path"),
        ({"files": [{"path": "x", "sha256": "abc"}]}, "files.0.sha256"),
    ],
)
def test_malformed_manifest(change: dict[Any, Any], part: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parse_manifest("openi", _content() | change, "openi.yml")
    assert part in caught.value.what
    assert caught.value.where == "openi.yml"


def test_missing_key_and_no_mapping() -> None:
    content = _content()
    content["citations"] = content.pop("citation")
    for wrong in (content, ["x"]):
        with pytest.raises(ManifestError):
            parse_manifest("openi", wrong, "openi.yml")


def test_a_data_set_and_a_file_are_found_by_a_name_that_one_has() -> None:
    path = "rate_ner/Radiopaedia/train_span.json"
    assert load_manifest("rate_ner").file(path).path == path
    for name, file in (("opeeni", ""), ("openi", "y"), ("rate_ner", "train_span.json")):
        with pytest.raises(ManifestError):
            data.find(name, None, file)


def test_data_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RADEVAL_DATA_ROOT", raising=False)
    monkeypatch.setattr(manifests, "DATA", tmp_path / "data")
    assert data.data_root() is None
    (tmp_path / "data").mkdir()
    assert data.data_root() == tmp_path / "data"  # the repository's own
    monkeypatch.chdir(tmp_path)
    assert data.data_root("data") == tmp_path / "data"
    monkeypatch.setenv("RADEVAL_DATA_ROOT", str(tmp_path))
    assert data.data_root() == tmp_path
    monkeypatch.setattr(manifests, "BUILD", tmp_path / "build")
    (tmp_path / "build" / "data").mkdir(parents=True)
    (tmp_path / "file").touch()
    for wrong in ("none", "file", "build/data"):
        with pytest.raises(DataRootError):
            data.data_root(tmp_path / wrong)


def _manifest(monkeypatch: pytest.MonkeyPatch, *files: DataFile) -> Manifest:
    manifest = parse_manifest("openi", _content(), "openi.yml")
    changed = Manifest(**{**manifest.__dict__, "files": files})
    monkeypatch.setattr(manifests, "load_manifest", lambda name: changed)
    return changed


def test_find_verifies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = hashlib.sha256(b"abc").hexdigest()
    _manifest(monkeypatch, DataFile("a/x.csv", digest, 3), DataFile("a/y.csv", None))
    assert data.find("openi", None) is None
    assert data.find("openi", tmp_path) is None
    path = tmp_path / "a" / "x.csv"
    path.parent.mkdir()
    path.write_bytes(b"abc")
    assert data.find("openi", tmp_path) == path
    assert data.find("openi", tmp_path, "y.csv") is None
    path.write_bytes(b"abcd")
    with pytest.raises(ChecksumError):
        data.find("openi", tmp_path)
    path.write_bytes(b"abd")
    with pytest.raises(ChecksumError):
        data.find("openi", tmp_path)
    (tmp_path / "a" / "y.csv").write_bytes(b"anything")
    assert data.find("openi", tmp_path, "a/y.csv") == tmp_path / "a" / "y.csv"


def test_only_restricted_sets_that_are_there_count(tmp_path: Path) -> None:
    assert list_restricted(None) == list_restricted(tmp_path) == []
    for path in ("openi/indiana_reports.csv", "rate_eval/Task2_paragraph_rate/rate_test.csv"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_bytes(samples.TASK2)
    assert list_restricted(tmp_path) == ["rate_eval"]
