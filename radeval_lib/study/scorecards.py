"""The scorecard of all exhibits and the audit of all checks, from stored results, and the changes between two
editions of the book."""

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

from radeval_lib.errors import ResultError, to_line
from radeval_lib.papers.exhibits import PAPERS, ledger
from radeval_lib.paths import display_path
from radeval_lib.study import verdicts
from radeval_lib.study.exhibit_html import html_id_of, is_shown_by_cells, printed_words, verdict_badge
from radeval_lib.study.results import OWN_SUFFIX, Discrepancy, Result, group_by_key, statement_outcome
from radeval_lib.tables import table_html
from radeval_lib.text_format import joined

UP = "../"
"""The path from a page in ``notebooks/<folder>/`` to ``notebooks/``, for links."""


def _sort_by_strength(results: Sequence[Result]) -> list[Result]:
    """Return the results of one exhibit, beginning with the one whose verdict the exhibit gets.

    Results that hold or fail come first; among them, results on the paper's data precede those on printed or
    released numbers, and these precede results on other data. Printed and released numbers must both hold:
    of the two, an inconsistent result comes first, or else an inconclusive one.
    """
    # Results that hold or fail have rank 0.
    order = {verdicts.INCONCLUSIVE: 1, verdicts.IMPLEMENTED: 2, verdicts.EXPERIMENT: 3, verdicts.EDITED: 4}

    def rank(result: Result) -> tuple[int, int, bool, int]:
        not_inconsistent = result.kind != "numbers" or result.outcome != verdicts.FAILS
        strength = verdicts.STRENGTH.index(result.evidence)
        return order.get(result.outcome, 0), verdicts.KINDS.index(result.kind), not_inconsistent, strength

    ranked = sorted(results, key=rank)
    if ranked and ranked[0].kind == "numbers" and ranked[0].outcome == verdicts.HOLDS:
        ranked.sort(key=lambda result: (result.kind, result.outcome) != ("numbers", verdicts.INCONCLUSIVE))
    return ranked


def scorecard(results: Sequence[Result]) -> pd.DataFrame:
    """Return one row per exhibit of the ledger with its verdicts, in the ledger's order.

    Returns
    -------
    DataFrame
        ``exhibit`` (its id), ``paper``, ``label``, ``title``, ``kind``, ``notebook``, ``anchor`` and
        ``requirement`` (what a check would need). The result that decides the verdict gives ``verdict`` and
        ``outcome`` (both ``not checked`` without a result) and ``html_id`` (on its page), ``severity``,
        ``coverage`` (in words), ``first_failure`` (the first failing statement and the computed result) and
        ``evidence`` (all empty without a result). Each kind of evidence has a column with the verdict and
        coverage on it (empty without a result). ``n_checks``, ``n_failing`` and ``n_inconclusive`` are the
        numbers of all, failing and inconclusive checks of all results; readings of one statement count once.
    """
    by_exhibit: dict[str, list[Result]] = {}
    for result in results:
        by_exhibit.setdefault(result.exhibit, []).append(result)
    rows, columns = [], ("html_id", "severity", "coverage", "first_failure", "evidence", *verdicts.EVIDENCE)
    for entry in ledger().values():
        ranked = _sort_by_strength(by_exhibit.get(entry.id, []))
        legibility = "not legible in our copy; " if entry.legible == "no" else ""
        row: dict[str, object] = {
            "exhibit": entry.id,
            "paper": PAPERS[entry.paper],
            "label": entry.label,
            "title": entry.title,
            "kind": entry.kind.replace("_", " "),
            "notebook": entry.notebook,
            "anchor": entry.anchor,
            "requirement": f"{legibility}would need {entry.would_need}",
            **dict.fromkeys(("verdict", "outcome"), verdicts.NOT_CHECKED),
            **dict.fromkeys(columns, ""),
        }
        for result in reversed(ranked):  # the first of the ranking comes last and overwrites the others
            coverage = result.coverage.words if result.coverage else ""
            row |= {name: getattr(result, name) for name in ("verdict", "outcome", "severity", "evidence")}
            row |= {"coverage": coverage, "html_id": entry.anchor, "first_failure": ""}
            by_key = group_by_key(result.checks)
            failing = [checks[0] for checks in by_key if statement_outcome(checks) == verdicts.FAILS]
            for check in failing[:1]:
                subject = "" if check.stated is None else f"{check.key}: "
                row["first_failure"] = f"{subject}{printed_words(check, entry.id)}, found {check.computed}"
            if is_shown_by_cells(result):
                row["html_id"] = html_id_of(result)
            row[result.evidence] = result.verdict + (f" ({coverage})" if coverage else "")
        outcomes = Counter(
            statement_outcome(readings) for result in ranked for readings in group_by_key(result.checks)
        )
        row |= {"n_checks": outcomes.total(), "n_failing": outcomes[verdicts.FAILS]}
        rows.append({**row, "n_inconclusive": outcomes[verdicts.INCONCLUSIVE]})
    return pd.DataFrame(rows)


