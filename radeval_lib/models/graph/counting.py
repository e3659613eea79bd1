"""Predicted graphs against gold ones, counted as DyGIE++ does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from radeval_lib.models.graph.word_graphs import WordGraph

PARTS = ("entity", "relation", "strict")
"""What is counted: entities, relations, and relations whose ends must also have the right types."""


def counts(
    gold: WordGraph,
    predicted: WordGraph,
    entity_types: Sequence[str],
    relation_types: Sequence[str],
    max_width: int,
) -> list[dict[str, Any]]:
    """Return counts of one text by part and label, as DyGIE++ makes them (repository at b55dec4,
    ``dygie/training``).

    An entity is right if its borders and its type are. A gold entity wider than the model's spans is left
    out, which helps recall; it is counted as ``unseen``. A relation is right if the borders of its head and
    its tail, its direction and its label are; types of the ends do not matter, except for ``strict`` (PURE's
    Rel+). Labels other than ``entity_types`` and ``relation_types`` are not counted. A span has one type and
    an ordered pair one relation: of several the last counts. Gold relations are all counted.
    """
    truth, guess = ({(a, b): kind for a, b, kind in graph.entities} for graph in (gold, predicted))
    links, found = (_links(graph) for graph in (gold, predicted))
    seen = {span: kind for span, kind in truth.items() if span[1] - span[0] <= max_width}
    right = {span: kind for span, kind in guess.items() if seen.get(span) == kind}
    linked = {pair: kind for pair, kind in found.items() if links.get(pair) == kind}
    strict = {pair: kind for pair, kind in linked.items() if all(guess[end] == truth[end] for end in pair)}
    wide = {span: kind for span, kind in truth.items() if span not in seen}
    parts: list[tuple[str, Sequence[str], tuple[dict[Any, str], ...]]] = [
        ("entity", entity_types, (right, guess, seen, wide)),
        ("relation", relation_types, (linked, found, links, {})),
        ("strict", relation_types, (strict, found, links, {})),
    ]
    columns = ("matched", "predicted", "gold", "unseen")
    return [
        {"part": part, "label": label}
        | {name: list(one.values()).count(label) for name, one in zip(columns, sets, strict=True)}
        for part, labels, sets in parts
        for label in labels
    ]


def _links(graph: WordGraph) -> dict[tuple[tuple[int, int], tuple[int, int]], str]:
    """Return the label of each relation by the spans of its head and tail."""
    ends = [(start, end) for start, end, _ in graph.entities]
    return {(ends[head], ends[tail]): kind for head, tail, kind in graph.relations}
