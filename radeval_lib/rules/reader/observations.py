"""Labels a report with the fourteen observations of the CheXpert labeler (Irvin et al. 2019) and with Open-i
codes.

Both follow from the findings that the reader returns, and the labels also from its normal statements.
``reading.yml`` lists the findings that make an observation or a code, with the words that a finding must
contain if its key is wider than the observation.
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
#: The five CheXpert observations for which scores are most often reported separately.
FIVE = ("Cardiomegaly", "Edema", "Consolidation", "Atelectasis", "Pleural Effusion")
_LABEL_VALUES = {"absent": NEGATIVE, "uncertain": UNCERTAIN, "present": POSITIVE}
_STRENGTH = {None: 0, NEGATIVE: 1, UNCERTAIN: 2, POSITIVE: 3}


@lru_cache(maxsize=1)
def _load_tables() -> Mapping[str, Any]:
    """Return ``reading.yml``, of which this module uses ``chexpert``, ``chexpert_normal`` and ``codes``."""
    return own_yaml.read(FILE)


def list_labels() -> tuple[str, ...]:
    """Return the names of the fourteen CheXpert observations, in the labeler's order."""
    return (*_load_tables()["chexpert"], NO_FINDING)


def list_codes() -> tuple[str, ...]:
    """Return all Open-i codes that :func:`read_codes` can return, in the spelling of ``openi_labels``."""
    return tuple(_load_tables()["codes"])


def _find_names(finding: Finding, table: Mapping[str, Mapping[str, list[str]]]) -> Iterator[str]:
    """Yield the names of the observations or codes under which ``table`` lists a finding.

    For each name, ``table`` maps keys of findings to word stems. A finding is listed under the name if its
    words contain one of the stems of its key, or if its key has no stems.
    """
    words = finding.words.lower()
    for name, stems_by_key in table.items():
        stems = stems_by_key.get(finding.observation)
        if stems is not None and (not stems or any(stem in words for stem in stems)):
            yield name


def label(text: str) -> dict[str, int | None]:
    """Return a mapping from each of the fourteen CheXpert observations to its value: 1 if positive, 0 if
    negative, -1 if uncertain, None if not mentioned.

    Of several mentions the strongest counts: positive, then uncertain, then negative. No Finding is 1 if the
    text is not blank and no observation except Support Devices is positive or uncertain, else None. Raises
    PlaceholderError if the text is a placeholder.
    """
    reading, tables = read(text), _load_tables()
    labels: dict[str, int | None] = dict.fromkeys(list_labels())
    for finding in reading.findings:
        value = _LABEL_VALUES[finding.presence]
        for name in _find_names(finding, tables["chexpert"]):
            if _STRENGTH[value] > _STRENGTH[labels[name]]:
                labels[name] = value
    for normal in reading.normals:
        for name in tables["chexpert_normal"].get(normal.key, ()):
            labels[name] = NEGATIVE if labels[name] is None else labels[name]
    if text.strip() and not select_positive(labels) - {DEVICES}:
        labels[NO_FINDING] = POSITIVE
    return labels


def read_codes(text: str) -> frozenset[str]:
    """Return the Open-i codes of the findings that a report calls present, probable or one of two
    alternatives, but not merely possible. Raises PlaceholderError if the text is a placeholder."""
    return frozenset(
        name
        for finding in read(text).findings
        if finding.presence == "present" or finding.probable
        for name in _find_names(finding, _load_tables()["codes"])
    )


def select_positive(labels: Mapping[str, int | None]) -> frozenset[str]:
    """Return the observations with the value 1 or -1, both of which F1-CheXbert counts as present."""
    return frozenset(name for name, value in labels.items() if value in (POSITIVE, UNCERTAIN))
