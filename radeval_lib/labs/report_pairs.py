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
    """Return the sentences of parts of the file, those with a side for both sides and each lobe."""
    table = pd.read_csv(Path(__file__).with_name("report_sentences.csv"), keep_default_na=False)
    made = []
    for row in table[table["part"].isin(parts)].itertuples():
        for side, other in _OTHER.items() if "{" in row.text else [("", "")]:
            for lobe in _LOBES[side] if "{lobe}" in row.text else [""]:
                text = row.text.format(side=side, Side=side.capitalize(), other=other, lobe=lobe)
                coded = (one.partition(" ") for one in row.states.split(";") if one)
                states = {observation: own or side for observation, _, own in coded}
                made.append(Sentence(text, states, frozenset(filter(None, row.denies.split(";")))))
    return tuple(made)


def pairs(n: int, seed: int, *parts: str) -> list[Pair]:
    """Return ``n`` pairs of the sentences of ``parts``, by default of ``practice``; pair i depends on
    ``seed`` and i alone."""
    return [_pair(Random(f"{seed} {number}"), parts or ("practice",)) for number in range(n)]


def _pair(rng: Random, parts: tuple[str, ...]) -> Pair:
    """Return a pair: what the reference states is said otherwise, left out or on the other side, and
    something may be invented."""
    pool = [*sentences(*parts)]
    reference = _report(rng, rng.sample(pool, len(pool)), rng.randint(2, 4))
    stated = {name: side for one in reference for name, side in one.states.items()}
    kept = {name: side for name, side in stated.items() if rng.random() > 0.2}
    turned = {name: _OTHER.get(side, side) if rng.random() < 0.3 else side for name, side in kept.items()}
    false = [one for one in WORDS if one not in stated]
    allowed = {**turned, **{name: None for name in false if rng.random() < 0.15}}
    fitting = [
        one
        for one in rng.sample(pool, len(pool))
        if all(allowed.get(name, "none") in (side, None) for name, side in one.states.items())
        and not one.denies & turned.keys()
    ]
    fitting.sort(key=lambda one: -len(one.states.keys() & turned.keys()))
    candidate = _report(rng, fitting, len(reference))
    told = {name: side for one in candidate for name, side in one.states.items()}
    errors = [["a", name] for name in told.keys() - stated.keys()]
    errors += [["b", name] for name in stated.keys() - told.keys()]
    both = stated.keys() & told.keys()
    errors += [["c", name] for name in both if {stated[name], told[name]} == {"left", "right"}]
    texts = [
        " ".join(one.text for one in rng.sample(report, len(report))) for report in (reference, candidate)
    ]
    return {"reference": texts[0], "candidate": texts[1], "errors": sorted(errors)}


def _report(rng: Random, pool: list[Sentence], size: int) -> list[Sentence]:
    """Return the first sentences of a pool that name nothing twice."""
    chosen: list[Sentence] = []
    named = set[str]()
    for one in pool:
        own = one.states.keys() | one.denies
        if len(chosen) < size and not own & named and (own or rng.random() < 0.3):
            chosen.append(one)
            named |= own
    return chosen
