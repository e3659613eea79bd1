"""The report on a rendered book that a data officer signs before publication: it repeats no text."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
from scipy.stats import binomtest

from radeval_lib import __version__, atomic, checksums
from radeval_lib.data import catalog, guard, statements
from radeval_lib.data.manifests import restricted_in
from radeval_lib.errors import RadevalError, listed
from radeval_lib.paths import BUILD, IN_REACH, MANIFESTS, ROOT
from radeval_lib.pipeline import book, rendered, searched
from radeval_lib.study import recordings
from radeval_lib.study.profiles import Profile

RECALL = MANIFESTS / "leak_recall.csv"
"""How many planted leaks of each kind were found; ``python -m tests.robustness leaks`` writes it."""
CONFIDENCE = 0.95


class ReleaseError(RadevalError):
    """A book on which no report can be made."""


def recall() -> pd.DataFrame:
    """Planted leaks by kind: ``kind``, ``planted``, ``found``, and ``at_least``, the lower end of the
    one-sided 95% interval of the share that is found (Clopper & Pearson 1934)."""
    table = pd.read_csv(RECALL)
    table["at_least"] = [
        binomtest(row.found, row.planted, alternative="greater").proportion_ci(CONFIDENCE, "exact").low
        for row in table.itertuples()
    ]
    return table


def write(profile: Profile, data_root: Path | None, target: Path) -> None:
    """Write the report on ``build/<profile>``, and beside it the checksums of the book's files in the form of
    ``sha256sum``; where none can be made, neither stays of an earlier one."""
    rendered.discard_report(target)
    sums = rendered.sums_of(target)
    content, lines = report(profile, data_root, sums.name)
    atomic.write_text(sums, lines)
    atomic.write_text(target, content)


def refuse_out_of_date(profile: Profile) -> None:
    """Refuse a release of an edition whose recorded scores the code would not give.

    Raises
    ------
    ReleaseError
        Naming the sets and the metrics.
    """
    for name, metrics in recordings.of_edition(profile.roles.values(), profile.needs_data_root).items():
        if stale := recordings.out_of_date(name, metrics):
            raise ReleaseError(
                f"recorded scores are out of date: {listed(stale)}",
                name,
                f"`radbook record {name}` scores it again; of a frozen set, see data_manifests/recorded.",
            )


def report(profile: Profile, data_root: Path | None, sums: str) -> tuple[str, str]:
    """The report in Markdown, after the guard has searched the book once more, and the list of checksums that
    it calls ``sums``."""
    output_dir = BUILD / profile.name
    refuse_out_of_date(profile)
    if changed := rendered.changed(output_dir):
        raise ReleaseError(
            f"not as it was rendered: {listed(changed)}", profile.name, "Run `radbook build` first."
        )
    mark, corpora = output_dir / IN_REACH, restricted_in(data_root)
    reached = mark.read_text(encoding="utf-8").split() if mark.is_file() else []
    if gone := sorted(set(reached) - set(corpora)):
        raise ReleaseError(
            f"{listed(gone)} was in reach of this build, and cannot be searched for",
            "--data-root",
            "Name the folder that holds it.",
        )
    (smallest, before), now = searched.noted(output_dir), searched.files(data_root)
    if other := sorted({one.file for one in set(before) ^ set(now)}):
        raise ReleaseError(
            f"not the files that were in reach of this build: {listed(other)}",
            "--data-root",
            "Name the folder that holds them, or run `radbook build` again.",
        )
    if smallest != profile.smallest_count:
        raise ReleaseError(
            f"smallest_count was {smallest} when the book was built, not {profile.smallest_count}",
            profile.name,
            "Run `radbook build` first.",
        )
    book.search(output_dir, data_root)
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    top = rendered.folder(output_dir)
    files = [(digest, (top / name).stat().st_size, name) for name, digest in checksums.of_folder(top).items()]
    lines = "".join(f"{digest}  {name}\n" for digest, _, name in files)
    texts = catalog.restricted_texts(data_root) if data_root else {}
    allowed = statements.statements(data_root) if data_root else []
    found = recall()
    content = "\n".join(
        [
            f"# Release report: the book of profile {profile.name}",
            "",
            f"Made on {datetime.now(UTC):%d %B %Y} by radeval-lib {__version__}, commit "
            f"{commit or 'unknown'}, profile {profile.digest}. This report repeats no text of any data set.",
            "",
            "## What was searched for",
            "",
            f"The texts, identifiers and days of {len(corpora)} restricted data sets, from every column and "
            "every line of the files below, in every file that the build left and in its name. Nothing was "
            "found."
            if corpora
            else "No restricted data set was in reach of this build or under the data root.",
            "",
            *_table(
                ("data set", "file", "texts and identifiers", "SHA-256"),
                (
                    (name, file, f"{sum(1 for _ in texts[name].of_file(file)):,}", digest)
                    for name, file, digest in now
                ),
            ),
            "## How much of what is planted is found",
            "",
            f"Leaks planted in builds, at commit {' or '.join(dict.fromkeys(found['commit']))}. The share "
            "that is found is at least what the last column says, at "
            f"{CONFIDENCE:.0%} confidence for each row "
            "(Clopper and Pearson, one-sided). It says nothing about leaks of other kinds.",
            "",
            *_table(
                ("kind", "planted", "found", "found at least"),
                (
                    (row.kind, f"{row.planted:,}", f"{row.found:,}", f"{row.at_least:.2%}")
                    for row in found.itertuples()
                ),
            ),
            "## What cannot be seen",
            "",
            *(f"- {one}" for one in guard.UNSEEN),
            "",
            "## Small counts and model servers",
            "",
            f"Where a cell of a table holds a whole number and no more, no count from 1 to {smallest - 1} is "
            "shown. Sums may still reveal one, and so may names of rows, cells with words (as *3 of 40*), "
            "figures, sentences and the files of results."
            if smallest > 1
            else "The profile lets tables show counts of any size.",
            "",
            *_table(
                ("text of", "may be sent to", "since", "signed"),
                ((one.corpus, one.server, one.date, one.signed) for one in allowed),
            ),
            *([] if allowed else ["No statement allows text to be sent to a model server.", ""]),
            "## Files",
            "",
            f"The book has {len(files):,} files. Their list, `{sums}` beside this report, has the SHA-256 "
            f"{checksums.of_text(lines)}. In the folder of the book, `sha256sum --check --quiet "
            f"PATH/{sums}` says nothing if every file is as it was searched.",
            "",
            *_table(("SHA-256", "bytes", "file"), files),
            "## Signature",
            "",
            *_table(("name", "position", "date", "signature"), [("", "", "", "")]),
        ]
    )
    return content, lines


def _table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> list[str]:
    """A Markdown table and an empty line; nothing where there are no rows."""
    body = [f"| {' | '.join(map(str, row))} |" for row in rows]
    return [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *body, ""] if body else []
