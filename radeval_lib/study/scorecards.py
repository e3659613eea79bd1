"""The scorecard: what holds up, exhibit by exhibit, from recorded results alone; and what changed between two
editions."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
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
from radeval_lib.study.results import (
    Discrepancy,
    Result,
    by_key,
    headlines,
    statement_outcome,
)
from radeval_lib.tables import table_html
from radeval_lib.text_format import joined

UP = "../"  # the pages that use these stand in notebooks/<folder>/


def _by_weight(results: Sequence[Result]) -> list[Result]:
    """Return results of one exhibit, the one that its verdict rests on first: those that decide something;
    data before numbers before other data; and of printed and released numbers, neither of which outweighs the
    other, the one that is inconsistent, else the one that is inconclusive, since each must hold."""
    silent = {verdicts.INCONCLUSIVE: 1, verdicts.IMPLEMENTED: 2, verdicts.EXPERIMENT: 3, verdicts.EDITED: 4}

    def rank(result: Result) -> tuple[int, int, bool, int]:
        settled = result.kind != "numbers" or result.outcome != verdicts.FAILS
        strength = verdicts.STRENGTH.index(result.evidence)
        return silent.get(result.outcome, 0), verdicts.KINDS.index(result.kind), settled, strength

    made = sorted(results, key=rank)
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
        ``remaining``; per kind of evidence the verdict there and its coverage (empty if none); and how many
        ``checks`` there are over all evidence, how many are ``failing`` and ``inconclusive``, as they count
        for verdicts.
    """
    by_exhibit: dict[str, list[Result]] = {}
    for result in results:
        by_exhibit.setdefault(result.exhibit, []).append(result)
    rows = []
    for entry in ledger().values():
        made = _by_weight(by_exhibit.get(entry.id, []))
        best = made[0] if made else None
        outcomes = Counter(statement_outcome(rows) for result in made for rows in by_key(result.checks))
        levels = {
            result.evidence: result.verdict + (f" ({result.coverage.words})" if result.coverage else "")
            for result in reversed(made)
        }
        rows.append(
            {
                "exhibit": entry.id,
                "paper": PAPERS[entry.paper],
                "label": entry.label,
                "title": entry.title,
                "kind": entry.kind.replace("_", " "),
                "notebook": entry.notebook,
                "anchor": entry.anchor,
                "place": "" if not best else place_of(best) if is_shown_by_cells(best) else entry.anchor,
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
                "inconclusive": outcomes[verdicts.INCONCLUSIVE],
            }
        )
    return pd.DataFrame(rows)


def failing(checks: pd.DataFrame) -> pd.DataFrame:
    """Return an audit's failing checks, including those excused by an open convention or our copy. ``reason``
    is the name of their discrepancy or, if none is known, their exhibit and what they compare."""
    failed = checks[(checks["outcome"] == verdicts.FAILS) | (checks["discrepancy"] != "")]
    unexplained = failed["exhibit"] + ": " + failed["what"]
    return failed.assign(reason=failed["discrepancy"].where(failed["discrepancy"] != "", unexplained))


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
            "what came out": [
                verdict_badge(str(row.verdict), str(row.outcome), str(row.coverage), str(row.weight))
                for row in rows
            ],
        }
    )
    return table_html(
        frame, f"{paper}: its claims in this build", index=False, raw=("claim", "what came out")
    )


def link(notebook: str, anchor: str, words: str) -> str:
    """Return an HTML link from one notebook's page to an exhibit's place on another's."""
    return f'<a href="{UP}{notebook}.html#{anchor}">{escape(words)}</a>'


def muted(words: str) -> str:
    """Return words in HTML, in grey on a line of their own; empty if there are none."""
    return f'<div class="muted">{words}</div>' if words else ""


def changes(old: Path, new: Path) -> str:
    """Return the changes from an old edition to a new one, in Markdown: verdicts, outcomes of shared checks,
    findings. A dash marks what an edition lacks.

    Parameters
    ----------
    old, new : folders of builds, as ``build/open``, or of rendered books, as ``book.zip`` has them.

    Raises
    ------
    ResultError
        If one of the folders has no results.
    """
    lines, before, after = ["# What changed since the last edition"], _edition(old), _edition(new)
    for title, heads in (
        ("Verdicts", ("exhibit", "evidence")),
        ("Outcomes of checks", ("exhibit", "evidence", "check")),
        ("Findings of the front page", ("finding",)),
    ):
        earlier, later = before[title], after[title]
        # A check of one edition alone is seen in its exhibit's verdict.
        names = earlier.keys() & later.keys() if "check" in heads else earlier.keys() | later.keys()
        missing = ("", "–")
        pairs = [(name, earlier.get(name, missing), later.get(name, missing)) for name in sorted(names)]
        rows = [(*name, was[1], now[1]) for name, was, now in pairs if was[0] != now[0]]
        lines += ["", f"## {title}: {len(rows)}", ""]
        if rows:
            table = [(*heads, "before", "now"), ["---"] * (len(heads) + 2), *rows]
            for row in table:
                escaped = (" ".join(plain(cell, 2_000).replace("|", "\\|").split()) for cell in row)
                lines.append(f"| {' | '.join(escaped)} |")
    return "\n".join([*lines, ""])


Compared = dict[tuple[str, ...], tuple[str, str]]


def _edition(edition: Path) -> dict[str, Compared]:
    """Return what is compared of an edition, by the title of its section and its names: the value, and how it
    is shown."""
    folder = edition / "results"  # a rendered book has all in one folder, with printed numbers beside

    def contents(pattern: str) -> dict[str, dict[str, Any]]:
        paths = sorted([*folder.glob(pattern), *folder.glob(f"*/*/{pattern}")])
        return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in paths}

    recorded = contents("*.*.*.json")
    if not recorded:
        remedy = "Give the folder of a build, or of a rendered book."
        raise ResultError("no recorded results", display_path(edition), remedy)
    verdicts_given, outcomes, findings = Compared(), Compared(), Compared()
    for result in (content for content in recorded.values() if "verdict" in content):
        entry, ours = ledger().get(result["exhibit"]), result.get("instrument") == verdicts.OURS
        label = f"{PAPERS[entry.paper]}: {entry.label}, " if entry else ""
        key = (f"{label}{result['exhibit']}", result["evidence"] + (", ours" if ours else ""))
        verdicts_given[key] = (result["verdict"], result["verdict"])
        for check in result["checks"]:
            shown = f"{check['outcome']} ({check['computed']})"
            outcomes[(*key, ", ".join(filter(None, check["key"].values())))] = (check["outcome"], shown)
    handed_over = contents("headline_*.json")
    for name, headline in headlines().items():
        made = handed_over.get(f"headline_{name}.json", {})
        texts = defaultdict(lambda: "…", made.get("texts", {}))  # an older sentence had other numbers
        words = "not borne out" if made else "not computed"
        sentence = headline.text.format_map(texts) if made.get("holds") else words
        findings[(name,)] = (sentence, sentence)
    return {
        "Verdicts": verdicts_given,
        "Outcomes of checks": outcomes,
        "Findings of the front page": findings,
    }
