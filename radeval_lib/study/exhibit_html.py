"""A result as a page shows it: its verdict in a line, what fails and why, its table, and all else folded."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from string import ascii_lowercase

import pandas as pd

from radeval_lib import registry
from radeval_lib.papers.exhibits import PAPERS, Exhibit, description, exhibit, of_notebook
from radeval_lib.papers.printed_numbers import (
    AS_PRINTED,
    cells_of,
    has_numbers,
    layout_of,
    origin_of,
    printed,
    quotations,
    transcribed,
    unit_of,
    wide,
)
from radeval_lib.study import verdicts
from radeval_lib.study.checks import Check
from radeval_lib.study.profiles import command
from radeval_lib.study.results import Result, by_key, statement_outcome
from radeval_lib.study.superiority import superiority_words
from radeval_lib.tables import table_html
from radeval_lib.text_format import in_words, joined, long_date

MOST_CHECKS = 1
"""The most that a page shows of an exhibit, folded; the audit has all."""
MOST_LISTED = 2
"""The most failing checks with one discrepancy that a page names."""
MOST_FILES = 4
"""The most data files of a result that a page names; its JSON has all."""
RECORD = "Details"
"""What the folded line beside every exhibit is called."""
DISCREPANCY_WORDS = {
    "paper": "paper",
    "text": "in our text of the paper, not in the paper",
    "convention": "an open convention",
    "rounding": "the last digit",
    "": "not known",
}
"""Kinds of discrepancy as a reader sees them; no kind is that of what nothing explains."""


def rests_on(result: Result) -> str:
    """Return the basis of a result, in words; of stored scores, with the day on which they were made."""
    words = verdicts.RESTS_ON[result.evidence]
    if result.evidence != "recorded":
        return words
    recorded = registry.module("radeval_lib.data.recorded")
    read = {Path(name).name for name in result.provenance.get("data", {})}
    days = [
        recorded.load(name).scored_on
        for name in recorded.names()
        if read & {path.name for path in recorded.files(name)}
    ]
    return words.replace("before", f"on {long_date(max(days))}") if days else words


def verdict_sentence(result: Result) -> str:
    """Return one plain sentence: what the checks come to, and what they rest on."""
    entry = exhibit(result.exhibit)
    if result.kind == verdicts.IMPLEMENTED:
        return "The library has it, and a test checks it."
    if result.kind == verdicts.EXPERIMENT:
        if entry.legible == "full":
            return f"No verdict: that needs {entry.would_need}."
        part = "it is not" if entry.legible == "no" else "only part of it is"
        return f"No verdict: {part} legible in our copy of the paper; it would need {entry.would_need}."
    if result.outcome == verdicts.EDITED:
        return "No verdict: the cells that ran are not those of the notebook's source."
    outcome_words = "; ".join(filter(None, (_found(result), superiority_words(result.checks))))
    used = f" Used here: {result.stand_in}." if result.stand_in else ""
    if entry.kind == "figure" and entry.legible != "full":
        used += " The figure itself was not seen: inputs of a notebook, pixels or a sentence were checked."
    rests = rests_on(result)
    return f"{rests[0].upper()}{rests[1:]}, {outcome_words}.{used}"


def _found(result: Result) -> str:
    """Return how many checks hold, fail or are inconclusive, as they count for the verdict."""
    counts = Counter(map(statement_outcome, by_key(result.checks)))
    words = {
        verdicts.HOLDS: ("holds", "hold"),
        verdicts.FAILS: ("fails", "fail"),
        verdicts.INCONCLUSIVE: ("is inconclusive", "are inconclusive"),
    }
    if counts.total() == 1:
        return f"the check {words[next(iter(counts))][0]}"
    each = [f"{counts[key]} {forms[counts[key] > 1]}" for key, forms in words.items() if counts[key]]
    return f"of {counts.total()} checks {joined(each)}"


def as_printed(words: str) -> str:
    """Return a quotation as HTML, with single marks around what it quotes; our copies mark emphasis by ``*``,
    formulas by ``$`` and indices by ``_{}``."""
    single = re.sub(r'["“]\s*([^"“”]+?)\s*["”]', r"‘\1’", words)
    shown = escape(single).replace(r"\rightarrow", "→")
    shown = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", shown)  # **best**
    shown = re.sub(r"\*(\S.*?)\*", r"<em>\1</em>", shown)  # *only*
    shown = re.sub(r"\$([^$\\]+)\$", r"\1", shown)  # $n = 200$
    return re.sub(r"_\{([\w,]+)\}", r"<sub>\1</sub>", shown)  # W_{i,j}


def outcome_class(outcome: str, weight: str = "") -> str:
    """Return the CSS classes of an outcome, e.g. ``not-checked``: what fails by a slip alone is not coloured
    as an error of numbers."""
    return outcome.replace(" ", "-") + (" slip" if weight == "slip" else "")


def verdict_badge(verdict: str, outcome: str, coverage: str = "", weight: str = "") -> str:
    """Return a verdict as a small label, a mark, words and a colour, and beside it how much was checked."""
    label = (
        f'<span class="verdict {outcome_class(outcome, weight)}">{verdicts.MARKS[outcome]} {verdict}</span>'
    )
    return f'{label} <span class="coverage">{escape(coverage)}</span>' if coverage else label


def in_quotes(statement: str, exhibit_id: str) -> str:
    """Return a statement of several words in quotation marks, if its paper's ledger quotes it, piece by
    piece between ellipses; else marked as our words. A number or a name is returned as it is."""
    if sum(word[:1].isalpha() for word in statement.split()) < 2:
        return statement
    quoted = _quoted(exhibit_id.partition(".")[0])
    is_verbatim = all(f" {_plain(part)} " in quoted for part in statement.split("…"))
    return f"“{statement}”" if is_verbatim else f"{statement} (our words)"


@cache
def _quoted(key: str) -> str:
    """Return all that a paper's ledger quotes from it."""
    quotes = (words for exhibit_id in description(key)["prose"] for _, words in quotations(exhibit_id))
    return "".join(f" {_plain(words)} \n" for words in quotes)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def _listed(result: Result, checks: Sequence[Check], reason: str) -> str:
    """Return the first checks with the same reason as an item of a list, and how many more there are."""
    lines = [
        f"{escape(check.name)}: printed {escape(printed_words(check, result.exhibit))}; "
        f"found {escape(check.computed)}"
        for check in checks[:MOST_LISTED]
    ]
    if len(checks) > MOST_LISTED:
        lines[-1] += f", and {in_words(len(checks) - MOST_LISTED)} more"
    return f"<li>{'<br>'.join([*lines, reason] if reason else lines)}</li>"