def disagreeing_checks(checks: pd.DataFrame) -> pd.DataFrame:
    """Return the checks whose printed and computed results disagree, as rows of an audit (:func:`audit`).

    These are the checks that fail, and those that are inconclusive only because of an open convention or an
    error in our copy of the paper. Two columns are added: ``reason``, the name of the discrepancy or, if none
    is known, the exhibit and what is compared; and ``cause``, the severity of an error in the paper, or else
    the kind of discrepancy, empty if none is known.
    """
    rows = checks[(checks["outcome"] == verdicts.FAILS) | (checks["discrepancy"] != "")]
    reason = rows["discrepancy"].where(rows["discrepancy"] != "", rows["exhibit"] + ": " + rows["what"])
    cause = rows["severity"].where(rows["kind"] == "paper", rows["kind"])
    return rows.assign(reason=reason, cause=cause)


def audit(results: Sequence[Result]) -> pd.DataFrame:
    """Return one row per check of every result, in the order of ``results``.

    Returns
    -------
    DataFrame
        ``exhibit``, ``paper``, ``label``, ``notebook``, ``anchor``, ``evidence``, ``check`` (its name),
        ``what`` (what it compares), ``printed``, ``computed``, ``outcome``, and the ``discrepancy`` that
        explains the outcome (its name), with ``kind``, ``explanation``, ``severity`` and ``reply``. Without a
        discrepancy, the first three are empty, ``severity`` is ``number`` and ``reply`` is ``not asked``.
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
    columns = "exhibit paper label notebook anchor evidence check what printed computed outcome discrepancy"
    return pd.DataFrame(rows, columns=[*columns.split(), "kind", "explanation", "severity", "reply"])


def url_of(row: Any) -> str:
    """Return the URL of an exhibit relative to ``notebooks/``: its page and the anchor of its result, if any.

    ``row`` is a row of :func:`scorecard`.
    """
    return f"{row.notebook}.html{f'#{row.html_id}' if row.html_id else ''}"


def link_to(row: Any, to_notebooks: str) -> str:
    """Return an HTML link to an exhibit, with the exhibit's label as the text.

    ``row`` is a row of :func:`scorecard`; ``to_notebooks`` is the path from the linking page to
    ``notebooks/``.
    """
    label = str(row.label).removeprefix("unnumbered, ").removeprefix("unnumbered list, ")
    return f'<a href="{to_notebooks}{url_of(row)}">{escape(label)}</a>'


def unchecked_paragraph(card: pd.DataFrame, notebook: str) -> str:
    """Return an HTML paragraph that lists a page's unchecked exhibits with their requirements; an empty
    string if all were checked."""
    rows = card[(card["notebook"] == notebook) & (card["verdict"] == verdicts.NOT_CHECKED)]
    by_requirement: dict[str, list[str]] = {}
    for row in rows.itertuples():
        # An exhibit without a number is named by the beginning of its title.
        numbered = re.fullmatch(r"(Table|Figure|Equation) \S+", row.label)
        name = row.label if numbered else f"“{re.split(r'[:;] | [(]', row.title)[0]}”"
        by_requirement.setdefault(escape(row.requirement), []).append(escape(name))
    items = [f"{joined(names)} ({requirement})" for requirement, names in by_requirement.items()]
    return f'<p class="muted">Not checked: {"; ".join(items)}.</p>' if items else ""


def claims_table(card: pd.DataFrame, paper: str, to_notebooks: str) -> str:
    """Return an HTML table of a paper's claims, each with a link, its verdict and first failing statement.

    A claim that was not checked is shown without the list of its unchecked parts. ``card`` comes from
    :func:`scorecard`; ``to_notebooks`` is the path from the linking page to ``notebooks/``.
    """
    rows = []
    for row in card[(card["paper"] == paper) & (card["kind"] == "claim")].itertuples():
        coverage = re.sub(" statements?", "", str(row.coverage))  # the header names the unit
        badge = verdict_badge(str(row.verdict), str(row.outcome), coverage, str(row.severity))
        cut_at = "; not checked: " if row.verdict == verdicts.NOT_CHECKED else "\n"
        claim = f"{escape(str(row.title).split(cut_at)[0])} ({link_to(row, to_notebooks)})"
        failure = escape(f"fails: {row.first_failure}") if row.first_failure else ""
        rows.append((claim, badge + grey_line(failure)))
    frame = pd.DataFrame(rows, columns=["claim", "verdict, and statements decided"])
    return table_html(frame, f"{paper}: its claims in this build", index=False, raw=tuple(frame))


def link(notebook: str, anchor: str, words: str) -> str:
    """Return an HTML link from a page to an anchor on another notebook's page, with ``words`` as text."""
    return f'<a href="{UP}{notebook}.html#{anchor}">{escape(words)}</a>'


