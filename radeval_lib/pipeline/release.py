"""The report on a rendered book that a data officer signs before it leaves the house: it repeats no text."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
from scipy.stats import binomtest

from radeval_lib import __version__, checksums
from radeval_lib.data import guard, statements
from radeval_lib.data.manifests import load_manifest, restricted_in
from radeval_lib.errors import RadevalError, listed
from radeval_lib.paths import BUILD, IN_REACH, MANIFESTS, ROOT
from radeval_lib.pipeline import book, rendered
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


def report(profile: Profile, data_root: Path | None) -> str:
    """The report on ``build/<profile>`` in Markdown, after the guard has searched it once more."""
    output_dir = BUILD / profile.name
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
    book.search(output_dir, data_root)
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    top = rendered.folder(output_dir)
    sums = [(digest, (top / name).stat().st_size, name) for name, digest in checksums.of_folder(top).items()]
    searched = [
        (name, file.path, checksums.of_file(data_root / file.path))
        for name in corpora
        for file in load_manifest(name).files
        if data_root and (data_root / file.path).is_file()
    ]
    allowed = statements.statements(data_root) if data_root else []
    found = recall()
    return "\n".join(
        [
            f"# Release report: the book of profile {profile.name}",
            "",
            f"Made on {datetime.now(UTC):%d %B %Y} by radeval-lib {__version__}, commit "
            f"{commit or 'unknown'}, profile {profile.digest}. SHA-256 of the list of files below: "
            f"{checksums.of_text(_lines(sums))}. This report repeats no text of any data set.",
            "",
            "## What was searched for",
            "",
            f"Every text, identifier and day of {len(corpora)} restricted data sets, in every file that the "
            "build left and in its name. Nothing was found."
            if corpora
            else "No restricted data set was in reach of this build or under the data root.",
            "",
            *_table(("data set", "file", "SHA-256"), searched),
            "## How much of what is planted is found",
            "",
            f"Leaks planted in builds, the last time at commit {found['commit'].iloc[0]}. The share that is "
            f"found is at least what the last column says, at {CONFIDENCE:.0%} confidence for each row "
            "(Clopper and Pearson, one-sided).",
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
            f"Tables show no count of cases from 1 to {profile.smallest_count - 1}; sums may still tell one, "
            "and so may figures, sentences and the files of results."
            if profile.smallest_count > 1
            else "The profile lets tables show counts of any size.",
            "",
            *_table(
                ("text of", "may be sent to", "since", "signed"),
                ((one.corpus, one.server, one.date, one.signed) for one in allowed),
            ),
            *([] if allowed else ["No statement allows text to be sent to a model server.", ""]),
            "## Files",
            "",
            *_table(("SHA-256", "bytes", "file"), sums),
            "## Signature",
            "",
            *_table(("name", "position", "date", "signature"), [("", "", "", "")]),
        ]
    )


def _lines(rows: Iterable[tuple[object, ...]]) -> str:
    return "".join("  ".join(map(str, row)) + "\n" for row in rows)


def _table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> list[str]:
    """A Markdown table and an empty line; nothing where there are no rows."""
    body = [f"| {' | '.join(map(str, row))} |" for row in rows]
    return [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *body, ""] if body else []