def _failing(result: Result) -> dict[str, list[Check]]:
    """Return the checks that fail, by the name of their discrepancy."""
    groups: dict[str, list[Check]] = {}
    for check in result.with_outcome(verdicts.FAILS):
        groups.setdefault(check.discrepancy, []).append(check)
    return groups


def _differences(result: Result, letters: Mapping[str, str]) -> str:
    """Return the checks that fail, by discrepancy; with ``letters``, which its cells have, if it has any."""
    unknown = "" if result.kind == "other data" else "<em>Cause not known.</em>"
    items = []
    for name, checks in _failing(result).items():
        entry = result.discrepancies.get(name)
        kind = f"<em>{DISCREPANCY_WORDS[entry.kind].capitalize()}:</em> " if entry else ""
        items.append(_listed(result, checks, f"{kind}{escape(entry.explanation)}" if entry else unknown))
    opening, closing = ('<ol type="a">', "</ol>") if letters else ("<ul>", "</ul>")
    return f"{opening}{''.join(items)}{closing}" if items else ""


def exhibit_html(result: Result, *, folded: bool = False) -> str:
    """Return a result as a page shows it: the verdict in a line and failing checks with their discrepancies;
    the table as printed and recomputed, if there is one; all else folded. ``folded``: all but verdict and
    name is folded."""
    entry = exhibit(result.exhibit)
    covered = result.coverage.words if result.coverage else ""
    head = verdict_badge(result.verdict, result.outcome, covered, result.weight)
    head += f" <strong>{paper_prefix(entry)}{escape(entry.heading)}.</strong> "
    by_cells = is_shown_by_cells(result)
    letters = dict(zip(_failing(result) if by_cells else (), ascii_lowercase, strict=False))
    cells = cell_by_cell(result, letters, opened=folded) if by_cells else ""
    body = f"{escape(verdict_sentence(result))}{_differences(result, letters)}{cells}"
    attributes = f'class="verdict-box {outcome_class(result.outcome, result.weight)}" id="{place_of(result)}"'
    if folded:
        return f"<details {attributes}><summary>{head}</summary>{body}{_record(result)}</details>"
    record = f"<details><summary>{RECORD}</summary>{_record(result)}</details>"
    return f"<div {attributes}>{head}{body}{record}</div>"


