"""An entry of the lexicon's files: a mapping whose keys and values are checked as they are read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import yaml

from radeval_lib import own_yaml
from radeval_lib.errors import LexiconError, listed


class Entry:
    """A mapping of a file.

    Attributes
    ----------
    raw : the mapping.
    name, where : what errors call the entry and its file.

    Parameters
    ----------
    needs, may : the keys that it must have and may have, each in one string parted by blanks.

    Raises
    ------
    LexiconError
        If it is not a mapping, lacks a key or has another; the methods raise it for a value that is not of
        their kind. All name the entry and the file.
    """

    def __init__(self, raw: Any, name: str, where: str, needs: str = "", may: str = "") -> None:
        self.name, self.where = name, where
        if not isinstance(raw, Mapping):
            self.fail("is not a mapping")
        self.raw: Mapping[str, Any] = raw
        if unknown := [key for key in raw if key not in (*needs.split(), *may.split())]:
            self.fail(f"unknown keys: {listed(unknown)}")
        if missing := [key for key in needs.split() if raw.get(key) is None]:
            self.fail(f"missing key {missing[0]!r}")

    def fail(self, what: str) -> NoReturn:
        """Raise an error that says what is wrong with the entry."""
        raise LexiconError(f"{self.name}: {what}", self.where)

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Let an error in markup name the entry and its file."""
        try:
            yield
        except LexiconError as error:
            if error.where:
                raise
            self.fail(error.what)

    def inner(self, key: str) -> dict[str, Any]:
        """The mapping under ``key``; empty where it is left out."""
        value = self.raw.get(key)
        if value is not None and not isinstance(value, dict):
            self.fail(f"{key} is not a mapping")
        return value or {}

    def each(self, key: str, needs: str, may: str = "") -> list[Entry]:
        """The mappings listed under ``key`` as entries, numbered from 1."""
        value = self.raw.get(key)
        if not isinstance(value, list):
            self.fail(f"{key} is not a list")
        name = f"{self.name}, {key}"
        return [Entry(one, f"{name} {at}", self.where, needs, may) for at, one in enumerate(value, start=1)]

    def texts(self, key: str, default: str | None = None) -> tuple[str, ...]:
        """The text, or the list of texts, under ``key``."""
        value = self.raw.get(key, default)
        every = value if isinstance(value, list) else [] if value is None else [value]
        if not all(isinstance(one, str) and one.strip() for one in every):
            self.fail(f"{key} is neither a text nor a list of texts")
        return tuple(every)

    def text(self, key: str) -> Any:
        """The one text under ``key``; None where it is left out."""
        value = self.texts(key)
        if len(value) != (key in self.raw):
            self.fail(f"{key} is not one text")
        return value[0] if value else None

    def flag(self, key: str, default: bool = False) -> bool:
        """The value of ``key``, true or false."""
        value = self.raw.get(key, default)
        if not isinstance(value, bool):
            self.fail(f"{key} is neither true nor false")
        return value

    def number(self, key: str, default: float = 1) -> float:
        """The value of ``key``, a number that is not negative."""
        value = self.raw.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            self.fail(f"{key} is not a number from 0 on")
        return float(value)

    def range(self, key: str) -> tuple[int, int] | None:
        """Least and most of the form ``[least, most]``; None where ``key`` is left out."""
        value = self.raw.get(key)
        if value is None:
            return None
        if not (
            isinstance(value, list) and [type(one) for one in value] == [int, int] and value[0] <= value[1]
        ):
            self.fail(f"{key} is not of the form [least, most]")
        return value[0], value[1]

    def one_of(self, key: str, allowed: Collection[str], default: str | None = None) -> Any:
        """The value of ``key``, one of those allowed; the default where it is left out."""
        value = self.raw.get(key, default)
        if value not in (*allowed, default):
            self.fail(f"{key} {value!r} is not one of {listed(allowed)}")
        return value


def read_entry(path: Path, where: str, needs: str, may: str = "") -> Entry:
    """The whole of a file as one entry."""
    try:
        content = own_yaml.read(path)
    except yaml.YAMLError as error:
        raise LexiconError(f"not valid YAML: {error}", where) from error
    return Entry(content, "the file", where, needs, may)
