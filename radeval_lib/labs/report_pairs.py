"""Pairs of short chest reports with three kinds of errors, of sentences that were written for the lab.

``report_sentences.csv`` has a sentence a row, in which ``{side}`` is a side, ``{other}`` the other one and
``{lobe}`` a lobe of that side. ``states`` are the observations that it states, each perhaps with its side,
``denies`` those that it denies. The rows of ``practice`` say things plainly, those of ``tough`` and ``board``
as rules misread them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple, TypedDict

import pandas as pd

WORDS: dict[str, tuple[str, ...]] = {
    "atelectasis": ("atelectasis", "atelectatic change", "atelectatic changes"),
    "consolidation": ("consolidation", "consolidations"),
    "edema": ("edema",),
    "nodule": ("nodule", "nodules", "nodular density", "nodular densities"),
    "pleural_effusion": ("effusion", "effusions", "pleural fluid"),
    "pneumonia": ("pneumonia",),
    "pneumothorax": ("pneumothorax", "pneumothoraces", "PTX", "PTXs"),
}
"""Seven observations, and the words by which the reports of :func:`pairs` call them."""
_LOBES = {"left": ("LUL", "LLL"), "right": ("RUL", "RML", "RLL")}
_OTHER = {"left": "right", "right": "left"}


class Pair(TypedDict):
    """Two findings sections, and the candidate's errors: [letter, observation], sorted.

    The letters are GREEN's: a, a false finding; b, a missing one; c, the wrong side.
    """

    reference: str
    candidate: str
    errors: list[list[str]]


class Sentence(NamedTuple):
    """A sentence with the observations that it states, each with its side or "", and those it denies."""

    text: str
    states: dict[str, str]
    denies: frozenset[str]


@cache
def sentences(*parts: str) -> tuple[Sentence, ...]:
    """Return the sentences of parts of the file; one with a side is given for both sides and each lobe."""
    table = pd.read_csv(Path(__file__).with_name("report_sentences.csv"), keep_default_na=False)
    made = []
    for row in table[table["part"].isin(parts)].itertuples():
        for side, other in _OTHER.items() if "{" in row.text else [("", "")]:
            for lobe in _LOBES[side] if "{lobe}" in row.text else [""]:
                text = row.text.format(side=side, Side=side.capitalize(), other=other, lobe=lobe)
                coded = (state.partition(" ") for state in row.states.split(";") if state)
                states = {observation: fields or side for observation, _, fields in coded}
                made.append(Sentence(text, states, frozenset(filter(None, row.denies.split(";")))))
    return tuple(made)


def pairs(n: int, seed: int, *parts: str) -> list[Pair]:
    """Return ``n`` pairs from the sentences of ``parts`` (default: ``practice``). Pair i depends only on
    ``seed`` and i."""
    return [_pair(Random(f"{seed} {number}"), parts or ("practice",)) for number in range(n)]


def _pair(rng: Random, parts: tuple[str, ...]) -> Pair:
    """Return a pair: each statement of the reference is reworded, left out or moved to the other side, and
    one may be invented."""
    pool = [*sentences(*parts)]
    reference = _report(rng, rng.sample(pool, len(pool)), rng.randint(2, 4))
    stated = {name: side for sentence in reference for name, side in sentence.states.items()}
    kept = {name: side for name, side in stated.items() if rng.random() > 0.2}
    turned = {name: _OTHER.get(side, side) if rng.random() < 0.3 else side for name, side in kept.items()}
    false = [name for name in WORDS if name not in stated]
    allowed = {**turned, **{name: None for name in false if rng.random() < 0.15}}
    fitting = [
        sentence
        for sentence in rng.sample(pool, len(pool))
        if all(allowed.get(name, "none") in (side, None) for name, side in sentence.states.items())
        and not sentence.denies & turned.keys()
    ]
    fitting.sort(key=lambda sentence: -len(sentence.states.keys() & turned.keys()))
    candidate = _report(rng, fitting, len(reference))
    states = {name: side for sentence in candidate for name, side in sentence.states.items()}
    errors = [["a", name] for name in states.keys() - stated.keys()]
    errors += [["b", name] for name in stated.keys() - states.keys()]
    both = stated.keys() & states.keys()
    errors += [["c", name] for name in both if {stated[name], states[name]} == {"left", "right"}]
    texts = [
        " ".join(part.text for part in rng.sample(report, len(report))) for report in (reference, candidate)
    ]
    return {"reference": texts[0], "candidate": texts[1], "errors": sorted(errors)}


def _report(rng: Random, pool: list[Sentence], size: int) -> list[Sentence]:
    """Return the first sentences of a pool that name nothing twice."""
    chosen: list[Sentence] = []
    named = set[str]()
    for sentence in pool:
        names = sentence.states.keys() | sentence.denies
        if len(chosen) < size and not names & named and (names or rng.random() < 0.3):
            chosen.append(sentence)
            named |= names
    return chosen
