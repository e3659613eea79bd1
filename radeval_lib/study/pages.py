"""Parts of the pages that show every exhibit at once: the tile figure, index, audit and findings."""

from __future__ import annotations

from html import escape
from typing import Any

import pandas as pd
from IPython.display import HTML

from radeval_lib.papers.exhibits import PAPERS
from radeval_lib.study.conclusions import CHANGES_WORDS, Finding, ranked_findings
from radeval_lib.study.display import css_class, marked, unbroken, verdict_badge
from radeval_lib.study.verdicts import (
    CANNOT_TELL,
    EVIDENCE,
    FAILS,
    HOLDS,
    IN_PART,
    MARKS,
    NOT_ATTEMPTED,
    OUTCOMES,
    RESTS_ON,
    STRENGTH,
    VERDICTS,
    outcome_of,
)
from radeval_lib.tables import show, table_html
from radeval_lib.wording import in_words, joined

# As verdicts.RESTS_ON has it of one paper, of several.
_RESTS_ON = RESTS_ON | {
    "print": "from the numbers that the papers print",
    "released": "from numbers in the authors' repositories",
}
_UP = "../"  # the pages that use these stand in notebooks/<folder>/


def link(notebook: str, anchor: str, words: str) -> str:
    """An HTML link from one notebook's page to an exhibit's place on another's."""
    return f'<a href="{_UP}{notebook}.html#{anchor}">{escape(words)}</a>'


def _tile(row: Any) -> str:
    evidence = f", {RESTS_ON[row.evidence]}" if row.evidence else ""
    told = f"{row.label}: {row.title} ({row.verdict}{evidence})"
    return (
        f'<li><a class="tile {css_class(row.outcome)}" href="{_UP}{row.notebook}.html#{row.anchor}" '
        f'title="{escape(told)}" aria-label="{escape(row.paper)}, {escape(told)}">'
        f"{MARKS[row.outcome]}</a></li>"
    )


def _tile_groups(rows: pd.DataFrame) -> str:
    """The tiles of one paper, those with one verdict together behind its words."""
    groups = []
    for verdict in VERDICTS:
        chosen = rows[rows["verdict"] == verdict]
        if len(chosen):
            items = "".join(_tile(row) for row in chosen.itertuples())
            groups.append(f'<div class="tile-group"><span>{verdict}</span><ul>{items}</ul></div>')
    return "".join(groups)


def tiles(card: pd.DataFrame) -> HTML:
    """The whole study as one figure: a tile an exhibit, by paper and verdict, each a link to its place.

    The verdict stands in words before its tiles, so that no legend is needed.
    """
    rows = [
        f'<div class="tile-row"><span>{escape(paper)}</span>'
        f"<div>{_tile_groups(card[card['paper'] == paper])}</div></div>"
        for paper in PAPERS.values()
    ]
    label = "Every exhibit by paper and verdict"
    return HTML(f'<figure class="tiles" role="group" aria-label="{label}">{"".join(rows)}</figure>')


def _counted_verdicts(outcomes: pd.Series, *, shape: bool, numbers: bool) -> str:
    """``two are consistent and one cannot be told``, ``the shape holds for two and fails for one``."""
    counts = outcomes.value_counts()
    if shape:
        verbs = {HOLDS: "holds", IN_PART: "holds in part", FAILS: "fails", CANNOT_TELL: "cannot be told"}
        found = [f"{verbs[one]} for {in_words(counts[one])}" for one in verbs if one in counts]
        return f"the shape {joined(found)}"
    words = {
        HOLDS: ("{be} consistent" if numbers else "{be} reproduced"),
        IN_PART: ("{be} consistent in part" if numbers else "{be} reproduced in part"),
        FAILS: ("{be} inconsistent" if numbers else "differ{s}"),
        CANNOT_TELL: "cannot be told",
    }
    found = []
    for one, verb in words.items():
        if one in counts:
            single = counts[one] == 1
            told = verb.format(be="is" if single else "are", s="s" if single else "")
            found.append(f"{in_words(counts[one])} {told}")
    return joined(found)


def evidence_sentences(card: pd.DataFrame) -> str:
    """How many exhibits hold, by what they rest on: one sentence a kind of evidence, the strongest first."""
    sentences = []
    for shape, evidence in [(shape, level) for shape in (False, True) for level in STRENGTH]:
        chosen = card[(card["evidence"] == evidence) & (card["shape"] == shape)]
        if chosen.empty:
            continue
        others = " with other data or models than the paper's" if shape and evidence != "synthetic" else ""
        counted = _counted_verdicts(chosen["outcome"], shape=shape, numbers=evidence in ("print", "released"))
        sentences.append(f"{_RESTS_ON[evidence].capitalize()}{others}, {counted}.")
    if missing := int((card["outcome"] == NOT_ATTEMPTED).sum()):
        sentences.append(
            f"{in_words(missing).capitalize()} {'was' if missing == 1 else 'were'} not attempted."
        )
    return " ".join(sentences)


