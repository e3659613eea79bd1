"""The texts of data sets for the guard: those that it watches, and those that are public."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from radeval_lib import green_analysis, own_yaml
from radeval_lib.data import green_training, raw_texts
from radeval_lib.data.manifests import find, load_manifest, names, restricted_in
from radeval_lib.data.readers import load
from radeval_lib.paths import PAPERS


@dataclass(frozen=True)
class RestrictedTexts:
    """The texts and identifiers of a restricted data set, as its files have them, streamed each time that one
    goes through them: a loader keeps less, such as only the reports that have both sections."""

    name: str
    root: Path

    def __iter__(self) -> Iterator[str]:
        for file in load_manifest(self.name).files:
            yield from self.of_file(file.path)

    def of_file(self, file: str) -> Iterator[str]:
        """Yield the texts and identifiers in one file of the set; none where it is absent."""
        manifest = load_manifest(self.name)
        path = find(self.name, self.root, file)
        if path is not None and manifest.file(file).holds_reports:
            texts = raw_texts.of_file(path, manifest.identifiers)
            if self.name == green_training.NAME:  # each repeats a layout that its authors published
                texts = (part for text in texts for part in green_analysis.without_layout(text))
            yield from texts


def restricted_texts(root: Path) -> dict[str, RestrictedTexts]:
    """Return texts of the restricted data sets that a data root holds, for the guard."""
    return {name: RestrictedTexts(name, root) for name in restricted_in(root)}


def public_texts(root: Path | None) -> Iterator[str]:
    """Yield texts that are no leak anywhere: what the papers print, and of the open data sets of a data root
    the texts that stand in a field of their own; lists, of words or findings, are not gone through."""
    for path in sorted(PAPERS.rglob("*.csv")):
        yield path.read_text(encoding="utf-8")
    for path in sorted(PAPERS.rglob("*.yml")):
        content = own_yaml.read(path)
        del content["exhibits"]  # what we say of the paper
        yield yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=math.inf)
    if root is None:
        return
    for name in names():
        if not load_manifest(name).restricted:
            for record in load(name, root):
                yield from (value for value in vars(record).values() if isinstance(value, str))
