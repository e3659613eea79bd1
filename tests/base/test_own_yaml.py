"""The repository's YAML files where there is no libyaml: compiled to what Python reads fast."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radeval_lib import own_yaml
from radeval_lib.paths import ROOT

LEXICON = sorted((ROOT / "radeval_lib" / "rules").rglob("*.yml"))

_NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
_SCALARS = st.none() | st.booleans() | st.text() | _NUMBERS
_CONTENTS = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet="abc:# ") | st.integers(0, 99), inner),
)


@pytest.mark.parametrize("path", LEXICON, ids=lambda path: path.name)
def test_a_compiled_file_has_the_content_of_its_source_and_no_yaml_reads_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, compiled = own_yaml.read(path), own_yaml.compile_to_json(path)
    monkeypatch.setattr(own_yaml.yaml, "load", None)
    assert own_yaml.parse(compiled) == content


@given(content=st.dictionaries(st.text(alphabet="abc:# ") | st.integers(0, 99), _CONTENTS))
def test_any_content_is_given_back_as_it_is_or_refused(content: dict, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("yaml") / "file.yml"
    path.write_text(own_yaml.yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    assert own_yaml.parse(own_yaml.compile_to_json(path)) == own_yaml.read(path)


@pytest.mark.parametrize("text", ["day: 2026-11-25", "'7': digits", "true: a truth", "1.5: a number"])
def test_what_json_would_change_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "file.yml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError):
        own_yaml.compile_to_json(path)


@pytest.mark.parametrize("text", ["a: 1\na: 2", "- {b: {a: 1, a: 1}}"])
def test_a_key_that_stands_twice_is_refused(text: str) -> None:
    with pytest.raises(own_yaml.yaml.YAMLError):
        own_yaml.parse(text)
