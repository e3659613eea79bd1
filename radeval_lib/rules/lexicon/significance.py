"""How much an error matters: the table of ``significance.yml``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

from radeval_lib import own_yaml
from radeval_lib.errors import RadevalError
from radeval_lib.rules.lexicon.loading import load_lexicon

_FILE = Path(__file__).with_name("significance.yml")
_MAJOR = ("urgent", "actionable")


@dataclass(frozen=True, slots=True)
class Context:
    """What is known about the patient beyond the reports, if anything.

    ``age`` is in years, from 0 to 130, ``indication`` why the examination was asked for; other values raise
    :class:`RadevalError`.
    """

    age: float | None = None
    indication: str = ""

    def __post_init__(self) -> None:
        if self.age is not None and not (isinstance(self.age, Real) and 0 <= self.age <= 130):
            raise RadevalError(f"an age of {self.age!r}", "context", "Give years, from 0 to 130, or None.")
        if not isinstance(self.indication, str):
            raise RadevalError(f"an indication of {self.indication!r}", "context", "Give a text.")

    def applies(self, rule: Mapping[str, Any]) -> bool:
        """Return whether a rule of ``significance.yml`` applies to this patient.

        What a rule asks for is sought as whole words, since "Fallot" is no fall: it lists every inflection.
        """
        if "asks" in rule:
            indication = " ".join(self.indication.lower().split())
            return any(re.search(rf"\b{re.escape(words)}\b", indication) for words in rule["asks"])
        return self.age is not None and rule.get("from", 0) <= self.age < rule.get("below", math.inf)


class Significance(NamedTuple):
    """A finding's class and weight, the reason, and whether an error on it can be significant for GREEN."""

    name: str
    weight: float
    major: bool
    why: str


@lru_cache(maxsize=1)
def _load_table() -> Mapping[str, Any]:
    return own_yaml.read(_FILE)


def factor(name: str) -> float:
    """Return the weight of an error of this kind as a share of the finding's weight."""
    return float(_load_table()["factors"][name])


@lru_cache(maxsize=4096)
def significance(observation: str, context: Context | None = None) -> Significance:
    """Return the significance of an observation, given the patient's context if known.

    GREEN knows two grades of an error. Here, as in the generator's lexicon, an error on a minor finding is
    never significant; an observation that the lexicon lacks is major if its class is urgent or actionable.
    If a rule of the context decides the class, it decides that too.
    """
    table, concepts = _load_table(), load_lexicon().concepts
    for rule in table["context"]:
        if context is not None and observation in rule["findings"] and context.applies(rule):
            name = rule["class"]
            return Significance(name, float(table["weights"][name]), name in _MAJOR, rule["why"])
    concept = concepts.get(observation)
    for entry in table["classes"]:
        if observation in entry["findings"]:
            name, why = entry["class"], entry["why"]
            break
    else:
        name = table["otherwise"]["minor" if concept and not concept.major else "major"]
        why = next(entry["why"] for entry in table["classes"] if entry["class"] == name)
    major = concept.major if concept else name in _MAJOR
    return Significance(name, float(table["weights"][name]), major, why)