def by_evidence(card: pd.DataFrame) -> pd.DataFrame:
    """Exhibits by paper and evidence (rows) and outcome there (columns); evidence of none is left out."""
    long = card.melt(
        id_vars=["paper"], value_vars=list(EVIDENCE), var_name="evidence", value_name="verdict_there"
    )
    long = long[long["verdict_there"] != ""]
    long = long.assign(outcome=long["verdict_there"].map(outcome_of))
    counted = long.groupby(["paper", "evidence", "outcome"]).size().unstack(fill_value=0)
    order = pd.MultiIndex.from_product([PAPERS.values(), EVIDENCE], names=["paper", "evidence"])
    frame = counted.reindex(columns=list(OUTCOMES[:-1]), fill_value=0).reindex(order)
    return frame.dropna(how="all").astype(int).rename_axis(columns=None)


def _muted(words: str) -> str:
    return f'<div class="muted">{words}</div>' if words else ""


def _verdict_cell(row: Any) -> str:
    levels = [f"{level}: {getattr(row, level)}" for level in EVIDENCE if getattr(row, level)]
    failing = f"{row.failing} {'fails' if row.failing == 1 else 'fail'}" if row.failing else ""
    parts = [failing, f"{row.untold} cannot tell" if row.untold else ""]
    told = " and ".join(part for part in parts if part)
    counted = f"{row.checks} {'check' if row.checks == 1 else 'checks'}{f', of which {told}' if told else ''}"
    return verdict_badge(row.verdict, row.outcome) + _muted(
        "<br>".join([*levels, counted if row.checks else ""])
    )


def _what_cell(row: Any) -> str:
    if row.evidence:
        rest = f"Not checked: {escape(row.remaining)}" if row.remaining else ""
    else:
        rest = f"Would need: {escape(row.needs)}"
    return escape(row.title) + _muted(rest)


def index_table(card: pd.DataFrame, paper: str) -> HTML:
    """One paper's exhibits, each on its own row with its verdict on each evidence, linked to its place."""
    rows = list(card[card["paper"] == paper].itertuples())
    frame = pd.DataFrame(
        {
            "exhibit": [link(r.notebook, r.anchor, r.label) + _muted(r.kind) for r in rows],
            "what it shows": [_what_cell(r) for r in rows],
            "verdict": [_verdict_cell(r) for r in rows],
        }
    )
    return HTML(table_html(frame, f"{paper}: {len(frame)} exhibits", index=False, raw=tuple(frame.columns)))


def audit_table(checks: pd.DataFrame, caption: str) -> HTML:
    """Checks on rows of their own: what was printed, what follows, and whether it holds."""
    frame = pd.DataFrame(
        {
            "exhibit": [link(r.notebook, r.anchor, r.label) for r in checks.itertuples()],
            "check": [
                r.check + ("" if r.evidence == "print" else f" ({r.evidence})") for r in checks.itertuples()
            ],
            "printed": checks["printed"].map(unbroken),
            "what follows": checks["follows"].map(unbroken),
            "outcome": checks["outcome"].map(marked),
        }
    )
    return HTML(table_html(frame, caption, index=False, raw=("exhibit",)))


def _finding(finding: Finding) -> str:
    """One explanation with its exhibits and the checks that it explains, all but the first folded."""
    rows = list(finding.checks.itertuples())
    told = [f"{escape(r.check)}: printed {escape(r.printed)}, follows {escape(r.follows)}" for r in rows]
    places = {r.exhibit: link(r.notebook, r.anchor, r.label.removeprefix("unnumbered, ")) for r in rows}
    rest = "<br>".join(told[1:])
    more = f"<details><summary>{len(told) - 1} more like it</summary>{rest}</details>" if rest else ""
    why = escape(finding.explanation) or "Cause not known."
    weight = f"Changes {CHANGES_WORDS[finding.changes]}. " if finding.explanation else ""
    return (
        f"<li><strong>{joined(list(places.values()))}.</strong> {why}"
        f'<div class="muted">{weight}{told[0]}{more}</div></li>'
    )


def findings(checks: pd.DataFrame, cause: str, *, folded: bool = False) -> HTML:
    """The findings with one cause, by paper, those that change most first: the explanation, then the numbers.

    Parameters
    ----------
    checks : see :func:`radeval_lib.study.audit`.
    cause : one of the causes, or empty for those without a known one.
    folded : whether each paper's list opens on a click.
    """
    chosen = [finding for finding in ranked_findings(checks) if finding.cause == cause]
    blocks = []
    for paper in PAPERS.values():
        items = [_finding(finding) for finding in chosen if finding.paper == paper]
        if not items:
            continue
        listed = f'<ul class="findings">{"".join(items)}</ul>'
        title = f"{escape(paper)}: {len(items)} {'finding' if len(items) == 1 else 'findings'}"
        blocks.append(
            f"<details><summary><strong>{title}</strong></summary>{listed}</details>"
            if folded
            else f"<p><strong>{title}</strong></p>{listed}"
        )
    return HTML("".join(blocks) or "<p>None in this build.</p>")


def totals_table(counts: pd.DataFrame) -> HTML:
    """Exhibits by paper and verdict."""
    return show(
        counts.rename_axis(index=None, columns=None),
        "Exhibits by paper and verdict (on the strongest evidence)",
    )