def _record(result: Result) -> str:
    """Return the folded part of every exhibit: checks, numbers to download, the command that makes them, the
    data with checksums, the sample, the seed, and, which the book adds, how to cite it."""
    made, experiment = result.provenance, result.kind == verdicts.EXPERIMENT
    entry = exhibit(result.exhibit)
    rows: dict[str, str] = {}
    if quotes := description(entry.paper)["prose"].get(entry.id):
        words = [
            f"“{as_printed(' '.join(quoted['quote'].split()))}” {escape(quoted['where'])}"
            for quoted in quotes
        ]
        rows["The paper’s words"] = "<br>".join(words)
    if result.checks:
        rows["Checks"] = _side_by_side(result)
    if experiment:
        rows["Made"] = f"{rests_on(result)}, with {escape(result.stand_in)}"
    if result.remaining:
        rows["Left open" if experiment else "Not checked"] = as_printed(result.remaining)
    if made_here := entry.implemented if result.kind == verdicts.IMPLEMENTED else None:
        rows["In the library"] = "<br>".join(f"<code>{escape(name)}</code>" for name in made_here.functions)
        rows["Test"] = f"<code>{escape(made_here.test)}</code>"
    rows["Numbers"] = _files(result)
    with_data = " (needs <code>RADEVAL_DATA_ROOT</code>)"
    by_data = with_data if result.evidence in ("open", "credentialed") else ""
    rows["Command"] = f"<code>{command(result.notebook, made['profile']['name'])}</code>{by_data}"
    rows["Data"] = _data_files(made["data"])
    if result.samples:
        rows["Sample"] = "<br>".join(escape(sample.words) for sample in result.samples)
    else:
        rows["Sample"] = "none: no interval and no lead here rests on sampling"
    rows["Seed"] = str(made["seed"])
    listed = "".join(f"<dt>{name}</dt><dd>{body}</dd>" for name, body in rows.items())
    return f'<dl class="exhibit-record">{listed}{citation_mark(result.name)}</dl>'


def citation_mark(name: str) -> str:
    """Return where the book puts how to cite a result: its version, address and date are not the run's to
    know."""
    return f"<!-- citation: {name} -->"


def _data_files(files: Mapping[str, str]) -> str:
    """Return names and SHA-256 of the files that a result rests on."""
    if not files:
        return "none"
    named = [f"{escape(name)} <code>{digest}</code>" for name, digest in [*files.items()][:MOST_FILES]]
    if len(files) > MOST_FILES:
        named.append(f"and {len(files) - MOST_FILES} more, which the JSON names")
    return "<br>".join(named)


def _side_by_side(result: Result) -> str:
    """Return a result's checks as a table, or where it would be long, a link to them in the audit."""
    # Failing checks are shown above, with what is printed and what follows.
    shown = [check for check in result.checks if check.outcome != verdicts.FAILS]
    if len(shown) <= MOST_CHECKS and len(result.checks) - len(shown) <= MOST_LISTED:
        return table_html(_checks_frame(shown, result.exhibit), index=False) if shown else "all above"
    address = f"../across/audit.html?q=[{result.exhibit}.{result.evidence}]"
    return f'<a href="{address}">All {len(result.checks)} checks</a> (audit)'


def _files(result: Result) -> str:
    """Return links to a result's numbers, and to those that the paper, or its repository, has of the
    exhibit."""
    folder = "../../results"  # pages stand in notebooks/<folder>/
    shown = f"{_links(f'{folder}/{result.name}')} of what is shown"
    printed = f"; {_links(f'{folder}/{result.exhibit}.transcribed')} of what "
    printed += "is printed" if origin_of(result.exhibit) == AS_PRINTED else "the repository has"
    return f"{shown}{printed if has_numbers(result.exhibit) else ''}"


def _links(address: str) -> str:
    return f'<a href="{address}.csv">CSV</a> and <a href="{address}.json">JSON</a>'


