"""What the study concludes, in sentences and lists computed from recorded results.

Findings are ranked by what they change: a conclusion of the paper, then a result that others rely on, then a
number, then a wording. Which of these a finding changes stands with it in the paper's ``paper.yml``; that is
a judgement, and the only one here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import pandas as pd

from radeval_lib import atomic
from radeval_lib.papers.demonstrations import Contrast
from radeval_lib.papers.exhibits import PAPERS
from radeval_lib.papers.printed_numbers import paper as described
from radeval_lib.study.declarations import ALL
from radeval_lib.study.display import verdict_badge
from radeval_lib.study.runs import Run
from radeval_lib.study.verdicts import CANNOT_TELL, FAILS, HOLDS, IN_PART, NOT_ATTEMPTED, VERDICTS
from radeval_lib.wording import in_words, joined

CHANGES = ("conclusion", "result", "number", "wording")
"""What a finding can change, the most consequential first."""
CHANGES_WORDS = {
    "conclusion": "a conclusion of the paper",
    "result": "a result",
    "number": "a number",
    "wording": "a wording",
}
CONTRASTS_PAGE = "across/paper_versus_code"
_CONTRASTS = "contrasts.json"
_NUMBERED = re.compile(r"(Table|Figure|Equation) \S+")


@dataclass(frozen=True)
class Finding:
    """One explanation of failing checks, wherever in a paper it strikes."""

    paper: str
    explanation: str
    cause: str
    changes: str
    checks: pd.DataFrame


def _changes() -> dict[tuple[str, str], str]:
    """What each known discrepancy changes, by paper and explanation."""
    return {
        (PAPERS[key], " ".join(entry["explanation"].split())): entry["changes"]
        for key in PAPERS
        for entry in described(key).get("discrepancies") or []
    }


def ranked_findings(checks: pd.DataFrame) -> list[Finding]:
    """The findings of an audit, each once, the most consequential first."""
    failing = checks[(checks["outcome"] == FAILS) & ~checks["shape"]]
    known = _changes()
    keys = failing["explanation"].where(failing["explanation"] != "", failing["exhibit"])
    found = []
    for (paper, _), rows in failing.groupby(["paper", keys], sort=False):
        first = rows.iloc[0]
        changes = known.get((str(paper), first["explanation"]), "number")
        found.append(Finding(str(paper), first["explanation"], first["cause"], changes, rows))
    return sorted(found, key=lambda one: (CHANGES.index(one.changes), one.cause != "paper", -len(one.checks)))


def counted_outcomes(outcomes: Iterable[str]) -> str:
    """``three hold, one holds in part and two do not``: outcomes in a clause, none of them zero."""
    listed = list(outcomes)
    verbs = {
        HOLDS: ("holds", "hold"),
        IN_PART: ("holds as far as it was checked", "hold as far as they were checked"),
        FAILS: ("does not hold", "do not hold"),
        CANNOT_TELL: ("cannot be told", "cannot be told"),
    }
    return joined(
        [
            f"{in_words(count)} {verbs[outcome][count > 1]}"
            for outcome in verbs
            if (count := listed.count(outcome))
        ]
    )


def _place(row: Any, up: str) -> str:
    label = str(row.label).removeprefix("unnumbered, ").removeprefix("unnumbered list, ")
    return f'<a href="{up}{row.notebook}.html#{row.anchor}">{escape(label)}</a>'


def paper_conclusion(card: pd.DataFrame, checks: pd.DataFrame, paper: str, up: str = "../") -> str:
    """What a build says of one paper: a few sentences and a list as HTML, computed from its results."""
    rows = card[card["paper"] == paper]
    done = rows[rows["outcome"] != NOT_ATTEMPTED]
    if done.empty:
        return "None of its exhibits was rebuilt in this build."
    firm = done[~done["shape"]]
    told = [f"{len(done)} of {len(rows)} exhibits {'was' if len(done) == 1 else 'were'} rebuilt."]
    if len(firm):
        found = counted_outcomes(firm["outcome"])
        told.append(f"Of those that rest on printed or released numbers, or on data, {found}.")
    if len(done) > len(firm):
        shapes = counted_outcomes(done["outcome"][done["shape"]])
        told.append(f"Of those that rest on stand-ins, which show a shape and no number, {shapes}.")
    ranked = [one for one in ranked_findings(checks) if one.paper == paper]
    anchors = [str(anchor) for one in ranked for anchor in one.checks["anchor"]]
    claims = firm[firm["kind"] == "claim"]
    failing = [row for row in claims.itertuples() if row.outcome == FAILS]
    failing.sort(key=lambda row: anchors.index(row.anchor) if row.anchor in anchors else len(anchors))
    lost = [f"{escape(row.title)} ({_place(row, up)})" for row in failing]
    if lost:
        claim = "One claim does" if len(lost) == 1 else f"{in_words(len(lost)).capitalize()} claims do"
        more = [f"and {in_words(len(lost) - 3)} more"] if len(lost) > 3 else []
        items = ";</li> <li>".join([*lost[:3], *more])
        told.append(f"{claim} not follow as stated: <ul><li>{items}.</li></ul>")
    elif len(claims):
        told.append("No claim that was checked fails.")
    if top := next((one for one in ranked if one.explanation), None):
        where = next(top.checks.itertuples())
        weight = CHANGES_WORDS[top.changes]
        told.append(
            f"The finding that weighs most ({_place(where, up)}) changes {weight}: {escape(top.explanation)}"
        )
    return " ".join(told)


def page_conclusion(card: pd.DataFrame, notebook: str) -> str:
    """The verdicts of a page's exhibits, each with a link to its place on the page, as an HTML list."""
    rows = card[card["notebook"] == notebook]
    items = []
    for verdict in VERDICTS:
        chosen = rows[rows["verdict"] == verdict]
        if len(chosen):
            links = "; ".join(
                f'<a href="#{row.anchor}" title="{escape(row.title)}">{_short(row.label, row.title)}</a>'
                for row in chosen.itertuples()
            )
            items.append(f"<li>{verdict_badge(verdict, chosen['outcome'].iloc[0])} {links}</li>")
    if not items:
        return ""
    return (
        '<nav class="page-verdicts" aria-label="Verdicts on this page">'
        f"<strong>What holds up on this page</strong><ul>{''.join(items)}</ul></nav>"
    )


