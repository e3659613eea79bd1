"""What the generator knows of names and entities, to test an encoder: synonyms, and the counterparts of
entities in a text that says the same in other words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.lexicon.loading import load_lexicon
from radeval_lib.synthetic import SyntheticError, SyntheticReport, generate, rewrite


def synonyms(rng: np.random.Generator) -> pd.DataFrame:
    """Two names of one finding, and a name of another finding of the same body region, drawn by ``rng``.

    Returns
    -------
    DataFrame
        One row a pair of names of the lexicon (singular, no abbreviations): ``concept``, ``name``,
        ``synonym``, ``other``, and ``shared``: whether name and synonym have a word in common. Names that
        belong to two findings are never drawn as ``other``.
    """
    concepts = load_lexicon().concepts
    names = {
        key: sorted({name.one.text.lower() for name in concept.names}) for key, concept in concepts.items()
    }
    rows = []
    for key, own in names.items():
        strangers = sorted(
            name
            for other, theirs in names.items()
            if other != key and concepts[other].region == concepts[key].region
            for name in theirs
            if name not in own
        )
        for place, name in enumerate(own):
            for synonym in own[place + 1 :]:
                rows.append(
                    {
                        "concept": key,
                        "name": name,
                        "synonym": synonym,
                        "other": strangers[int(rng.integers(len(strangers)))],
                        "shared": bool(set(name.split()) & set(synonym.split())),
                    }
                )
    return pd.DataFrame(rows)


def place_names() -> list[str]:
    """Every name of a place in the lexicon, lower case, left and right alike, sorted."""
    places = load_lexicon().places.values()
    return sorted(
        {phrase.text.lower() for place in places for forms in place.nouns.values() for phrase in forms}
    )


@dataclass(frozen=True)
class Rewritten:
    """A text and its rewrite with gold entities."""

    report: str
    queries: tuple[tuple[str, str], ...]
    others: tuple[tuple[str, str], ...]
    counterparts: NDArray[np.bool_]


def rewritten(n: int, seed: int) -> list[Rewritten]:
    """Reports reworded by the generator; those without another wording are passed over."""
    found = []
    for report in generate(10 * n, seed):
        try:
            other = rewrite(report, "synonym", seed)
        except SyntheticError:
            continue
        queries, others = _entities(other), _entities(report)
        same = [[bool(a[2] & b[2]) and a[1] == b[1] for b in others] for a in queries]
        found.append(
            Rewritten(
                report.report_id,
                tuple(row[:2] for row in queries),
                tuple(row[:2] for row in others),
                np.array(same, dtype=bool).reshape(len(queries), len(others)),
            )
        )
        if len(found) == n:
            break
    return found


def _entities(report: SyntheticReport) -> list[tuple[str, str, frozenset[int]]]:
    """Text, type and statements of each gold entity of the findings."""
    rows = []
    for entity in report.findings.entities:
        said = next(
            row.statements for row in report.findings.sentences if row.start <= entity.start < row.end
        )
        rows.append((entity.text.lower(), entity.label.upper(), frozenset(said)))
    return rows
