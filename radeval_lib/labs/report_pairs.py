"""Pairs of short chest reports with three kinds of errors, composed of sentences written for the lab.

``report_sentences.csv`` has one sentence per row (``text``), in which ``{side}`` stands for a side
(``{Side}`` with a capital letter), ``{other}`` for the other side and ``{lobe}`` for a lobe of the side.
``states`` lists the observations that the sentence states, some followed by a side, and ``denies`` the
observations that the sentence denies. ``part`` is ``practice`` for plain sentences, and ``tough`` or
``board`` for sentences that simple rules misread.
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
"""A mapping from each of seven observations to the words for it in the reports of :func:`pairs`."""
_LOBES = {"left": ("LUL", "LLL"), "right": ("RUL", "RML", "RLL")}
_OPPOSITES = {"left": "right", "right": "left"}


class Pair(TypedDict):
    """Two findings sections, and the candidate's errors, sorted: each a letter and an observation.

    The letter is ``a`` for a false finding, ``b`` for a missing finding, and ``c`` for a wrong side.
    """

    reference: str
    candidate: str
    errors: list[list[str]]


class Sentence(NamedTuple):
    """A sentence, and the observations that it names.

    ``states`` maps each observation that the sentence states to its side (empty if none is named).
    ``denies`` has the observations that the sentence denies.
    """

    text: str
    states: dict[str, str]
    denies: frozenset[str]


@cache
def sentences(*parts: str) -> tuple[Sentence, ...]:
    """Return the sentences of ``parts`` of ``report_sentences.csv``, once for each side and lobe.

    Raises ValueError if a part does not exist.
    """
    table = pd.read_csv(Path(__file__).with_name("report_sentences.csv"), keep_default_na=False)
    if unknown := set(parts) - set(table["part"]):
        raise ValueError(f"no part {min(unknown)!r}; use one of {', '.join(table['part'].unique())}")
    variants = []
    for row in table[table["part"].isin(parts)].itertuples():
        for side, other in _OPPOSITES.items() if "{" in row.text else [("", "")]:
            for lobe in _LOBES[side] if "{lobe}" in row.text else [""]:
                text = row.text.format(side=side, Side=side.capitalize(), other=other, lobe=lobe)
                statements = (state.partition(" ") for state in row.states.split(";") if state)
                states = {observation: own_side or side for observation, _, own_side in statements}
                variants.append(Sentence(text, states, frozenset(filter(None, row.denies.split(";")))))
    return tuple(variants)


def pairs(n: int, seed: int, *parts: str) -> list[Pair]:
    """Return ``n`` random pairs of reports, composed of sentences of ``parts`` (by default, ``practice``).

    Pair i depends only on ``seed``, i and the parts. Raises ValueError if a part does not exist.
    """
    return [_draw_pair(Random(f"{seed} {number}"), parts or ("practice",)) for number in range(n)]


def _draw_pair(rng: Random, parts: tuple[str, ...]) -> Pair:
    """Return a pair of a random reference and a candidate that rewords it with random errors.

    The candidate may leave out observations, move them to the other side, and add others.
    """
    pool = [*sentences(*parts)]
    reference = _choose_sentences(rng, rng.sample(pool, len(pool)), rng.randint(2, 4))
    old_sides = {name: side for sentence in reference for name, side in sentence.states.items()}
    sides = {name: side for name, side in old_sides.items() if rng.random() > 0.2}
    sides = {name: _OPPOSITES.get(side, side) if rng.random() < 0.3 else side for name, side in sides.items()}
    absent_names = [name for name in WORDS if name not in old_sides]
    # The side is None for an added observation, which may be on any side.
    allowed_sides = {**sides, **{name: None for name in absent_names if rng.random() < 0.15}}
    options = [
        sentence
        for sentence in rng.sample(pool, len(pool))
        if all(allowed_sides.get(name, "none") in (side, None) for name, side in sentence.states.items())
        and not sentence.denies & sides.keys()
    ]
    options.sort(key=lambda sentence: -len(sentence.states.keys() & sides.keys()))
    candidate = _choose_sentences(rng, options, len(reference))
    new_sides = {name: side for sentence in candidate for name, side in sentence.states.items()}
    errors = [["a", name] for name in new_sides.keys() - old_sides.keys()]
    errors += [["b", name] for name in old_sides.keys() - new_sides.keys()]
    names = old_sides.keys() & new_sides.keys()
    errors += [["c", name] for name in names if {old_sides[name], new_sides[name]} == {"left", "right"}]
    texts = [" ".join(s.text for s in rng.sample(report, len(report))) for report in (reference, candidate)]
    return {"reference": texts[0], "candidate": texts[1], "errors": sorted(errors)}


def _choose_sentences(rng: Random, pool: list[Sentence], size: int) -> list[Sentence]:
    """Return the first sentences of a pool, at most ``size``, that name different observations.

    A sentence that names no observation is used with probability 0.3.
    """
    chosen: list[Sentence] = []
    used_names = set[str]()
    for sentence in pool:
        names = sentence.states.keys() | sentence.denies
        if len(chosen) < size and not names & used_names and (names or rng.random() < 0.3):
            chosen.append(sentence)
            used_names |= names
    return chosen
