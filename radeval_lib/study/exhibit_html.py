"""The HTML of a result on its page: the verdict, the failing checks with their discrepancies, the table, and
folded details."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pandas as pd
from markupsafe import Markup

from radeval_lib.papers import printed_numbers
from radeval_lib.papers.exhibits import PAPERS, Exhibit, exhibit, list_notebook_exhibits, load_paper
from radeval_lib.study import citing, verdicts
from radeval_lib.study.checks import Check
from radeval_lib.study.profiles import command
from radeval_lib.study.results import Result, group_by_key, statement_outcome
from radeval_lib.tables import table_html
from radeval_lib.text_format import environment, in_words, joined

DISCREPANCY_WORDS = {
    "paper": "error in the paper",
    "text": "in our text of the paper, not in the paper",
    "convention": "an open convention",
    "rounding": "the last digit",
    "": "not known",
}
"""A mapping from kind of discrepancy to words on pages; an empty key stands for no known discrepancy."""


def verdict_sentence(result: Result) -> str:
    """Return one to three sentences that name the evidence of a result and say how many checks hold, fail or
    are inconclusive, or that say why there is no verdict."""
    entry = exhibit(result.exhibit)
    if result.kind == verdicts.IMPLEMENTED:
        return "The library has it, and a test checks it."
    if result.kind == verdicts.EXPERIMENT:
        return f"No verdict: that needs {entry.would_need}."
    if result.outcome == verdicts.EDITED:
        return "No verdict: the cells that ran are not those of the notebook's source."
    note = f" Used here: {result.substitutes}." if result.substitutes else ""
    if entry.kind == "figure" and entry.legible != "full":
        note += " The figure itself was not seen: inputs of a notebook, pixels or a sentence were checked."
    rests = verdicts.RESTS_ON[result.evidence]
    return f"{rests[0].upper()}{rests[1:]}, {_count_outcomes(result)}.{note}"


def _count_outcomes(result: Result) -> str:
    """Return a clause that says how many statements, not readings, hold, fail or are inconclusive."""
    counts = Counter(map(statement_outcome, group_by_key(result.checks)))
    verbs = {
        verdicts.HOLDS: ("holds", "hold"),
        verdicts.FAILS: ("fails", "fail"),
        verdicts.INCONCLUSIVE: ("is inconclusive", "are inconclusive"),
    }
    if counts.total() == 1:
        return f"the check {verbs[next(iter(counts))][0]}"
    parts = [f"{counts[key]} {forms[counts[key] > 1]}" for key, forms in verbs.items() if counts[key]]
    return f"of {counts.total()} checks {joined(parts)}"


def as_printed(words: str) -> str:
    """Return a quotation as HTML, with single quotation marks around inner quotations.

    In our copies of the papers, ``*`` marks emphasis, ``$`` marks formulas and ``_{}`` marks subscripts.
    """
    single = re.sub(r'["“]\s*([^"“”]+?)\s*["”]', r"‘\1’", words)
    html = escape(single).replace(r"\rightarrow", "→")
    html = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", html)  # **best**
    html = re.sub(r"\*(\S.*?)\*", r"<em>\1</em>", html)  # *only*
    html = re.sub(r"\$([^$\\]+)\$", r"\1", html)  # $n = 200$
    return re.sub(r"_\{([\w,]+)\}", r"<sub>\1</sub>", html)  # W_{i,j}


def outcome_classes(outcome: str, severity: str = "") -> str:
    """Return the CSS classes of an outcome, such as ``not-checked`` or ``fails slip``.

    The class ``slip`` is added if ``severity`` is ``slip``, so that a wrong citation or word differs in
    colour from a wrong number.
    """
    return outcome.replace(" ", "-") + (" slip" if severity == "slip" else "")


def quote_words(statement: str, exhibit_id: str) -> str:
    """Return a statement in quotation marks if it is in its paper's words, otherwise followed by "(our
    words)".

    It is in the paper's words if ``paper.yml`` quotes every part between ellipses. A statement of fewer than
    two words, such as a number, is returned unchanged.
    """
    if sum(word[:1].isalpha() for word in statement.split()) < 2:
        return statement
    quotations = _join_quotations(exhibit_id.partition(".")[0])
    is_verbatim = all(f" {_to_plain_words(part)} " in quotations for part in statement.split("…"))
    return f"“{statement}”" if is_verbatim else f"{statement} (our words)"


@cache
def _join_quotations(paper: str) -> str:
    """Return the quotations in a paper's ``paper.yml``, one per line, in :func:`_to_plain_words` form."""
    by_exhibit = map(printed_numbers.quotations, load_paper(paper)["prose"])
    return "".join(f" {_to_plain_words(words)} \n" for quotes in by_exhibit for _, words in quotes)


