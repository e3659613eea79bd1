"""The scorecard of exhibits and the audit of checks, from recorded results, and changes between editions."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from radeval_lib.errors import ResultError, plain
from radeval_lib.papers.exhibits import PAPERS, ledger
from radeval_lib.paths import display_path
from radeval_lib.study import verdicts
from radeval_lib.study.exhibit_html import is_shown_by_cells, place_of, verdict_badge
from radeval_lib.study.results import OWN_ENDING, Discrepancy, Result, group_by_key, statement_outcome
from radeval_lib.tables import table_html
from radeval_lib.text_format import joined

UP = "../"
"""From a page in ``notebooks/<folder>/`` to ``notebooks/``."""


def _strongest_first(results: Sequence[Result]) -> list[Result]:
    """Return results of one exhibit, first the one that decides its verdict.

    Decided results come before others, and data before numbers before other data. Printed and released
    numbers must both hold: the inconsistent result comes first, else the inconclusive one.
    """
    silent = {verdicts.INCONCLUSIVE: 1, verdicts.IMPLEMENTED: 2, verdicts.EXPERIMENT: 3, verdicts.EDITED: 4}

    def rank(result: Result) -> tuple[int, int, bool, int]:
        settled = result.kind != "numbers" or result.outcome != verdicts.FAILS
        strength = verdicts.STRENGTH.index(result.evidence)
        return silent.get(result.outcome, 0), verdicts.KINDS.index(result.kind), settled, strength

    ranked = sorted(results, key=rank)
    if ranked and ranked[0].kind == "numbers" and ranked[0].outcome == verdicts.HOLDS:
        ranked.sort(key=lambda result: (result.kind, result.outcome) != ("numbers", verdicts.INCONCLUSIVE))
    return ranked


def scorecard(results: Sequence[Result]) -> pd.DataFrame:
    """Return every exhibit of the ledger with its verdicts.

    Returns
    -------
    DataFrame
        One row per exhibit, in the ledger's order: ``exhibit``, ``paper``, ``label``, ``title``, ``kind``,
        ``notebook``, ``anchor``, ``needs``; of the strongest evidence ``verdict``, ``outcome``, ``place``
        (where its page shows it: the display of a printed table, else the anchor), ``weight``, ``coverage``
        (in words) and ``evidence`` (each empty if not checked); per kind of evidence the verdict there and
        its coverage (empty if none); and how many ``checks`` there are over all evidence, how many are
        ``failing`` and ``inconclusive``, as they count for verdicts.
    """
    by_exhibit: dict[str, list[Result]] = {}
    for result in results:
        by_exhibit.setdefault(result.exhibit, []).append(result)
    rows = []
    for entry in ledger().values():
        made = _strongest_first(by_exhibit.get(entry.id, []))
        unseen = "not legible in our copy; " if entry.legible == "no" else ""
        row: dict[str, object] = {
            "exhibit": entry.id,
            "paper": PAPERS[entry.paper],
            "label": entry.label,
            "title": entry.title,
            "kind": entry.kind.replace("_", " "),
            "notebook": entry.notebook,
            "anchor": entry.anchor,
            "needs": f"{unseen}would need {entry.would_need}",
            "verdict": verdicts.NOT_CHECKED,
            "outcome": verdicts.NOT_CHECKED,
            **dict.fromkeys(("place", "weight", "coverage", "evidence", *verdicts.EVIDENCE), ""),
        }
        for result in reversed(made):  # the strongest comes last and overwrites the others
            covered = result.coverage.words if result.coverage else ""
            row |= {name: getattr(result, name) for name in ("verdict", "outcome", "weight", "evidence")}
            row["coverage"], row["place"] = covered, entry.anchor
            if is_shown_by_cells(result):
                row["place"] = place_of(result)
            row[result.evidence] = result.verdict + (f" ({covered})" if covered else "")
        outcomes = Counter(statement_outcome(rows) for result in made for rows in group_by_key(result.checks))
        row |= {"checks": outcomes.total(), "failing": outcomes[verdicts.FAILS]}
        rows.append({**row, "inconclusive": outcomes[verdicts.INCONCLUSIVE]})
    return pd.DataFrame(rows)


def disagreeing_checks(checks: pd.DataFrame) -> pd.DataFrame:
    """Return an audit's checks that fail, and the inconclusive ones that only an open convention or our copy
    excuses. ``reason`` is the name of their discrepancy or, if none is known, their exhibit and what they
    compare; ``cause`` is the weight of an error in the paper, else the kind of discrepancy."""
    rows = checks[(checks["outcome"] == verdicts.FAILS) | (checks["discrepancy"] != "")]
    reason = rows["discrepancy"].where(rows["discrepancy"] != "", rows["exhibit"] + ": " + rows["what"])
    cause = rows["weight"].where(rows["kind"] == "paper", rows["kind"])
    return rows.assign(reason=reason, cause=cause)


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


def address_of(row: Any) -> str:
    """Return an exhibit's address: its place on its page, the table itself if it is printed, or the page if
    this build did not rebuild it."""
    return f"{row.notebook}.html{f'#{row.place}' if row.place else ''}"


def link_to(row: Any, up: str) -> str:
    """Return an HTML link to an exhibit's address; ``up`` leads from the linking page to ``notebooks/``."""
    label = str(row.label).removeprefix("unnumbered, ").removeprefix("unnumbered list, ")
    return f'<a href="{up}{address_of(row)}">{escape(label)}</a>'


