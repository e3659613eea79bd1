"""Ratings of one's own: a CSV table with a row per rater and candidate.

A manifest with ``reader: ratings`` is read so. Columns: ``case`` (whose candidates are compared), ``id`` (of
the candidate within its case), ``candidate`` and ``reference`` (texts), ``rater``, and ``grade``, a number of
which higher is better. Further columns are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.manifests import load_manifest
from radeval_lib.data.readers import Find, Reader, Records
from radeval_lib.data.records import RatedPair
from radeval_lib.data.restricted import mark, reveal

COLUMNS = ("case", "id", "candidate", "reference", "rater", "grade")


def load(paths: Iterable[Path], name: str, restricted: bool) -> list[RatedPair]:
    """Return the ratings of one or several tables, in their order; together they are one set of ratings.

    Parameters
    ----------
    paths : CSV files with the columns of :data:`COLUMNS`.
    name : the data set, which restricted texts name.
    restricted : whether the texts must not be shown, see :func:`radeval_lib.data.restricted.mark`.

    Raises
    ------
    FormatError
        Where a cell is empty or no grade, a case or id has a slash, a rater grades a candidate twice, rows of
        one candidate have different texts, or candidates of one case have different references: it names the
        file and the line, within a file and across them.
    """
    parse = partial(_rating, name=name, restricted=restricted)
    entries = chain.from_iterable(reading.read_csv(path, COLUMNS) for path in paths)
    texts: dict[str, str] = {}
    references: dict[str, str] = {}

    def checked(row: reading.Entry) -> Iterator[RatedPair]:
        for one in parse(row):
            case = one.id.rpartition("/")[0]
            candidate, reference = reveal(one.candidate), reveal(one.reference)
            if texts.setdefault(one.id, candidate) != candidate:
                raise FormatError(
                    "another text of a candidate that stands above",
                    row.where,
                    "Rows with one case and id are about one candidate: give each text an id of its own.",
                )
            if references.setdefault(case, reference) != reference:
                raise FormatError(
                    "another reference of a case that stands above",
                    row.where,
                    "A case has one reference: give each reference a case of its own.",
                )
            yield one

    return reading.records(entries, checked, lambda one: (one.id, one.rater), "id, case and rater")


def _rating(row: reading.Entry, name: str, restricted: bool) -> Iterator[RatedPair]:
    cells = {column: row.text(column) for column in COLUMNS}
    if empty := [column for column, text in cells.items() if not text]:
        raise FormatError(f"no {empty[0]}", row.where, "Every row needs all of its cells.")
    if slashed := [column for column in ("case", "id") if "/" in cells[column]]:
        raise FormatError(f"a slash in {slashed[0]}", row.where, "Put another sign in its place.")
    yield RatedPair(
        id=f"{cells['case']}/{cells['id']}",
        reference=mark(cells["reference"], name, restricted),
        candidate=mark(cells["candidate"], name, restricted),
        rating=row.number("grade"),
        rater=cells["rater"],
    )


def _counts(records: Records) -> dict[str, int]:
    return {
        "cases": len({one.id.rpartition("/")[0] for one in records}),
        "candidates": len({one.id for one in records}),
        "raters": len({one.rater for one in records}),
    }


def reader(name: str) -> Reader:
    """Return how a data set with ``reader: ratings`` is read."""
    manifest = load_manifest(name)

    def read(find: Find) -> Records:
        paths = [path for file in manifest.files if (path := find(file.path))]
        return load(paths, name, manifest.restricted)

    return Reader(read, _counts)