def _short(label: str, title: str) -> str:
    """What an exhibit is called in a list: its number, or the beginning of its title where it has none."""
    return escape(label if _NUMBERED.fullmatch(label) else re.split(r"[:;] | \(", title)[0])


def conclusions(card: pd.DataFrame, checks: pd.DataFrame) -> str:
    """One item a paper: :func:`paper_conclusion` under its name, as an HTML list."""
    items = [
        f"<li><strong>{escape(paper)}.</strong> {paper_conclusion(card, checks, paper)}</li>"
        for paper in PAPERS.values()
    ]
    return f'<ul class="conclusions">{"".join(items)}</ul>'


def comparisons(checks: pd.DataFrame) -> str:
    """How many comparisons a build made with what papers print, what they came to, and where causes lie."""
    outcomes = list(checks["outcome"][~checks["shape"]])
    if not outcomes:
        return "This build made no comparison with what the papers print."
    made = f"{len(outcomes):,} {'comparison' if len(outcomes) == 1 else 'comparisons'}"
    told = [f"This build made {made} with what the papers print: {counted_outcomes(outcomes)}."]
    if found := ranked_findings(checks):
        causes = [one.cause for one in found]
        words = {
            "paper": "in a paper",
            "definition": "in a convention that a paper leaves open",
            "rounding": "in a last digit",
            "text": "in our text copy of a paper",
        }
        lies = [f"{where} for {in_words(causes.count(one))}" for one, where in words.items() if one in causes]
        unknown = f"is not known for {in_words(causes.count(''))}" if "" in causes else ""
        findings = f"{in_words(len(found))} {'finding' if len(found) == 1 else 'findings'}"
        told.append(
            f"Those that fail come down to {findings}, as one cause often makes many comparisons fail."
        )
        where = "; it ".join(filter(None, [f"lies {joined(lies)}" if lies else "", unknown]))
        told.append(f"The cause {where}.")
    return " ".join(told)


def keep_contrasts(run: Run, contrasts: Sequence[Contrast]) -> None:
    """Keep the contrasts between papers and code for pages that read every result."""
    text = json.dumps([asdict(one) for one in contrasts], indent=1, sort_keys=True, ensure_ascii=False)
    atomic.write_text(run.results_dir / _CONTRASTS, text + "\n")


def recorded_contrasts(run: Run) -> list[Contrast]:
    """The contrasts that :func:`keep_contrasts` kept; none where that page was not built.

    Raises
    ------
    NotebookError
        Where the notebook does not declare ``results: [all]``.
    """
    run.require_declared("results", ALL)
    path = run.output_dir / "results" / CONTRASTS_PAGE / _CONTRASTS
    if not path.is_file():
        return []
    return [Contrast(**fields) for fields in json.loads(path.read_text(encoding="utf-8"))]


def largest_gaps(contrasts: Sequence[Contrast], most: int = 6) -> list[Contrast]:
    """The contrasts that change most, as a share of the range of what they change; one a difference."""
    largest: dict[tuple[str, str], Contrast] = {}
    for one in contrasts:
        held = largest.get((one.whose, one.difference))
        if not math.isnan(one.share) and (held is None or one.share > held.share):
            largest[one.whose, one.difference] = one
    return sorted(largest.values(), key=lambda one: -one.share)[:most]


def gaps_list(contrasts: Sequence[Contrast]) -> str:
    """The largest gaps between papers and released code as an ordered HTML list."""
    items = [
        f"<li><strong>{escape(one.whose)}: {escape(one.difference)}.</strong> "
        f"{escape(one.quantity[:1].upper() + one.quantity[1:])}: {one.shown(one.stated)} "
        f"{escape(one.basis)}, {one.shown(one.released)} by the code, {one.share:.0%} of the range.</li>"
        for one in largest_gaps(contrasts)
    ]
    if not items:
        return "<p>This build does not have the page that compares papers with code.</p>"
    return f'<ol class="gaps">{"".join(items)}</ol>'