def not_checked(card: pd.DataFrame, notebook: str) -> str:
    """Return as HTML the exhibits of a page that this build did not rebuild, and what rebuilding needs."""
    rows = card[(card["notebook"] == notebook) & (card["verdict"] == verdicts.NOT_CHECKED)]
    by_needs: dict[str, list[str]] = {}
    for row in rows.itertuples():
        # The exhibit's number, or the beginning of its title if it has none.
        numbered = re.fullmatch(r"(Table|Figure|Equation) \S+", row.label)
        name = row.label if numbered else re.split(r"[:;] | \(", row.title)[0]
        by_needs.setdefault(escape(row.needs), []).append(escape(name))
    items = [f"{joined(names)} ({needs})" for needs, names in by_needs.items()]
    return f'<p class="muted">Not checked: {"; ".join(items)}.</p>' if items else ""


def claims_table(card: pd.DataFrame, paper: str, up: str) -> str:
    """Return a paper's claims with their verdicts, each linked to its place, as an HTML table."""
    rows = list(card[(card["paper"] == paper) & (card["kind"] == "claim")].itertuples())
    frame = pd.DataFrame(
        {
            "claim": [f"{escape(str(row.title))} ({link_to(row, up)})" for row in rows],
            "verdict, and statements checked": [
                verdict_badge(str(row.verdict), str(row.outcome), str(row.coverage), str(row.weight))
                for row in rows
            ],
        }
    )
    return table_html(frame, f"{paper}: its claims in this build", index=False, raw=tuple(frame))


def link(notebook: str, anchor: str, words: str) -> str:
    """Return an HTML link from one notebook's page to an exhibit's place on another's."""
    return f'<a href="{UP}{notebook}.html#{anchor}">{escape(words)}</a>'


def grey_line(words: str) -> str:
    """Return words in HTML, in grey on a line of their own; empty if there are none."""
    return f'<div class="muted">{words}</div>' if words else ""


def changes(old: Path, new: Path) -> str:
    """Return the changes from an old edition to a new one as a table in Markdown: verdicts, outcomes of
    shared checks, findings of the front page. A dash marks what an edition lacks.

    Parameters
    ----------
    old, new : folders of builds, as ``build/open``, or of rendered books, as ``book.zip`` has them.

    Raises
    ------
    ResultError
        If one of the folders has no results.
    """
    before, after = _edition(old), _edition(new)
    lines = ["# What changed since the last edition", "", "| what | before | now |", "| --- | --- | --- |"]
    for name in sorted(before.keys() | after.keys()):
        (was, was_shown), (now, now_shown) = (edition.get(name, ("", "–")) for edition in (before, after))
        # A check of one edition alone is seen in its exhibit's verdict.
        if was != now and (not name[1] or (was and now)):
            cells = (": ".join(filter(None, name)), was_shown, now_shown)
            escaped = (" ".join(plain(cell, 2_000).replace("|", "\\|").split()) for cell in cells)
            lines.append(f"| {' | '.join(escaped)} |")
    return "\n".join([*lines, ""])


def _edition(edition: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """Return an edition's values to compare and how each is shown, by exhibit or finding and by check."""
    compared = {}
    for path in sorted((edition / "results").rglob("*.json")):
        content = json.loads(path.read_bytes())
        if path.name.startswith("headline_"):
            outcome = "borne out" if content["holds"] else "not borne out"
            compared[f"finding {path.stem.removeprefix('headline_')}", ""] = outcome, outcome
        elif "verdict" in content:
            entry = ledger().get(content["exhibit"])
            label = f"{PAPERS[entry.paper]}: {entry.label}, " if entry else ""
            ours = ", ours" if path.stem.endswith(OWN_ENDING) else ""
            name = f"{label}{content['exhibit']} ({content['evidence']}{ours})"
            compared[name, ""] = content["verdict"], content["verdict"]
            for check in content["checks"]:
                shown = f"{check['outcome']} ({check['computed']})"
                compared[name, ", ".join(filter(None, check["key"].values()))] = check["outcome"], shown
    if not compared:
        remedy = "Give the folder of a build, or of a rendered book."
        raise ResultError("no recorded results", display_path(edition), remedy)
    return compared
