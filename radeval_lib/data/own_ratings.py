"""Ratings of one's own: a CSV table with a row per rater and candidate.

A manifest with ``reader: ratings`` is read so. Columns: ``case`` (whose candidates are compared), ``id`` (of
the candidate within its case), ``candidate`` and ``reference`` (texts), ``rater``, and ``grade``, a number of
which higher is better. Further columns are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.manifests import load_manifest
from radeval_lib.data.readers import Find, Reader, Records
from radeval_lib.data.records import RatedPair
from radeval_lib.data.restricted import mark, reveal

COLUMNS = ("case", "id", "candidate", "reference", "rater", "grade")


def load(path: Path, name: str, restricted: bool) -> list[RatedPair]:
    """The ratings of a table, in its order.

    Raises
    ------
    FormatError
        Where a cell is empty or no grade, a case or id has a slash, or a rater grades a candidate twice: it
        names the line. Where rows
        of one candidate have different texts, it names which candidate of the file that is, from 1; where
        candidates of one case have different references, the file alone.
    """
    parse = partial(_rating, name=name, restricted=restricted)
    ratings = reading.records(
        reading.read_csv(path, COLUMNS), parse, lambda one: (one.id, one.rater), "id, case and rater"
    )
    first: dict[str, RatedPair] = {}
    for one in ratings:
        known = first.setdefault(one.id, one)
        if (known.reference, known.candidate) != (one.reference, one.candidate):
            number = list(first).index(one.id) + 1
            raise FormatError(
                f"rows of candidate {number} have different texts",
                path.name,
                "Rows with one case and id are about one candidate: give each text an id of its own.",
            )
    references = {one.id.rpartition("/")[0]: reveal(one.reference) for one in ratings}
    if any(reveal(one.reference) != references[one.id.rpartition("/")[0]] for one in ratings):
        raise FormatError(
            "candidates of one case have different references",
            path.name,
            "A case has one reference: give each reference a case of its own.",
        )
    return ratings


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
    """How a data set with ``reader: ratings`` is read."""
    manifest = load_manifest(name)

    def read(find: Find) -> Records:
        return [
            rating
            for file in manifest.files
            if (path := find(file.path))
            for rating in load(path, name, manifest.restricted)
        ]

    return Reader(read, _counts)
