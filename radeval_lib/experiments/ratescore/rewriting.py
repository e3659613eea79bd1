"""What becomes of the findings of a report when it is rewritten, as a reader by rules finds them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from radeval_lib.data.records import Triad
from radeval_lib.data.restricted import reveal
from radeval_lib.findings.reader import read


def said_of(text: str) -> dict[str, str]:
    """Whether each observation that the text names is ``present`` or ``absent``.

    Observations that are said to be uncertain, or of which the text says both, are left out.
    """
    found: dict[str, set[str]] = {}
    for finding in read(text).findings:
        found.setdefault(finding.observation, set()).add(finding.presence)
    clear = {name: next(iter(said)) for name, said in found.items() if len(said) == 1}
    return {name: said for name, said in clear.items() if said != "uncertain"}


def rewritten_findings(triads: Sequence[Triad]) -> pd.DataFrame:
    """Each finding of an original that its rewrite names, too.

    Returns
    -------
    DataFrame
        One row a finding and rewrite: ``triad`` (id), ``version`` (``synonymous`` or ``opposite``),
        ``before`` and ``after`` (``present`` or ``absent``). No text of a report is in it.
    """
    rows = []
    for triad in triads:
        original = said_of(reveal(triad.reference))
        for version, text in (("synonymous", triad.synonymous), ("opposite", triad.opposite)):
            other = said_of(reveal(text))
            rows += [
                {"triad": triad.id, "version": version, "before": original[name], "after": other[name]}
                for name in original
                if name in other
            ]
    return pd.DataFrame(rows, columns=["triad", "version", "before", "after"])