def grey_line(words: str) -> str:
    """Return an HTML element that shows ``words`` in grey on a separate line; empty if ``words`` is.

    ``words`` may contain HTML.
    """
    return f'<div class="muted">{words}</div>' if words else ""


def compare_editions(old: Path, new: Path) -> str:
    """Return the changes from an old edition to a new one as a Markdown table.

    It lists verdicts and findings that differ, and checks of both editions whose outcomes differ. A dash
    marks a verdict or finding that an edition lacks.

    Parameters
    ----------
    old, new : folders of builds, such as ``build/open``, or of rendered books, as in ``book.zip``.

    Raises
    ------
    ResultError
        If one of the folders has no results.
    """
    editions = _read_edition(old), _read_edition(new)
    lines = ["# What changed since the last edition", "", "| what | before | now |", "| --- | --- | --- |"]
    for name in sorted(editions[0].keys() | editions[1].keys()):
        (was, was_words), (now, now_words) = (outcomes.get(name, ("", "–")) for outcomes in editions)
        # A check that only one edition has is left out; the verdict of its exhibit shows its effect.
        if was != now and (not name[1] or (was and now)):
            cells = (": ".join(filter(None, name)), was_words, now_words)
            escaped = (" ".join(to_line(cell, 2_000).replace("|", "\\|").split()) for cell in cells)
            lines.append(f"| {' | '.join(escaped)} |")
    return "\n".join([*lines, ""])


def _read_edition(edition: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the outcome of each exhibit, finding and check of an edition, and its words in the table.

    Keys are pairs (exhibit or finding, check), with an empty check for the exhibit or finding itself. Values
    are pairs (verdict or outcome, words). Raises ResultError if there are no results.
    """
    outcomes = {}
    for path in sorted((edition / "results").rglob("*.json")):
        content = json.loads(path.read_bytes())
        if path.name.startswith("headline_"):
            outcome = "borne out" if content["holds"] else "not borne out"
            outcomes[f"finding {path.stem.removeprefix('headline_')}", ""] = outcome, outcome
        elif "verdict" in content:
            entry = ledger().get(content["exhibit"])
            label = f"{PAPERS[entry.paper]}: {entry.label}, " if entry else ""
            ours = ", ours" if path.stem.endswith(OWN_SUFFIX) else ""
            name = f"{label}{content['exhibit']} ({content['evidence']}{ours})"
            outcomes[name, ""] = content["verdict"], content["verdict"]
            for check in content["checks"]:
                words = f"{check['outcome']} ({check['computed']})"
                outcomes[name, ", ".join(filter(None, check["key"].values()))] = check["outcome"], words
    if not outcomes:
        remedy = "Pass the folder of a build, such as build/open, or of a rendered book."
        raise ResultError("this folder has no results", display_path(edition), remedy)
    return outcomes
