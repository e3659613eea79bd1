"""The scorecard: what holds up, exhibit by exhibit, read from recorded results alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple

import pandas as pd

from radeval_lib.papers.exhibits import PAPERS, exhibit, ledger
from radeval_lib.study import verdicts
from radeval_lib.study.judging import OPEN_CONVENTION, Discrepancy, by_key, statement_outcome
from radeval_lib.study.printed_tables import is_shown_by_cells, place_of
from radeval_lib.study.results import Result
from radeval_lib.study.superiority import superiority_words


def _rank(result: Result) -> tuple[int, int, bool, int]:
    """Return what a reader should look at first: what decides something; data before numbers before other
    data; and of printed and released numbers, neither of which outweighs the other, the one that is
    inconsistent."""
    silent = {verdicts.INCONCLUSIVE: 1, verdicts.IMPLEMENTED: 2, verdicts.EXPERIMENT: 3, verdicts.EDITED: 4}
    settled = result.kind != "numbers" or result.outcome != verdicts.FAILS
    return (
        silent.get(result.outcome, 0),
        verdicts.KINDS.index(result.kind),
        settled,
        verdicts.STRENGTH.index(result.evidence),
    )


def _by_weight(results: Sequence[Result]) -> list[Result]:
    """Return results of one exhibit, the one that its verdict rests on first. What printed numbers leave
    open, released ones do not settle, nor the reverse: each must hold."""
    made = sorted(results, key=_rank)
    if made and made[0].kind == "numbers" and made[0].outcome == verdicts.HOLDS:
        made.sort(key=lambda result: (result.kind, result.outcome) != ("numbers", verdicts.INCONCLUSIVE))
    return made


def scorecard(results: Sequence[Result]) -> pd.DataFrame:
    """Return every exhibit of the ledger with its verdicts.

    Returns
    -------
    DataFrame
        One row per exhibit, in the ledger's order: ``exhibit``, ``paper``, ``label``, ``title``, ``kind``,
        ``notebook``, ``anchor``, ``place`` (where it is shown there: the display of a printed table, else the
        anchor; empty if not checked), ``needs``; of the strongest evidence ``verdict``, ``outcome``,
        ``weight``, ``coverage`` (in words), ``evidence``, ``instrument`` (each empty if not checked) and
        ``remaining``; per kind of evidence the verdict there and its coverage (empty if none); ``checks``,
        ``failing`` and ``undetermined`` (how many checks are inconclusive), as they count for verdicts, over
        all evidence, and ``failures``, the reasons to fail; ``finding``, what came out in a sentence.
    """
    by_exhibit: dict[str, list[Result]] = {}
    for result in results:
        by_exhibit.setdefault(result.exhibit, []).append(result)
    rows = []
    for entry in ledger().values():
        made = _by_weight(by_exhibit.get(entry.id, []))
        best = made[0] if made else None
        outcomes = Counter(statement_outcome(rows) for result in made for rows in by_key(result.checks))
        levels = {result.evidence: _with_coverage(result) for result in reversed(made)}
        rows.append(
            {
                "exhibit": entry.id,
                "paper": PAPERS[entry.paper],
                "label": entry.label,
                "title": entry.title,
                "kind": entry.kind.replace("_", " "),
                "notebook": entry.notebook,
                "anchor": entry.anchor,
                "place": _place(best) if best else "",
                "needs": entry.why_not_checked,
                "verdict": best.verdict if best else verdicts.NOT_CHECKED,
                "outcome": best.outcome if best else verdicts.NOT_CHECKED,
                "weight": best.weight if best else "",
                "coverage": best.coverage.words if best and best.coverage else "",
                "evidence": best.evidence if best else "",
                "instrument": best.instrument if best else "",
                "remaining": best.remaining if best else "",
                **{level: levels.get(level, "") for level in verdicts.EVIDENCE},
                "checks": outcomes.total(),
                "failing": outcomes[verdicts.FAILS],
                "undetermined": outcomes[verdicts.INCONCLUSIVE],
                "failures": len(distinct_failures(audit(made))),
                "finding": _finding(best) if best else "",
            }
        )
    return pd.DataFrame(rows)


def _place(result: Result) -> str:
    return place_of(result) if is_shown_by_cells(result) else exhibit(result.exhibit).anchor


def _with_coverage(result: Result) -> str:
    return f"{result.verdict} ({result.coverage.words})" if result.coverage else result.verdict


def _finding(result: Result) -> str:
    """Return what came out, in a sentence: why checks fail, or else how orders and leads stand, or what
    follows from the first checks that the exhibit needs."""
    if result.outcome == verdicts.EXPERIMENT:
        return (
            f"Shown {verdicts.RESTS_ON[result.evidence]} with other instruments than the paper's; no verdict."
        )
    discrepancies = sorted(
        result.discrepancies.values(), key=lambda discrepancy: discrepancy.kind == OPEN_CONVENTION
    )
    found = superiority_words(result.checks)
    if discrepancies:
        stands = found and all(check.outcome == verdicts.HOLDS for check in result.checks if check.aspect)
        return (
            f"{discrepancies[0].explanation} Otherwise {found}." if stands else discrepancies[0].explanation
        )
    order = next((check for check in result.checks if check.aspect == "order"), None)
    if found and order is not None:
        found = f"{order.computed}; {found}"
    if not found:
        deciding = result.with_outcome(verdicts.FAILS) or [check for check in result.checks if check.needed]
        found = "; ".join(f"{check.name}: {check.computed}" for check in deciding[:2])
    return f"{found[:1].upper()}{found[1:]}." if found else ""


def failing(checks: pd.DataFrame) -> pd.DataFrame:
    """Return the checks of an audit that fail, or would but for an open convention or our copy, with
    ``reason``: the name of their discrepancy, or where none is known, their exhibit and what they compare."""
    found = checks[(checks["outcome"] == verdicts.FAILS) | (checks["discrepancy"] != "")]
    unexplained = found["exhibit"] + ": " + found["what"]
    return found.assign(reason=found["discrepancy"].where(found["discrepancy"] != "", unexplained))


def distinct_failures(checks: pd.DataFrame) -> pd.DataFrame:
    """Return what makes checks of an audit fail, each once, as ``paper``, ``discrepancy`` (the ``reason`` of
    :func:`failing`), ``kind`` and ``weight``, however many checks one discrepancy strikes."""
    found = failing(checks)
    return found.assign(discrepancy=found["reason"])[
        ["paper", "discrepancy", "kind", "weight"]
    ].drop_duplicates(["paper", "discrepancy"])


def by_word(card: pd.DataFrame) -> dict[str, int]:
    """Return how many exhibits have each verdict that at least one has, in the order of
    :data:`~radeval_lib.study.verdicts.VERDICTS`."""
    counts = card["verdict"].value_counts()
    return {word: int(counts[word]) for word in verdicts.VERDICTS if word in counts}


def audit(results: Sequence[Result]) -> pd.DataFrame:
    """Return every check of every result, in the ledger's order.

    Returns
    -------
    DataFrame
        ``exhibit``, ``paper``, ``label``, ``notebook``, ``anchor``, ``evidence``, ``check``, ``what``,
        ``printed``, ``follows``, ``outcome`` (``holds``, ``fails`` or ``inconclusive``), and, empty unless it
        fails and is explained, ``discrepancy`` (its name), ``kind``, ``explanation``, ``weight`` and
        ``reply``.
    """
    entries = ledger()
    rows = [
        (
            *(entry.id, PAPERS[entry.paper], entry.label, entry.notebook, entry.anchor, result.evidence),
            *(check.name, check.key.what, check.printed, check.computed, check.outcome, check.discrepancy),
            *astuple(result.discrepancies.get(check.discrepancy, Discrepancy("", "", "number"))),
        )
        for result in results
        for entry in [entries[result.exhibit]]
        for check in result.checks
    ]
    columns = (
        "exhibit paper label notebook anchor evidence check what printed follows outcome discrepancy kind"
    )
    return pd.DataFrame(rows, columns=[*columns.split(), "explanation", "weight", "reply"])