def _to_plain_words(text: str) -> str:
    """Return the words of a text in lower case, without punctuation and separated by spaces."""
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def exhibit_html(result: Result, *, folded: bool = False) -> str:
    """Return the box of a result on its page, as HTML.

    It shows the verdict, the failing checks with their discrepancies, and any printed table with the
    recomputed numbers; the details are folded. If ``folded``, only verdict and name are visible at first.
    """
    entry = exhibit(result.exhibit)
    failing: dict[str, list[Check]] = {}
    for check in result.with_outcome(verdicts.FAILS):
        failing.setdefault(check.discrepancy, []).append(check)
    has_cells = is_shown_by_cells(result)
    letters = dict(zip(failing if has_cells else (), ascii_lowercase, strict=False))
    template = _load_template()
    # Failing checks are shown in the box itself. The details list the others or, if these are many, link to
    # the audit.
    others = [check for check in result.checks if check.outcome != verdicts.FAILS]
    is_short = len(others) <= 1 and len(result.checks) - len(others) <= 2
    details = template.record(
        result,
        entry,
        quotes=load_paper(entry.paper)["prose"].get(entry.id),
        others=others if is_short else None,
        command=command(result.notebook, result.provenance["profile"]["name"]),
        printed_table=printed_numbers.find_origin(entry.id) if printed_numbers.has_table(entry.id) else "",
        citation=citing.bibtex(
            html_id_of(result).replace("result", "radeval", 1),
            f"{PAPERS[entry.paper]}, {entry.heading}: {result.verdict} ({result.evidence})",
            f"notebooks/{result.notebook}.md",
        ),
    )
    return str(
        template.box(
            result,
            entry,
            folded=folded,
            sentence=verdict_sentence(result),
            prefix=paper_prefix(entry),
            failing=failing,
            lettered=bool(letters),
            table=table_by_cell(result, letters, opened=folded) if has_cells else "",
            details=details,
        )
    )


@cache
def _load_template() -> Any:
    """Return the template ``exhibit.html.j2`` as a module, whose attributes are the macros."""
    templates = environment(Path(__file__).parent)
    templates.filters["in_words"] = in_words
    templates.filters["as_printed"] = lambda words: Markup(as_printed(words))
    templates.filters["whole_intervals"] = lambda words: re.sub(
        r"\[[^]]*\]", lambda interval: interval.group().replace(" ", "\u00a0"), words
    )
    templates.globals |= {
        "marks": verdicts.MARKS,
        "discrepancy_words": DISCREPANCY_WORDS,
        "outcome_classes": outcome_classes,
        "marked": mark_outcome,
        "printed_words": printed_words,
        "html_id_of": html_id_of,
        "rests_on": verdicts.RESTS_ON,
    }
    return templates.get_template("exhibit.html.j2").module


def verdict_badge(verdict: str, outcome: str, coverage: str = "", severity: str = "") -> str:
    """Return a verdict as an HTML label with a mark, words and a colour, followed by ``coverage``."""
    return str(_load_template().badge(verdict, outcome, coverage, severity))


def paper_prefix(entry: Exhibit) -> str:
    """Return the name of an exhibit's paper and a comma; empty if all exhibits of the page are from one
    paper, which the page names below its title."""
    is_only_paper = all(other.paper == entry.paper for other in list_notebook_exhibits(entry.notebook))
    return "" if is_only_paper else f"{PAPERS[entry.paper]}, "


def mark_outcome(outcome: str) -> str:
    """Return an outcome with its mark in front, separated by no-break spaces."""
    return f"{verdicts.MARKS[outcome]} {outcome}".replace(" ", "\u00a0")


def printed_words(check: Check, exhibit_id: str) -> str:
    """Return the paper's words or digits of a check (:func:`quote_words`), followed by our criterion in
    brackets if the check has one."""
    quote = quote_words(check.printed, exhibit_id)
    return f"{quote} (we ask for {check.criterion})" if check.criterion else quote


MAX_UNFOLDED = 100
"""The largest number of cells of a table that is not folded on its page."""
COMPARED = "compared"
"""The outcome of a cell that is compared only together with other cells."""
_VALUE_COLUMNS = ["printed", "value", "half_width"]
_WORST_FIRST = (verdicts.FAILS, verdicts.INCONCLUSIVE, verdicts.HOLDS)
_BOUND_HEADINGS = {"ci_low": "lower bound", "ci_high": "upper bound"}
"""A mapping from the key of a bound of a printed interval, in transcriptions, to a heading."""


def html_id_of(result: Result) -> str:
    """Return the HTML id of a result's box on its page."""
    return f"result-{result.name}".replace(".", "-").replace("_", "-")


def is_shown_by_cells(result: Result) -> bool:
    """Return whether a page shows a result as a table of cells: whether the result has checks and its exhibit
    is a transcribed table or figure."""
    is_table = exhibit(result.exhibit).kind in ("table", "figure")
    return bool(result.checks) and is_table and printed_numbers.has_table(result.exhibit)


