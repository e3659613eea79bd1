"""Labels of a report: the fourteen chest observations of the CheXpert labeler (Irvin et al. 2019), and
Open-i's codes.

Both follow from the findings that the reader finds. ``reading.yml`` lists which findings make an observation
or a code, and which words they must have if the finding's key is wider than the observation.
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


def list_labels() -> tuple[str, ...]:
    """Return the names of the fourteen observations, in the labeler's order."""
    return (*_load_tables()["chexpert"], NO_FINDING)


def list_codes() -> tuple[str, ...]:
    """Return all Open-i codes that :func:`read_codes` can return, in the spelling of ``openi_labels``."""
    return tuple(_load_tables()["codes"])


def _names_in_table(finding: Finding, table: Mapping[str, Mapping[str, list[str]]]) -> Iterator[str]:
    """Yield the names under which a table lists a finding.

    For each name, ``table`` maps keys of findings to stems. A finding is listed if its words contain one of
    the stems of its key, or if its key has no stems.
    """
    words = finding.words.lower()
    for name, definition in table.items():
        stems = definition.get(finding.observation)
        if stems is not None and (not stems or any(stem in words for stem in stems)):
            yield name


def label(text: str) -> dict[str, int | None]:
    """Return the value of each of the fourteen observations: 1 if positive, 0 if negative, -1 if uncertain,
    None if not mentioned.

    Of several mentions the strongest counts: positive, then uncertain, then negative. No Finding is 1 if no
    other observation except Support Devices is positive or uncertain, else None; it is None for an empty
    text.
    """
    reading, tables = read(text), _load_tables()
    labels: dict[str, int | None] = dict.fromkeys(list_labels())
    for finding in reading.findings:
        value = _VALUES[finding.presence]
        for name in _names_in_table(finding, tables["chexpert"]):
            if _STRENGTH[value] > _STRENGTH[labels[name]]:
                labels[name] = value
    for normal in reading.normals:
        for name in tables["chexpert_normal"].get(normal.key, ()):
            labels[name] = NEGATIVE if labels[name] is None else labels[name]
    if text.strip() and not select_positive(labels) - {DEVICES}:
        labels[NO_FINDING] = POSITIVE
    return labels


def read_codes(text: str) -> frozenset[str]:
    """Return the Open-i codes of the findings that a report states as present, as probable or as one of
    two; not of findings that are merely possible."""
    return frozenset(
        name
        for finding in read(text).findings
        if finding.presence == "present" or finding.probable
        for name in _names_in_table(finding, _load_tables()["codes"])
    )


def select_positive(labels: Mapping[str, int | None]) -> frozenset[str]:
    """Return the observations with the value 1 or -1, which F1-CheXbert counts as present."""
    return frozenset(name for name, value in labels.items() if value in (POSITIVE, UNCERTAIN))
