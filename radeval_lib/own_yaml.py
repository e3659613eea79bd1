"""Reads the repository's own YAML files with libyaml, about seven times as fast as PyYAML alone.

libyaml ends the whole process on brackets nested a hundred thousand deep, so what a user hands in is read by
``yaml.safe_load`` instead.

If there is no libyaml, as in a browser, PyYAML needs seconds for the lexicon. There the files are
:func:`compiled`: the same names, the same content, in JSON.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

_COMPILED = "# compiled\n"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Refuses a repeated key in a mapping; PyYAML would take the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        content: dict[Any, Any] = super().construct_mapping(node, deep)
        if len(content) < len(node.value):
            raise yaml.constructor.ConstructorError(None, None, "a key occurs twice", node.start_mark)
        return content


def read(path: Path) -> Any:
    """Return the content of one of the repository's files, of plain types only. Raises
    :class:`yaml.YAMLError` for invalid YAML or a repeated key."""
    return parse(path.read_text(encoding="utf-8"))


def parse(text: str) -> Any:
    """Return the content of a text from the repository: YAML, or JSON made by :func:`compiled`."""
    if text.startswith(_COMPILED):
        return json.loads(text.removeprefix(_COMPILED), object_hook=_with_numbers)
    return yaml.load(text, Loader=_Loader)


def compiled(path: Path) -> str:
    """Return a file in the form that :func:`parse` reads without YAML: a marker line, then JSON.

    Raises
    ------
    ValueError
        If reading it back would not give the file's content, as with dates.
    """
    content = read(path)
    text = _COMPILED + json.dumps(content, ensure_ascii=False, separators=(",", ":"), default=repr) + "\n"
    if parse(text) != content:
        raise ValueError(f"{path.name} has keys or values that JSON does not give back")
    return text


def _with_numbers(content: dict[str, Any]) -> dict[Any, Any]:
    """Return a mapping with its keys of digits as integers, which JSON turns into texts."""
    return {int(key) if key.isdecimal() else key: value for key, value in content.items()}
