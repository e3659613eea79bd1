"""Sentences with one error of a known category, for guidelines by which people count errors."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from radeval_lib.data.records import Triad
from radeval_lib.data.restricted import reveal
from radeval_lib.findings.reader import read
from radeval_lib.synthetic.difference import CATEGORIES, compare
from radeval_lib.synthetic.errors import ErrorPair, error_pairs
from radeval_lib.synthetic.generator import rerender
from radeval_lib.synthetic.records import Finding, Plan, SyntheticError, SyntheticReport

_TRIES = 40  # pairs of reports looked at for each pair of sentences that is wanted


def sentence_errors(n: int, seed: int) -> pd.DataFrame:
    """Pairs of texts of one statement, or two, that differ in one significant error.

    A finding that is wrong in place, severity or change stands alone. One that is added or left out stands
    beside a finding that both texts have, so that neither text is empty.

    Parameters
    ----------
    n : pairs of each category.

    Returns
    -------
    DataFrame
        ``n`` rows a category: ``category`` (letter), ``reference``, ``candidate``.

    Raises
    ------
    SyntheticError
        Where too few reports have such sentences.
    """
    rows: list[dict[str, str]] = []
    for letter in CATEGORIES:
        found: list[dict[str, str]] = []
        for pair in error_pairs(_TRIES * n, seed, errors=[(letter, True)]):
            sides = _cut(pair)
            if sides is None:
                continue
            reference, candidate = sides
            if [error.category for error in compare(reference, candidate).errors] == [letter]:
                texts = {"reference": reference.findings.text, "candidate": candidate.findings.text}
                found.append({"category": letter, **texts})
            if len(found) == n:
                break
        else:
            raise SyntheticError(
                f"{len(found)} of {n} sentences with an error of category {letter}",
                "sentence_errors",
                "Ask for fewer.",
            )
        rows += found
    return pd.DataFrame(rows)


def _cut(pair: ErrorPair) -> tuple[SyntheticReport, SyntheticReport] | None:
    """Both reports, cut to the statement that differs and, where only one has it, one finding beside."""
    ours = {one.uid: one for one in pair.reference.plan}
    theirs = {one.uid: one for one in pair.candidate.plan}
    differ = [
        uid
        for uid in dict.fromkeys((*ours, *theirs))
        if uid not in ours or uid not in theirs or ours[uid].content != theirs[uid].content
    ]
    if not all(uid in ours and uid in theirs for uid in differ):
        beside = [uid for uid, one in ours.items() if uid not in differ and isinstance(one.content, Finding)]
        if not beside:
            return None
        differ = [beside[0], *differ]

    def plan(side: Plan) -> Plan:
        return tuple(one for one in side if one.uid in differ)

    return (
        rerender(pair.reference, plan(pair.reference.plan)),
        rerender(pair.candidate, plan(pair.candidate.plan)),
    )


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
