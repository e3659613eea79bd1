"""Sentences with one error of a known category, for guidelines by which people count errors."""

from __future__ import annotations

import pandas as pd

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