def paper_prefix(entry: Exhibit) -> str:
    """Return an exhibit's paper and a comma; nothing on a page of one paper, which names it below its
    title."""
    alone = all(other.paper == entry.paper for other in of_notebook(entry.notebook))
    return "" if alone else f"{PAPERS[entry.paper]}, "


def unbroken(words: str) -> str:
    """Return a number with its range on one line; words are left as they are."""
    return words.replace(" ", "\u00a0") if words[:1] in "-.0123456789" and len(words) < 40 else words


def marked(outcome: str) -> str:
    """Return an outcome with its mark, on one line."""
    return f"{verdicts.MARKS[outcome]} {outcome}".replace(" ", "\u00a0")


def printed_words(check: Check, exhibit_id: str) -> str:
    """Return the paper's words or digits of a check, and in brackets what we ask for where they set no
    number."""
    words = in_quotes(check.printed, exhibit_id)
    return f"{words} (we ask for {check.asked})" if check.asked else words


def _checks_frame(checks: Sequence[Check], exhibit_id: str) -> pd.DataFrame:
    """Return checks as a frame of text: name, printed, follows, outcome with its mark."""
    return pd.DataFrame(
        {
            "check": [check.name for check in checks],
            "printed": [unbroken(printed_words(check, exhibit_id)) for check in checks],
            "what follows": [unbroken(check.computed) for check in checks],
            "outcome": [marked(check.outcome) for check in checks],
        }
    )


MOST_OPEN = 100
"""The most cells of a table that is shown open on its page; a larger one is folded."""
COMPARED = "compared"
"""What a cell is that a check compares with others, so that no number of its own follows."""
_VALUE = ["printed", "value", "half_width"]
_WORST = (verdicts.FAILS, verdicts.INCONCLUSIVE, verdicts.HOLDS)
_ENDS = {"ci_low": "low end", "ci_high": "high end"}
"""What the ends of printed intervals are called, by their key in the transcriptions."""


def place_of(result: Result) -> str:
    """Return the anchor of a result's display on its page."""
    return f"result-{result.name}".replace(".", "-").replace("_", "-")


def is_shown_by_cells(result: Result) -> bool:
    """Return whether a page shows a result cell by cell: checks of a table or figure that was transcribed."""
    is_table = exhibit(result.exhibit).kind in ("table", "figure")
    return bool(result.checks) and is_table and transcribed(result.exhibit)


def compared_cells(result: Result) -> pd.DataFrame:
    """Return each cell of the exhibit's printed table with what follows for it.

    Returns
    -------
    DataFrame
        The table's key columns and ``printed`` (str); ``follows`` (str, what a check of this cell alone
        found), ``low`` and ``high`` (float64, its range; NaN if nothing follows), ``outcome`` (str, one of
        :data:`~radeval_lib.study.verdicts.CHECK_OUTCOMES`, :data:`COMPARED`, or empty if no check compares
        the cell), and ``discrepancy`` (str, by its name in ``paper.yml``). Of several checks of a cell, the
        first of those with the worst outcome is taken.
    """
    frame = printed(result.exhibit)
    keys = frame.drop(columns=_VALUE)
    legible = frame["value"].notna()
    rows = []
    for cell, is_legible in zip(keys.itertuples(index=False, name=None), legible, strict=True):
        met = [check for check in result.checks if is_legible and check.compares(cell)]
        alone = [check for check in met if check.value is not None and len(check.cells) == 1]
        if alone:
            worst = min(alone, key=lambda check: _WORST.index(check.outcome))
            rows.append((worst.computed, worst.low, worst.high, worst.outcome, worst.discrepancy))
        else:
            rows.append(("", None, None, COMPARED if met else "", ""))
    follows = pd.DataFrame(
        rows, columns=["follows", "low", "high", "outcome", "discrepancy"], index=frame.index
    )
    return keys.join(frame["printed"]).join(follows.astype({"low": "float64", "high": "float64"}))


