"""Tools for a data officer: a report to sign before a book is published, which repeats no text, and the
removal of restricted data from builds."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
from scipy.stats import binomtest

from radeval_lib import __version__, atomic, checksums, provenance
from radeval_lib.data import guard, manifests
from radeval_lib.data.manifests import find, load_manifest, restricted_in
from radeval_lib.errors import RadevalError, listed
from radeval_lib.paths import BUILD, BUILD_LOCK, IN_REACH, MANIFESTS, ROOT
from radeval_lib.pipeline import book, steps
from radeval_lib.study import recordings
from radeval_lib.study.profiles import Profile
from radeval_lib.text_format import environment

RECALL = MANIFESTS / "leak_recall.csv"
"""How many planted leaks of each kind were found; a nightly test writes it."""
_ENGINE = ROOT / ".snakemake"  # Snakemake's logs may repeat what a step printed
CONFIDENCE = 0.95  # of the lower end of the share of leaks that is found


class ReleaseError(RadevalError):
    """A book for which no report can be made."""


def recall() -> pd.DataFrame:
    """Return planted leaks by kind: ``kind``, ``planted``, ``found``, and ``at_least``, the lower end of the
    one-sided 95% interval of the share found (Clopper & Pearson 1934)."""
    table = pd.read_csv(RECALL)
    table["at_least"] = [
        binomtest(row.found, row.planted, alternative="greater").proportion_ci(CONFIDENCE, "exact").low
        for row in table.itertuples()
    ]
    return table


def write(profile: Profile, data_root: Path | None, target: Path) -> None:
    """Write the report on ``build/<profile>``, with the checksums of the book's files in ``sha256sum``'s
    form. If it fails, earlier ones are removed."""
    sums = target.with_suffix(".sha256")
    for path in (target, sums):
        path.unlink(missing_ok=True)
    content, lines = report(profile, data_root, sums.name)
    atomic.write_text(sums, lines)
    atomic.write_text(target, content)


def refuse_out_of_date(profile: Profile) -> None:
    """Raise an error for an edition with stored scores that differ from what the code would give.

    Raises
    ------
    ReleaseError
        Naming the sets and the metrics.
    """
    for name, metrics in recordings.sets_shown(profile.roles.values(), profile.needs_data_root).items():
        if stale := recordings.out_of_date(name, metrics):
            remedy = f"Run `radbook record {name}`; for a frozen set, see data_manifests/recorded."
            raise ReleaseError(f"stored scores are out of date: {listed(stale)}", name, remedy)


def report(profile: Profile, data_root: Path | None, sums: str) -> tuple[str, str]:
    """Search the book for restricted text, and return the report on it in Markdown, and the content of the
    file ``sums``, which the report names: the checksums of the book's files.

    Raises
    ------
    ReleaseError
        If stored scores are out of date, there is no book, or a data set that was in its reach is not under
        ``data_root``.
    """
    output_dir = BUILD / profile.name
    refuse_out_of_date(profile)
    if not steps.book_index(output_dir).is_file():
        raise ReleaseError("no rendered book", profile.name, f"Run `radbook build --profile {profile.name}`.")
    mark, corpora = output_dir / IN_REACH, restricted_in(data_root)
    reached = mark.read_text(encoding="utf-8").split() if mark.is_file() else []
    if gone := sorted(set(reached) - set(corpora)):
        problem = f"{listed(gone)} was available to this build but cannot be searched for"
        raise ReleaseError(problem, "--data-root", "Name the folder that holds it.")
    book.search(output_dir, data_root)
    top = steps.book_folder(output_dir)
    files = [(digest, (top / name).stat().st_size, name) for name, digest in checksums.of_folder(top).items()]
    lines = "".join(f"{digest}  {name}\n" for digest, _, name in files)
    template = environment(Path(__file__).parent).get_template("release.md.j2")
    content = template.render(
        profile=profile,
        made=f"{datetime.now(UTC):%d %B %Y}",
        version=__version__,
        commit=(provenance.git("describe", "--always", "--dirty") or "unknown").strip(),
        corpora=corpora,
        searched=[
            (name, file.path, checksums.of_file(path))
            for name in corpora
            for file in load_manifest(name).files
            if (path := find(name, data_root, file.path)) is not None
        ],
        recall=recall(),
        confidence=CONFIDENCE,
        unseen=guard.UNSEEN,
        statements=manifests.sending_statements(data_root) if data_root else [],
        files=files,
        sums=sums,
        digest_of_sums=checksums.of_text(lines),
    )
    return f"{content}\n", lines


def with_restricted_data() -> dict[Path, list[str]]:
    """Return the builds and runs below ``build/`` that could read restricted data, with the data sets; raises
    OSError if a mark cannot be read."""
    marks = sorted(BUILD.rglob(IN_REACH))
    outer = [mark for mark in marks if not {other.parent for other in marks} & set(mark.parent.parents)]
    return {mark.parent: mark.read_text(encoding="utf-8", errors="replace").split() for mark in outer}


def purge() -> None:
    """Remove everything that :func:`with_restricted_data` lists, and Snakemake's logs. A folder's mark goes
    last, so that a folder that an error leaves is still listed.

    Raises
    ------
    BusyError
        If a build is running in one of the folders; nothing is removed then.
    OSError
        If something cannot be removed.
    """
    with ExitStack() as locks:
        folders = with_restricted_data()
        for folder in folders:
            locks.enter_context(steps.locked(folder / BUILD_LOCK))
        for folder in folders:
            atomic.discard(_ENGINE, *(part for part in folder.iterdir() if part.name != IN_REACH))
            atomic.discard(folder)
