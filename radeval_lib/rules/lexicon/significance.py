"""Clinical significance of errors about findings, from the table in ``significance.yml``."""

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
_MAJOR_CLASSES = ("urgent", "actionable")


@dataclass(frozen=True, slots=True)
class Context:
    """Facts about a patient that the compared reports do not state.

    Attributes
    ----------
    age : the age in years, from 0 to 130; None if unknown.
    indication : the reason for the examination; "" if unknown.

    Raises
    ------
    RadevalError
        If the age is out of range or not a number, or the indication is not a string.
    """

    age: float | None = None
    indication: str = ""

    def __post_init__(self) -> None:
        """Check the age and the indication."""
        if self.age is not None and not (isinstance(self.age, Real) and 0 <= self.age <= 130):
            remedy = "Pass a number of years from 0 to 130, or None if the age is unknown."
            raise RadevalError(f"invalid age {self.age!r}", "context", remedy)
        if not isinstance(self.indication, str):
            problem = f"the indication has type {type(self.indication).__name__} instead of str"
            raise RadevalError(problem, "context", "Pass a string, or '' if the indication is unknown.")

    def applies(self, rule: Mapping[str, Any]) -> bool:
        """Return whether the age or the indication meets the condition of a rule of ``significance.yml``.

        The words in a rule's ``asks`` must occur in the indication as whole words, so that "Fallot" does not
        count as a fall.
        """
        if "asks" in rule:
            indication = " ".join(self.indication.lower().split())
            return any(re.search(rf"\b{re.escape(words)}\b", indication) for words in rule["asks"])
        return self.age is not None and rule.get("from", 0) <= self.age < rule.get("below", math.inf)


class Significance(NamedTuple):
    """The clinical significance of a finding.

    Attributes
    ----------
    name : the name of its class in ``significance.yml``.
    weight : its weight when errors are added up.
    major : whether GREEN may count an error about it as clinically significant.
    why : the reason for the class.
    """

    name: str
    weight: float
    major: bool
    why: str


@lru_cache(maxsize=1)
def _load_table() -> Mapping[str, Any]:
    """Return the content of ``significance.yml``, which is read only once."""
    return own_yaml.read(_FILE)


def get_factor(name: str) -> float:
    """Return the factor that multiplies the weight of a finding for an error of the kind ``name``.

    Raises
    ------
    KeyError
        If the kind is not one of ``factors`` in ``significance.yml``.
    """
    return float(_load_table()["factors"][name])


@lru_cache(maxsize=4096)
def grade_significance(observation: str, context: Context | None = None) -> Significance:
    """Return the significance of an observation, given the patient's context if it is known.

    If a rule about the context applies, or the lexicon lacks the observation, ``major`` is True for the
    classes urgent and actionable. Otherwise the lexicon decides, as in the generator.
    """
    table, concepts = _load_table(), load_lexicon().concepts
    for rule in table["context"]:
        if context is not None and observation in rule["findings"] and context.applies(rule):
            name = rule["class"]
            return Significance(name, float(table["weights"][name]), name in _MAJOR_CLASSES, rule["why"])
    concept = concepts.get(observation)
    for entry in table["classes"]:
        if observation in entry["findings"]:
            name, why = entry["class"], entry["why"]
            break
    else:
        name = table["otherwise"]["minor" if concept and not concept.major else "major"]
        why = next(entry["why"] for entry in table["classes"] if entry["class"] == name)
    major = concept.major if concept else name in _MAJOR_CLASSES
    return Significance(name, float(table["weights"][name]), major, why)