def shown_numbers(result: Result) -> pd.DataFrame:
    """Return a result's table to download: the cells of its printed table with what follows
    (:func:`compared_cells`), else the rebuilt table, else the checks (``check``, ``printed``, ``follows``,
    ``outcome``; all str)."""
    if is_shown_by_cells(result):
        return compared_cells(result)
    if result.table:
        return pd.DataFrame(result.table)
    rows = [
        (check.name, in_quotes(check.printed, result.exhibit), check.computed, check.outcome)
        for check in result.checks
    ]
    return pd.DataFrame(rows, columns=["check", "printed", "follows", "outcome"], dtype=str)


def cell_by_cell(result: Result, letters: Mapping[str, str], *, opened: bool = False) -> str:
    """Return the exhibit's table as the paper lays it out, printed and recomputed in one display, as HTML.

    Parameters
    ----------
    letters : by a discrepancy's name, the letter that its explanation has on the page; of cells that fail
        for no known discrepancy that of the empty name.
    opened : whether the table is shown open at any length, as within a fold.
    """
    cells = compared_cells(result)
    explanations = {name: discrepancy.explanation for name, discrepancy in result.discrepancies.items()}
    keys = list(cells.columns[: cells.columns.get_loc("printed")])
    columns = layout_of(result.exhibit)
    shown = cells[keys].assign(
        cell=[_cell(row, letters, explanations.get(str(row.discrepancy), "")) for row in cells.itertuples()]
    )
    rows = [key for key in keys if key not in columns]
    if not columns:
        shown, columns = shown.assign(printed="printed"), ["printed"]
    laid_out = wide(shown, _one_or_all(rows), _one_or_all(columns), "cell").fillna("")
    laid_out = laid_out.rename_axis(index=[name.replace("_", " ") for name in rows])
    laid_out = laid_out.rename(index=_ENDS, columns=_ENDS)
    entry = exhibit(result.exhibit)
    caption = f"{entry.label} {origin_of(result.exhibit)}: {unit_of(result.exhibit)}"
    # Below a line with its caption, if it is long, or nothing in it is compared.
    folded = not opened and (len(cells) > MOST_OPEN or not cells["outcome"].any())
    table = table_html(laid_out, "" if folded else caption, raw=tuple(laid_out.columns), label=caption)
    table = table.replace('class="dataframe radeval"', 'class="dataframe radeval cell-by-cell"', 1)
    body = f'{table}<p class="muted">{_legend(cells)}</p>'
    if not folded:
        return body
    whole = len(cells_of(result.exhibit))  # as the verdict counts them: without dashes
    summary = f"<summary><strong>{escape(caption)}</strong> ({whole} cells)</summary>"
    return f"<details>{summary}{body}</details>"


def _one_or_all(names: list[str]) -> str | list[str]:
    return names[0] if len(names) == 1 else names


def _cell(row: object, letters: Mapping[str, str], explanation: str) -> str:
    """Return one cell: what is printed, and below it what follows, with its outcome as a mark and in
    words."""
    text, follows, outcome, discrepancy = (
        getattr(row, key) for key in ("printed", "follows", "outcome", "discrepancy")
    )
    printed_html = escape(text)
    if not outcome:
        return f'<span class="unchecked">{printed_html}</span>'
    if outcome == COMPARED:
        return printed_html
    mark = "" if outcome == verdicts.HOLDS else f"{verdicts.MARKS[outcome]}\N{NO-BREAK SPACE}"
    note = (
        f"<sup>{letters[discrepancy]}</sup>" if outcome == verdicts.FAILS and discrepancy in letters else ""
    )
    title = explanation or {verdicts.FAILS: "does not follow", verdicts.HOLDS: "agrees"}.get(outcome, outcome)
    whole = re.sub(r"\[[^]]*\]", lambda interval: interval.group().replace(" ", "\u00a0"), follows)
    body = f'{mark}{printed_html}{note}<br><span class="follows">{escape(whole)}</span>'
    return f'<span class="compared {outcome.replace(" ", "-")}" title="{escape(title)}">{body}</span>'


def _legend(cells: pd.DataFrame) -> str:
    """Return what the marks of a table mean."""
    if not cells["outcome"].any():
        return "No check compares a single cell."
    fails, unknown = (verdicts.MARKS[outcome] for outcome in (verdicts.FAILS, verdicts.INCONCLUSIVE))
    marks = f"{fails} differs, {unknown} inconclusive."
    return (
        f"Below: what follows, [its range]. {marks} Nothing below: compared with others. Grey: not checked."
    )
