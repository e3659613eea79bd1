"""Tables and figures of the chapter on the data behind the papers, all from the manifests and the ledger."""

from __future__ import annotations

from html import escape
from pathlib import Path

import pandas as pd
from IPython.display import HTML

from radeval_lib.data import fetch
from radeval_lib.data.manifests import UNVERIFIED, Manifest, load_manifest, names
from radeval_lib.papers.data_counts import CountCheck, check_dataset, printed_counts
from radeval_lib.tables import table_html

ACCESS_WORDS = {
    "open": "open to anyone",
    "hub": "on a model hub",
    "credentialed": "for credentialed users",
    "built": "built by credentialed users",
}


def _manifests() -> list[Manifest]:
    """All manifests, the most open ones first."""
    order = list(ACCESS_WORDS)
    return sorted(map(load_manifest, names()), key=lambda one: (order.index(one.access), one.title.lower()))


def access() -> pd.DataFrame:
    """Data sets with who can get them, under which licence, and whether the book may show their text."""
    return pd.DataFrame(
        {
            "data set": one.title,
            "access": ACCESS_WORDS[one.access],
            "licence": one.licence,
            "text may be shown": "yes" if one.redistributable else "no",
        }
        for one in _manifests()
    ).set_index("data set")


def purpose() -> pd.DataFrame:
    """Data sets with what each can show and what it cannot."""
    return pd.DataFrame(
        {"data set": one.title, "what it can show, and its limits": one.shows} for one in _manifests()
    ).set_index("data set")


def exhibits_that_need(one: Manifest) -> set[str]:
    """Ids of the exhibits that need a data set, by the ledger."""
    from radeval_lib.papers.exhibits import ledger

    return {
        exhibit.id
        for exhibit in ledger().values()
        if set(one.needed_as) & {name for need in exhibit.needs for name in (need, f"{exhibit.paper}/{need}")}
    }


def need() -> pd.DataFrame:
    """How many exhibits need each data set: ``data set``, ``access`` and ``exhibits``, most needed first.

    An exhibit that needs a data set with an open and a credentialed part counts for both.
    """
    short = [one.title.partition(":")[0] for one in _manifests()]
    rows = [
        {
            "data set": name if short.count(name) == 1 else f"{name} ({one.access})",
            "access": ACCESS_WORDS[one.access],
            "exhibits": len(exhibits_that_need(one)),
        }
        for name, one in zip(short, _manifests(), strict=True)
    ]
    return pd.DataFrame(rows).sort_values("exhibits", ascending=False, kind="stable", ignore_index=True)


def need_restricted() -> set[str]:
    """Ids of the exhibits that need at least one data set for which users must be credentialed or sign."""
    return {exhibit for one in _manifests() if one.restricted for exhibit in exhibits_that_need(one)}


def presence(root: Path | None) -> pd.DataFrame:
    """Data sets with how many of their files the data root of this build held, and in which state."""
    rows = []
    for one in _manifests():
        whole = {file.path for file in one.files if not file.partial}
        found = fetch.status(root, one.name) if root else []
        states = [status.state for status in found if status.path in whole]
        parts = [status for status in found if status.path not in whole and status.state == "verified"]
        rows.append(
            {
                "data set": one.title,
                "files": len(whole),
                "here": len([state for state in states if state not in ("missing", "mismatch")]),
                "as the manifest states": states.count("verified"),
                "mismatch": states.count("mismatch"),
                "a part only": "yes" if parts else "",
            }
        )
    return pd.DataFrame(rows).set_index("data set")


def counts(root: Path | None) -> pd.DataFrame:
    """Printed counts against those of the files of this build, where there are any.

    Returns
    -------
    DataFrame
        ``data set``, ``what``, ``exhibit``, ``printed``, ``loaded`` (empty where nothing was) and ``note``.
    """
    rows = []
    for one in _manifests():
        checks: list[CountCheck] = check_dataset(one.name, root) if root else []
        for check in checks or printed_counts(one):
            rows.append(
                {
                    "data set": one.title,
                    "what": check.name,
                    "exhibit": check.exhibit,
                    "printed": check.printed,
                    "loaded": "" if check.loaded is None else f"{check.loaded:,}",
                    "note": check.note,
                }
            )
    return pd.DataFrame(rows)


def steps() -> HTML:
    """For each data set: how to get it, step by step, its files and its columns, folded."""
    return HTML("".join(map(_folded, _manifests())))


def _folded(one: Manifest) -> str:
    listed = "".join(f"<li>{escape(step)}</li>" for step in one.steps)
    files = [
        (
            f"<code>{escape(file.path)}</code>",
            f"{file.size:,}" if file.size else "",
            (file.sha256 or UNVERIFIED)[:32],
        )
        for file in one.files
    ]
    columns = [(f"<code>{escape(name)}</code>", escape(text)) for name, text in one.schema.items()]
    return (
        f"<details><summary>{escape(one.title)} (<code>{escape(one.name)}</code>)</summary>"
        f"<p>{escape(one.redistribution)} "
        f"<a href='{escape(one.source)}'>Source</a>; {escape(one.version)}.</p><ol>{listed}</ol>"
        + table_html(
            pd.DataFrame(files, columns=["file under the data root", "bytes", "SHA-256 begins"]),
            index=False,
            raw=("file under the data root",),
        )
        + table_html(
            pd.DataFrame(columns, columns=["column or key", "holds"]),
            index=False,
            raw=("column or key", "holds"),
        )
        + "</details>"
    )


def count_summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Printed counts by data set: how many there are, could be compared, and agree (see :func:`counts`)."""
    marked = frame.assign(
        compared=frame["loaded"] != "",
        agree=frame["printed"].str.replace(",", "") == frame["loaded"].str.replace(",", ""),
    )
    grouped = marked.groupby("data set", sort=False)
    return pd.DataFrame(
        {"printed": grouped.size(), "compared": grouped["compared"].sum(), "agree": grouped["agree"].sum()}
    )
