"""The report on a rendered book that a data officer signs before publication: it repeats no text."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from scipy.stats import binomtest

from radeval_lib import __version__, atomic, checksums, provenance
from radeval_lib.data import guard, guarded_texts, statements
from radeval_lib.data.manifests import restricted_in
from radeval_lib.errors import RadevalError, listed
from radeval_lib.paths import BUILD, IN_REACH, MANIFESTS
from radeval_lib.pipeline import book, rendered, searched
from radeval_lib.study import recordings
from radeval_lib.study.profiles import Profile

RECALL = MANIFESTS / "leak_recall.csv"
"""How many planted leaks of each kind were found; a nightly test writes it."""
CONFIDENCE = 0.95  # of the lower end of the share of leaks that is found


class ReleaseError(RadevalError):
    """A book on which no report can be made."""


def recall() -> pd.DataFrame:
    """Return planted leaks by kind: ``kind``, ``planted``, ``found``, and ``at_least``, the lower end of the
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
    """Refuse a release of an edition whose stored scores the code would not give.

    Raises
    ------
    ReleaseError
        Naming the sets and the metrics.
    """
    for name, metrics in recordings.of_edition(profile.roles.values(), profile.needs_data_root).items():
        if stale := recordings.out_of_date(name, metrics):
            raise ReleaseError(
                f"stored scores are out of date: {listed(stale)}",
                name,
                f"`radbook record {name}` scores it again; of a frozen set, see data_manifests/recorded.",
            )


def report(profile: Profile, data_root: Path | None, sums: str) -> tuple[str, str]:
    """Return the report in Markdown, after the guard has searched the book once more, and the list of
    checksums that it calls ``sums``.

    Raises
    ------
    ReleaseError
        If stored scores are out of date, the book is not as it was rendered, or what was in its reach
        cannot be searched for as it was then.
    """
    output_dir = BUILD / profile.name
    refuse_out_of_date(profile)
    in_reach = _in_reach(profile, output_dir, data_root)
    book.search(output_dir, data_root)
    top = rendered.folder(output_dir)
    files = [(digest, (top / name).stat().st_size, name) for name, digest in checksums.of_folder(top).items()]
    lines = "".join(f"{digest}  {name}\n" for digest, _, name in files)
    texts = guarded_texts.restricted_texts(data_root) if data_root else {}
    template = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    ).get_template("release.md.j2")
    content = template.render(
        profile=profile,
        made=f"{datetime.now(UTC):%d %B %Y}",
        version=__version__,
        commit=_commit() or "unknown",
        corpora=restricted_in(data_root),
        searched=[
            (name, file, sum(1 for _ in texts[name].of_file(file)), digest) for name, file, digest in in_reach
        ],
        recall=recall(),
        confidence=CONFIDENCE,
        unseen=guard.UNSEEN,
        statements=statements.statements(data_root) if data_root else [],
        files=files,
        sums=sums,
        digest_of_sums=checksums.of_text(lines),
    )
    return content, lines


def _in_reach(profile: Profile, output_dir: Path, data_root: Path | None) -> list[searched.Searched]:
    """Return the restricted files in reach; a book that is not as it was rendered is refused, and one whose
    restricted files are not those of its build."""
    build = "Run `radbook build` first."
    if changed := rendered.changed(output_dir):
        raise ReleaseError(f"not as it was rendered: {listed(changed)}", profile.name, build)
    mark = output_dir / IN_REACH
    reached = mark.read_text(encoding="utf-8").split() if mark.is_file() else []
    if gone := sorted(set(reached) - set(restricted_in(data_root))):
        what = f"{listed(gone)} was in reach of this build, and cannot be searched for"
        raise ReleaseError(what, "--data-root", "Name the folder that holds it.")
    (smallest, before), now = searched.noted(output_dir), searched.files(data_root)
    if other := sorted({searched_file.file for searched_file in set(before) ^ set(now)}):
        what = f"not the files that were in reach of this build: {listed(other)}"
        remedy = "Name the folder that holds them, or run `radbook build` again."
        raise ReleaseError(what, "--data-root", remedy)
    if smallest != profile.smallest_count:
        what = f"smallest_count was {smallest} when the book was built, not {profile.smallest_count}"
        raise ReleaseError(what, profile.name, build)
    return now


def _commit() -> str:
    """Return the commit of the checkout, with ``-dirty`` where files differ from it; empty where there is
    none."""
    return (provenance.git("describe", "--always", "--dirty") or "").strip()
