"""Reading of the repository's own YAML files with libyaml, about seven times as fast as with PyYAML alone.

Users' files are read with ``yaml.safe_load`` instead, since libyaml crashes on extremely deep nesting (a
hundred thousand brackets).

Browsers have no libyaml, and PyYAML alone needs seconds for the lexicon. For browsers, the files are
converted to JSON under the same names (:func:`compile_to_json`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

_COMPILED = "# compiled\n"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A YAML loader that rejects repeated keys; PyYAML would keep the last value of each."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the mapping at a node; raise ConstructorError for a repeated key."""
        content: dict[Any, Any] = super().construct_mapping(node, deep)
        if len(content) < len(node.value):
            raise yaml.constructor.ConstructorError(None, None, "this mapping repeats a key", node.start_mark)
        return content


def read(path: Path) -> Any:
    """Return the content of one of the repository's YAML files, as plain Python types.

    Raises the errors of :func:`parse`, and UnicodeDecodeError if the file is not UTF-8.
    """
    return parse(path.read_text(encoding="utf-8"))


def parse(text: str) -> Any:
    """Return the content of YAML, or of a string from :func:`compile_to_json`, as plain Python types.

    Raises :class:`yaml.YAMLError` for invalid YAML or a repeated key, and ValueError for an impossible date.
    """
    if text.startswith(_COMPILED):
        return json.loads(text.removeprefix(_COMPILED), object_hook=_restore_integer_keys)
    return yaml.load(text, Loader=_Loader)


def compile_to_json(path: Path) -> str:
    """Return the content of a YAML file as JSON below a marker line; :func:`parse` reads it without PyYAML.

    Raises
    ------
    ValueError
        If the content would change on the way through JSON, as do dates, and keys that are floats or strings
        of digits.
    TypeError
        If JSON cannot represent a key, such as a date.
    yaml.YAMLError
        If :func:`read` raises it.
    """
    content = read(path)
    text = _COMPILED + json.dumps(content, ensure_ascii=False, separators=(",", ":"), default=repr) + "\n"
    if parse(text) != content:
        raise ValueError(f"{path.name}: JSON changes a key or value, such as a date or key '1'; replace it")
    return text


def _restore_integer_keys(content: dict[str, Any]) -> dict[Any, Any]:
    """Return a mapping with integers for keys that consist of digits; JSON stores every key as a string."""
    return {int(key) if key.isdecimal() else key: value for key, value in content.items()}
