"""What notebooks show beside exhibits: the paper's words, checks, what a page lacks, its provenance, and the
texts that its Markdown takes from the code by MyST's ``glue``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

import myst_nb
import pandas as pd
from IPython.core.getipython import get_ipython
from IPython.display import HTML, display

from radeval_lib import registry
from radeval_lib.data.manifests import load_manifest
from radeval_lib.papers.exhibits import exhibit
from radeval_lib.papers.printed_numbers import quotations
from radeval_lib.paths import RECORDED, ROOT
from radeval_lib.provenance import commit, device
from radeval_lib.stats.base import Estimate
from radeval_lib.study.checks import above
from radeval_lib.study.exhibit_html import as_printed, paper_prefix
from radeval_lib.study.profiles import command
from radeval_lib.tables import folded, show, table_html
from radeval_lib.text_format import joined

if TYPE_CHECKING:
    from radeval_lib.study.page_runs import PageRun

ENDS_HERE = "radeval_page_ends_here"
"""Key of an output's metadata, after which a page has nothing more to show in this build: the reason."""
_NEEDS = {
    "error_counts": "needs the errors that six radiologists counted in ReXVal, by category: "
    "`radbook data add rexval_counts` says how to get them",
    "note_judgements": "needs the errors that clinicians listed in PriMock57: "
    "`radbook data add primock57` says how to get them",
}
"""The need of a page for a role that nothing public in the repository can supply."""
_NEEDS_TEXTS = (
    "needs public reports, which `radbook data fetch --open` brings; `make open` then builds this page with "
    "its answer"
)
_CODE = re.compile(r"`([^`]+)`")


def said(exhibit_id: str) -> HTML:
    """Show the paper's words about an exhibit, with pieces from one place joined by an ellipsis."""
    places: dict[str, list[str]] = {}
    for where, words in quotations(exhibit_id):
        places.setdefault(where, []).append(as_printed(words))
    paper = paper_prefix(exhibit(exhibit_id))
    items = [
        f"<blockquote>“{' … '.join(pieces)}” <footer>{paper}{escape(where)}</footer></blockquote>"
        for where, pieces in places.items()
    ]
    return HTML(f'<div class="quotes">{"".join(items)}</div>')


def only_with_data(
    run: PageRun, *roles: str, one_set: bool = False, dataset: str = "", generated: bool = False
) -> None:
    """End a page here, with a line on what it needs, if one of these roles has no source, the generator as
    its source, or a source missing from the data root.

    Later cells of the notebook then do nothing, and the book leaves them out.

    Parameters
    ----------
    roles : of data, at least one.
    one_set : end it also if the roles have different data sets.
    dataset : a data set that the page reads in its own form; end the page also if the first role has another
        one and the data root lacks this one.
    generated : whether the page continues with generated data.
    """
    endings = (registry.ABSENT,) if generated else ("synthetic", registry.ABSENT)
    unreal = [role for role in roles if run.evidence(role) in endings]
    if unreal:
        needs = _NEEDS.get(unreal[0], _NEEDS_TEXTS)
        words, reason = _CODE.sub(r"<code>\1</code>", needs), f"it {needs}"
    elif reason := _lack(run, roles, one_set, dataset):
        words = f"is left out: {escape(reason)}"
    else:
        return
    display(HTML(f"<p>The rest of this page {words}.</p>"), metadata={ENDS_HERE: reason})
    display(provenance(run))
    if (shell := get_ipython()) is not None:
        shell.input_transformers_cleanup.append(lambda lines: [])  # later cells run as empty ones


def tried(rows: Mapping[str, str]) -> HTML:
    """Show, folded, the attempts to refute a page's finding: a row for each, with its result."""
    table = pd.DataFrame({"result": rows.values()}, index=list(rows))
    return folded(show(table, "What we tried against it"))


def _lack(run: PageRun, roles: Sequence[str], one_set: bool, dataset: str) -> str:
    """Return why a page has no answer from the sources of its roles (:func:`only_with_data`); empty if it has
    one."""
    if lacks := "; ".join(filter(None, map(run.lacks, roles))):
        return lacks
    sets = [registry.datasets_of(run.filler("data", role)) for role in roles]
    if one_set and any(other != sets[0] for other in sets):
        fillers = joined([f"{role!r} by {run.source(role)}" for role in roles])
        return f"it needs one data set in several roles, and here these are filled differently, {fillers}"
    if dataset and dataset not in sets[0] and run.find(dataset) is None:
        named = load_manifest(dataset).title.partition(":")[0]
        how = f"`radbook data status {dataset}` says how to get it"
        return f"{named}, which it reads, is not in the data root. {how}"
    return ""


def provenance(run: PageRun) -> HTML:
    """Show, folded, the sources of this page's numbers."""
    head = commit()
    rows = {
        "notebook": f'<a href="../../sources/{run.notebook}.md">notebooks/{run.notebook}.md</a>',
        "rebuild": f"<code>{command(run.notebook, run.profile.name)}</code>",
        "commit": f"{head['commit'] or 'unknown'}{' and changes' if head['dirty'] else ''}",
        "seed": str(run.seed),
        "threads": str(run.whole_profile.threads),
        "device": device(run.whole_profile.device),
    }
    run.require_papers()
    read = run.reading.of()
    rows |= read["data"]
    for role, model in read["models"].items():
        rows[f"model: {role}"] = escape(", ".join(model.values()))
    frame = pd.DataFrame({"": rows.keys(), "value": rows.values()})
    body = table_html(frame, index=False, raw=("value",))
    sentences = []
    if any((ROOT / name).is_relative_to(RECORDED) for name in read["data"]):
        recordings = registry.module("radeval_lib.study.recordings")
        fillers = [run.whole_profile.roles.get(role, "") for role in run.declared.data]
        sentences = recordings.sentences(recordings.of_run(read["data"], fillers))
    scored = "".join(f'<p class="scored">{escape(line)}</p>' for line in sentences)
    summary = "<summary>Provenance</summary>"
    return HTML(f'{scored}<details class="provenance">{summary}{body}</details>')


def glue(**values: str) -> None:
    """Give names to texts for the page's Markdown, which inserts them with ``{glue:text}`name```.

    Parameters
    ----------
    values : texts, formatted as the page shows them; hyphens of a name are written as underscores there.

    Raises
    ------
    TypeError
        If a value is not text: a number without a format would show all its digits.
    """
    for name, value in values.items():
        if not isinstance(value, str):
            raise TypeError(f"glue({name}=...): format the {type(value).__name__} as a text first")
        myst_nb.glue(name, value, display=False)


def phrase(estimate: Estimate, *, more: str, less: str, open: str) -> str:
    """Return the words chosen by an interval: ``more`` if above 0, ``less`` if below, ``open`` if it contains
    0 or an end is NaN."""
    return {True: more, False: less, None: open}[above(estimate.low, estimate.high)]