def cell_outcomes(result: Result) -> pd.DataFrame:
    """Return each cell of the exhibit's printed table with the recomputed number and the outcome.

    Returns
    -------
    DataFrame
        One row per cell: the table's key columns and ``printed`` (str); ``computed`` (str, the number
        computed for this cell alone, or empty), ``low`` and ``high`` (float64, its interval, or NaN),
        ``outcome`` (str, one of :data:`~radeval_lib.study.verdicts.CHECK_OUTCOMES`, :data:`COMPARED`, or
        empty if no check compares the cell), and ``discrepancy`` (str, the discrepancy's name in
        ``paper.yml``, or empty). If several checks compare this cell alone, the row shows the first with the
        worst outcome.

    Raises
    ------
    PrintedError
        If the exhibit is not transcribed, or its transcription is malformed.
    """
    frame = printed_numbers.printed(result.exhibit)
    keys = frame.drop(columns=_VALUE_COLUMNS)
    legible = frame["value"].notna()
    rows = []
    for cell, is_legible in zip(keys.itertuples(index=False, name=None), legible, strict=True):
        cell_checks = [check for check in result.checks if is_legible and check.compares(cell)]
        single_checks = [check for check in cell_checks if check.value is not None and len(check.cells) == 1]
        if single_checks:
            worst = min(single_checks, key=lambda check: _WORST_FIRST.index(check.outcome))
            rows.append((worst.computed, worst.low, worst.high, worst.outcome, worst.discrepancy))
        else:
            rows.append(("", None, None, COMPARED if cell_checks else "", ""))
    outcomes = pd.DataFrame(
        rows, columns=["computed", "low", "high", "outcome", "discrepancy"], index=frame.index
    )
    return keys.join(frame["printed"]).join(outcomes.astype({"low": "float64", "high": "float64"}))


def table_to_download(result: Result) -> pd.DataFrame:
    """Return the table of a result that readers can download.

    This is the printed table with the recomputed numbers (:func:`cell_outcomes`) if the page shows it,
    otherwise the rebuilt table or, if there is none, a table with one row per check and the columns
    ``check``, ``printed``, ``computed`` and ``outcome``.
    """
    if is_shown_by_cells(result):
        return cell_outcomes(result)
    if result.table:
        return pd.DataFrame(result.table)
    rows = [
        (check.name, quote_words(check.printed, result.exhibit), check.computed, check.outcome)
        for check in result.checks
    ]
    return pd.DataFrame(rows, columns=["check", "printed", "computed", "outcome"], dtype=str)


def table_by_cell(result: Result, letters: Mapping[str, str], *, opened: bool = False) -> Markup:
    """Return the exhibit's table in the paper's layout, each cell with its recomputed number, as HTML.

    Parameters
    ----------
    letters : a mapping from the name of a discrepancy to the letter of its explanation on the page; an empty
        name stands for failures without a known discrepancy.
    opened : whether to show the table unfolded whatever its length, for use in a box that is itself folded.
    """
    cells, template = cell_outcomes(result), _load_template()
    explanations = {name: discrepancy.explanation for name, discrepancy in result.discrepancies.items()}

    def format_cell(row: Any) -> str:
        letter = letters.get(row.discrepancy, "") if row.outcome == verdicts.FAILS else ""
        return str(template.cell(row, letter, explanations.get(row.discrepancy, row.outcome)))

    keys = list(cells.columns[: cells.columns.get_loc("printed")])
    column_keys = printed_numbers.find_column_keys(result.exhibit)
    frame = cells[keys].assign(cell=list(map(format_cell, cells.itertuples())))
    row_keys = [key for key in keys if key not in column_keys]
    if not column_keys:
        frame, column_keys = frame.assign(printed="printed"), ["printed"]
    rows, columns = (names[0] if len(names) == 1 else names for names in (row_keys, column_keys))
    layout = printed_numbers.wide(frame, rows, columns, "cell").fillna("")
    layout = layout.rename_axis(index=[name.replace("_", " ") for name in row_keys])
    layout = layout.rename(index=_BOUND_HEADINGS, columns=_BOUND_HEADINGS)
    entry, is_compared = exhibit(result.exhibit), cells["outcome"].any()
    caption = f"{entry.label} {printed_numbers.find_origin(entry.id)}: {printed_numbers.find_unit(entry.id)}"
    # A table that is long, or in which no cell is compared, is folded below its caption.
    folded = not opened and (len(cells) > MAX_UNFOLDED or not is_compared)
    table = table_html(layout, "" if folded else caption, raw=tuple(layout.columns), label=caption)
    table = table.replace('class="dataframe radeval"', 'class="dataframe radeval cell-by-cell"', 1)
    count = len(printed_numbers.list_legible_cells(result.exhibit))  # without dashes, as in the coverage
    return Markup(template.by_cell(Markup(table), is_compared, folded, caption, count))
