"""What notebooks show of the ledger, the papers' words, checks, verdicts and provenance."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import pandas as pd
from IPython.display import HTML

from radeval_lib import origin
from radeval_lib.papers.exhibits import PAPERS, exhibit, of_notebook
from radeval_lib.papers.printed_numbers import quotations
from radeval_lib.study.checks import Check
from radeval_lib.study.recording import Result
from radeval_lib.study.runs import Run
from radeval_lib.tables import table_html

MARKS = {
    "reproduced": "✓",
    "reproduced in part": "◐",
    "differs": "≠",
    "shape only": "∿",
    "not attempted": "○",
}
RESTS_ON = {
    "print": "recomputed from printed numbers",
    "synthetic": "on synthetic data",
    "open": "on public data",
    "credentialed": "on credentialed data",
}
CAUSE_WORDS = {
    "paper": "in the paper",
    "text": "in our text of the paper, not in the paper",
    "definition": "a convention that the paper leaves open",
    "rounding": "the last digit",
}


def standing(result: Result) -> str:
    """The verdict, with ``in part`` where something of the exhibit was not rebuilt."""
    return "reproduced in part" if result.verdict == "reproduced" and result.remaining else result.verdict


def verdict_sentence(result: Result) -> str:
    """One plain sentence: the verdict, what it rests on, how many checks agree, and what is missing."""
    total, bad = len(result.checks), len(result.differing)
    noun = "check" if total == 1 else "checks"
    head = f"{standing(result).capitalize()}, {RESTS_ON[result.evidence]}: "
    if result.verdict == "shape only":
        body = f"{total - bad} of {total} {noun} of its shape {'holds' if total == 1 else 'hold'}"
        body += f"; {result.stand_in}" if result.stand_in else ""
    elif bad:
        body = f"{bad} of {total} {noun} {'differs' if bad == 1 else 'differ'} from what is printed"
    else:
        each = {1: "the one check agrees", 2: "both checks agree"}.get(total, f"all {total} checks agree")
        body = f"{each} with what is printed"
    rest = f" Not rebuilt: {result.remaining}" if result.remaining else ""
    return f"{head}{body}.{rest}"


def verdict_badge(status: str) -> str:
    """A verdict as a small label: a mark, words and a colour."""
    return f'<span class="verdict {status.replace(" ", "-")}">{MARKS[status]} {status}</span>'


def _told(check: Check) -> str:
    return f"{check.name}: printed {check.printed}; follows {check.computed}"


def _differences(result: Result) -> str:
    """The differing checks as a list, those with the same cause together, all but the first three folded."""
    groups: dict[tuple[str, str], list[Check]] = {}
    for check in result.differing:
        groups.setdefault(result.causes.get(check.name, ("", "")), []).append(check)
    items = []
    for (cause, why), checks in groups.items():
        lines = [f"{escape(_told(check))}" for check in checks]
        folded = ""
        if len(lines) > 3:
            more = "<br>".join(lines[3:])
            folded = f"<details><summary>and {len(lines) - 3} more</summary>{more}</details>"
        unknown = "" if result.verdict == "shape only" else "<em>Cause not known.</em>"
        reason = f"<em>{CAUSE_WORDS[cause].capitalize()}:</em> {escape(why)}" if cause else unknown
        items.append(f"<li>{'<br>'.join(lines[:3])}{folded}<br>{reason}</li>")
    return f"<ul>{''.join(items)}</ul>" if items else ""


def verdict_html(result: Result) -> str:
    """The verdict sentence in a box, with each differing check and its cause."""
    entry = exhibit(result.exhibit)
    status = standing(result)
    return (
        f'<div class="verdict-box {status.replace(" ", "-")}">{verdict_badge(status)} '
        f"<strong>{PAPERS[entry.paper]}, {escape(entry.heading)}.</strong> "
        f"{escape(verdict_sentence(result))}{_differences(result)}</div>"
    )


def quote(exhibit_id: str) -> HTML:
    """Show the paper's own words about an exhibit, with where they stand."""
    name = PAPERS[exhibit(exhibit_id).paper]
    items = [
        f"<blockquote>“… {escape(words)} …” <footer>{name}, {escape(where)}</footer></blockquote>"
        for where, words in quotations(exhibit_id)
    ]
    return HTML(f'<div class="quotes">{"".join(items)}</div>')


def said(exhibit_id: str) -> HTML:
    """Show the paper's words about an exhibit, the pieces from one place joined.

    Our texts of two-column papers interleave the columns, so that long quotations come in pieces; an
    ellipsis stands between pieces.
    """
    name = PAPERS[exhibit(exhibit_id).paper]
    places: dict[str, list[str]] = {}
    for where, words in quotations(exhibit_id):
        places.setdefault(where, []).append(words)
    items = [
        f"<blockquote>“… {escape(' … '.join(pieces))} …” "
        f"<footer>{name}, {escape(where)}</footer></blockquote>"
        for where, pieces in places.items()
    ]
    return HTML(f'<div class="quotes">{"".join(items)}</div>')


def unbroken(words: str) -> str:
    """A number with its range on one line; words are left as they are."""
    return words.replace(" ", "\u00a0") if words[:1] in "-.0123456789" and len(words) < 40 else words


def checks_frame(checks: Sequence[Check]) -> pd.DataFrame:
    """Checks as a frame of text: name, printed, follows, agrees (``✓ yes`` or ``≠ no``)."""
    return pd.DataFrame(
        {
            "check": [check.name for check in checks],
            "printed": [unbroken(check.printed) for check in checks],
            "what follows": [unbroken(check.computed) for check in checks],
            "agrees": ["✓ yes" if check.agrees else "≠ no" for check in checks],
        }
    )


def show_checks(checks: Sequence[Check], caption: str = "") -> HTML:
    """Show checks as a table; a range in brackets is what the rounding of the inputs allows."""
    return HTML(table_html(checks_frame(checks), caption, index=False))


def not_attempted(run: Run) -> HTML:
    """Show this notebook's exhibits that the run has not recorded, and what each would need."""
    done = {path.name.rsplit(".", 2)[0] for path in run.results_dir.glob("*.json")}
    rest = [entry for entry in of_notebook(run.notebook) if entry.id not in done]
    if not rest:
        return HTML("<p>Every exhibit of this page was rebuilt at some level of evidence.</p>")
    frame = pd.DataFrame(
        {
            "exhibit": [f"{PAPERS[entry.paper]}, {entry.label}" for entry in rest],
            "what it shows": [entry.title for entry in rest],
            "legible in our text": [entry.legible for entry in rest],
            "would need": [entry.would_need for entry in rest],
        }
    )
    return HTML(table_html(frame, "Not attempted in this build", index=False))


def provenance(run: Run) -> HTML:
    """Show, folded, what this page's numbers come from."""
    facts = origin.environment()
    rows = {
        "notebook": f"notebooks/{run.notebook}.md",
        "profile": run.profile.name,
        "seed": str(run.seed),
        "device": facts["device"],
        "Python": f"{facts['python']}, {facts['platform']}",
        "packages": ", ".join(f"{name} {number}" for name, number in sorted(facts["packages"].items())),
    }
    rows |= {f"data: {name}": f"sha256 {digest}" for name, digest in origin.used_data().items()}
    rows |= {f"model: {role}": told for role, told in origin.used_models().items()}
    frame = pd.DataFrame({"": rows.keys(), "value": rows.values()})
    body = table_html(frame, "Provenance of this page", index=False)
    return HTML(f'<details class="provenance"><summary>How these numbers were made</summary>{body}</details>')
