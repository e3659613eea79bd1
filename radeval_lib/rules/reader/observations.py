"""Fourteen chest observations in the manner of the CheXpert labeler (Irvin et al. 2019), and Open-i's codes.

Both are views of the one reading of a report: ``reading.yml`` says which findings of the reader make an
observation or a code, and by which words if the finding's key is wider than the observation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from radeval_lib import own_yaml
from radeval_lib.rules.reader.reader import read
from radeval_lib.rules.reader.records import Finding
from radeval_lib.rules.reader.vocabulary import FILE

POSITIVE, NEGATIVE, UNCERTAIN = 1, 0, -1
NO_FINDING, DEVICES = "No Finding", "Support Devices"
#: The five observations that are most often reported apart.
FIVE = ("Cardiomegaly", "Edema", "Consolidation", "Atelectasis", "Pleural Effusion")
_VALUES = {"absent": NEGATIVE, "uncertain": UNCERTAIN, "present": POSITIVE}
_STRENGTH = {None: 0, NEGATIVE: 1, UNCERTAIN: 2, POSITIVE: 3}


@lru_cache(maxsize=1)
def _load_tables() -> Mapping[str, Any]:
    """Return ``reading.yml``, for its parts ``chexpert``, ``chexpert_normal`` and ``codes``."""
    return own_yaml.read(FILE)


def observations() -> tuple[str, ...]:
    """Return the fourteen names, in the labeler's order."""
    return (*_load_tables()["chexpert"], NO_FINDING)


def codes() -> tuple[str, ...]:
    """Return the Open-i codes that :func:`coded` reads, named as in the ``openi_labels`` data set."""
    return tuple(_load_tables()["codes"])


def _names_in_table(finding: Finding, table: Mapping[str, Mapping[str, list[str]]]) -> Iterator[str]:
    """Yield the names under which a table lists a finding.

    ``table``: for each name, keys of findings with the stems of words that the finding must have one of; a
    key without stems admits every wording.
    """
    words = finding.words.lower()
    for name, definition in table.items():
        stems = definition.get(finding.observation)
        if stems is not None and (not stems or any(stem in words for stem in stems)):
            yield name


def label(text: str) -> dict[str, int | None]:
    """Return the value of each observation: 1 positive, 0 negative, -1 uncertain, None not mentioned.

    The strongest mention counts (positive, then uncertain, then negative). No Finding is 1 if no other
    observation but Support Devices is positive or uncertain, else None; an empty text has none.
    """
    reading, tables = read(text), _load_tables()
    labels: dict[str, int | None] = dict.fromkeys(observations())
    for finding in reading.findings:
        value = _VALUES[finding.presence]
        for name in _names_in_table(finding, tables["chexpert"]):
            if _STRENGTH[value] > _STRENGTH[labels[name]]:
                labels[name] = value
    for normal in reading.normals:
        for name in tables["chexpert_normal"].get(normal.key, ()):
            labels[name] = NEGATIVE if labels[name] is None else labels[name]
    if text.strip() and not positive(labels) - {DEVICES}:
        labels[NO_FINDING] = POSITIVE
    return labels


def coded(text: str) -> frozenset[str]:
    """Return the codes of a report: anything positive, probable or one of two, but not merely possible."""
    return frozenset(
        name
        for finding in read(text).findings
        if finding.presence == "present" or finding.probable
        for name in _names_in_table(finding, _load_tables()["codes"])
    )


def positive(labels: Mapping[str, int | None]) -> frozenset[str]:
    """Return the observations counted as present: positive and uncertain ones, as in F1-CheXbert."""
    return frozenset(name for name, value in labels.items() if value in (POSITIVE, UNCERTAIN))
