"""Reads the repository's own YAML files with libyaml, about seven times as fast as PyYAML alone.

libyaml ends the whole process on brackets nested a hundred thousand deep, so what a user hands in is read by
``yaml.safe_load`` instead.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read(path: Path) -> Any:
    """The content of one of the repository's files, of plain types only."""
    return parse(path.read_text(encoding="utf-8"))


def parse(text: str) -> Any:
    """The content of a text out of one of these files."""
    return yaml.load(text, Loader=_LOADER)
