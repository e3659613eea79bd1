"""Names of findings that mean the same, to test an encoder."""

from __future__ import annotations

import numpy as np
import pandas as pd

from radeval_lib.lexicon.loading import load_lexicon


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
