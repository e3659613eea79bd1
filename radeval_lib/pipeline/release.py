"""Tools for a data officer: the release report for a book, and the removal of builds with restricted data."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
from scipy.stats import binomtest

from radeval_lib import __version__, atomic, checksums, provenance
from radeval_lib.data import guard, manifests
from radeval_lib.data.manifests import find, list_restricted, load_manifest
from radeval_lib.errors import RadevalError, list_names
from radeval_lib.paths import BUILD, BUILD_LOCK, IN_REACH, MANIFESTS, ROOT
from radeval_lib.pipeline import book, steps
from radeval_lib.study import recordings
from radeval_lib.study.profiles import Profile
from radeval_lib.text_format import environment

RECALL = MANIFESTS / "leak_recall.csv"
"""Table of how many planted leaks of each kind the search found; written by a nightly test."""
_ENGINE = ROOT / ".snakemake"  # Snakemake's logs may contain what a step printed
CONFIDENCE = 0.95  # level of the lower bound for the share of leaks found


class ReleaseError(RadevalError):
    """Raised if no release report can be made for a book."""


def read_recall() -> pd.DataFrame:
    """Return the recall of the search for restricted text on planted leaks, one row per kind of leak.

    Columns are ``kind``, ``planted`` and ``found`` (numbers of leaks), and ``at_least``, the lower bound of
    the one-sided 95% confidence interval for the share found, 0 to 1 (Clopper & Pearson 1934).
    """
    table = pd.read_csv(RECALL)
    table["at_least"] = [
        binomtest(row.found, row.planted, alternative="greater").proportion_ci(CONFIDENCE, "exact").low
        for row in table.itertuples()
    ]
    return table


def write_report(profile: Profile, data_root: Path | None, target: Path) -> None:
    """Write the release report for a profile's book to ``target``, and checksums of its files next to it.

    The checksums are in the format of ``sha256sum``, in a file of the same name that ends in ``.sha256``.
    Earlier files in both places are removed first, so that none is left if :func:`make_report` raises an
    error.
    """
    sums = target.with_suffix(".sha256")
    for path in (target, sums):
        path.unlink(missing_ok=True)
    content, lines = make_report(profile, data_root, sums.name)
    atomic.write_text(sums, lines)
    atomic.write_text(target, content)


def refuse_out_of_date(profile: Profile) -> None:
    """Raise a ReleaseError if the book shows stored scores that the current code would not reproduce, and a
    DataError if a table of stored scores is missing or has changed."""
    for name, metrics in recordings.sets_shown(profile.roles.values(), profile.needs_data_root).items():
        if stale := recordings.out_of_date(name, metrics):
            remedy = f"Run `radbook record {name}`; for a frozen set, see data_manifests/recorded/README.md."
            raise ReleaseError(f"stored scores are out of date: {list_names(stale)}", name, remedy)


def make_report(profile: Profile, data_root: Path | None, sums: str) -> tuple[str, str]:
    """Search a book for restricted text, and return the release report and the checksums of the book's files.

    Parameters
    ----------
    data_root : folder of data files, with all restricted data sets that the build could read; None if there
        is none.
    sums : name of the file with the checksums, for the report.

    Returns
    -------
    tuple
        The report in Markdown, and the checksums in the format of ``sha256sum``.

    Raises
    ------
    ReleaseError
        If stored scores are out of date, there is no book, or a restricted data set that the build could read
        is not in the data root.
    LeakError
        If restricted text, or a file that cannot be searched, is found.
    DataError
        If a table of stored scores, or a file of a restricted data set, is missing, has changed or cannot be
        read.
    BrowserJudgeError
        If the package of the judge in the browser has a wrong checksum.
    """
    output_dir = BUILD / profile.name
    refuse_out_of_date(profile)
    if not steps.book_index(output_dir).is_file():
        raise ReleaseError("no rendered book", profile.name, f"Run `radbook build --profile {profile.name}`.")
    readable_list, corpora = output_dir / IN_REACH, list_restricted(data_root)
    readable = readable_list.read_text(encoding="utf-8").split() if readable_list.is_file() else []
    if missing := sorted(set(readable) - set(corpora)):
        problem = f"the build could read {list_names(missing)}, which the data root lacks"
        raise ReleaseError(problem, "--data-root", "Pass the data root with which the book was built.")
    book.search(output_dir, data_root)
    html = steps.book_folder(output_dir)
    files = [
        (digest, (html / name).stat().st_size, name) for name, digest in checksums.of_folder(html).items()
    ]
    lines = "".join(f"{digest}  {name}\n" for digest, _, name in files)
    template = environment(Path(__file__).parent).get_template("release.md.j2")
    content = template.render(
        profile=profile,
        made=f"{datetime.now(UTC):%d %B %Y}",
        version=__version__,
        commit=(provenance.run_git("describe", "--always", "--dirty") or "unknown").strip(),
        corpora=corpora,
        searched=[
            (name, file.path, checksums.of_file(path))
            for name in corpora
            for file in load_manifest(name).files
            if (path := find(name, data_root, file.path)) is not None
        ],
        recall=read_recall(),
        confidence=CONFIDENCE,
        unseen=guard.BLIND_SPOTS,
        statements=manifests.read_statements(data_root) if data_root else [],
        files=files,
        sums=sums,
        digest_of_sums=checksums.of_text(lines),
    )
    return f"{content}\n", lines


def find_restricted_builds() -> dict[Path, list[str]]:
    """Return a mapping from the folder of each build or run to the restricted data sets that it could read.

    Builds and runs that could read none are left out. Raises OSError if the list in a folder cannot be read.
    """
    marks = sorted(BUILD.rglob(IN_REACH))
    # A folder inside a marked folder is removed with it, so only the outer folder is listed.
    outer = [mark for mark in marks if not {other.parent for other in marks} & set(mark.parent.parents)]
    return {mark.parent: mark.read_text(encoding="utf-8", errors="replace").split() for mark in outer}


def purge() -> None:
    """Remove all builds and runs that could read restricted data; if there are any, also Snakemake's logs.

    The file that marks such a folder is removed last, so that a folder is still listed if its removal fails.

    Raises
    ------
    BusyError
        If a build or run is writing to one of the folders. Then nothing is removed.
    OSError
        If something cannot be removed.
    """
    with ExitStack() as locks:
        folders = find_restricted_builds()
        for folder in folders:
            locks.enter_context(steps.hold_lock(folder / BUILD_LOCK))
        for folder in folders:
            atomic.discard(_ENGINE, *(part for part in folder.iterdir() if part.name != IN_REACH))
            atomic.discard(folder)
