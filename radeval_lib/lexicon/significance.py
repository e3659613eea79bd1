"""How much an error matters: the table of ``significance.yml``."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from radeval_lib.lexicon.loading import load_lexicon

_FILE = Path(__file__).with_name("significance.yml")


class Significance(NamedTuple):
    """Class and weight of a finding, why, and whether an error on it can be significant in GREEN's sense."""

    name: str
    weight: float
    major: bool
    why: str


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    table: dict[str, Any] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return table


def factor(name: str) -> float:
    """What an error of this kind counts for, as a share of the finding's weight."""
    return float(_table()["factors"][name])


@lru_cache(maxsize=4096)
def significance(observation: str) -> Significance:
    """The significance of an observation.

    GREEN knows two grades of an error. Here, as in the generator's lexicon, an error on a minor finding is
    never significant; an observation that the lexicon lacks is major if its class is urgent or actionable.
    """
    table, concepts = _table(), load_lexicon().concepts
    known = concepts.get(observation)
    for entry in table["classes"]:
        if observation in entry["findings"]:
            name, why = entry["class"], entry["why"]
            break
    else:
        name = table["otherwise"]["minor" if known and not known.major else "major"]
        why = next(entry["why"] for entry in table["classes"] if entry["class"] == name)
    major = known.major if known else name in ("urgent", "actionable")
    return Significance(name, float(table["weights"][name]), major, why)
