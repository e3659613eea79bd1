"""Tabulate rated pairs, and load a user's ratings.

A data set with ``reader: ratings`` in its manifest has CSV files with one row per rater and candidate.
Columns: ``case`` (name of the case, whose candidates are compared with each other), ``id`` (of the candidate
within its case), ``candidate`` and ``reference`` (texts), ``rater`` (name), and ``grade`` (a number, where
higher is better). Other columns are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import pandas as pd

from radeval_lib.data import reading
from radeval_lib.data.errors import DataError, FormatError
from radeval_lib.data.manifests import load_manifest
from radeval_lib.data.readers import Find, Read, Records
from radeval_lib.data.records import RatedPair, TextPair
from radeval_lib.data.restricted import mark_restricted, reveal

COLUMNS = ("case", "id", "candidate", "reference", "rater", "grade")
# A mapping from each scale on which lower is better to the function that reverses it.
_REVERSED = {"errors": lambda count: -count, "error_share": lambda share: 1 - share}


def tabulate_ratings(records: Sequence[RatedPair]) -> pd.DataFrame:
    """Return one row per rated pair, with its mean rating, in order of first occurrence.

    Returns
    -------
    DataFrame
        Index ``id``; ``reference`` and ``candidate`` (restricted texts are revealed, so never show the
        table); ``rating``, the mean over raters, where higher is better; ``case``, a number for each
        reference, from 0. Numbers of errors are negated and shares of errors subtracted from 1 (as in
        RaTEScore's Figure 3), so that a good metric correlates positively with every scale.

    Raises
    ------
    DataError
        If there are no ratings, or ratings on several scales.
    """
    scales = sorted({record.scale for record in records})
    if len(scales) != 1:
        problem = f"ratings on several scales: {', '.join(scales)}" if scales else "no ratings"
        raise DataError(problem, remedy="Name one scale of a rated data set, such as radpref/grade.")
    frame = pd.DataFrame(
        {
            "id": record.id,
            "reference": reveal(record.reference),
            "candidate": reveal(record.candidate),
            "rating": record.rating,
        }
        for record in records
    )
    aggregation = {"reference": "first", "candidate": "first", "rating": "mean"}
    table = frame.groupby("id", sort=False).agg(aggregation)
    if reverse := _REVERSED.get(scales[0]):
        table["rating"] = reverse(table["rating"])
    table["case"] = pd.factorize(table["reference"])[0]
    return table


def tabulate_texts(records: Sequence[TextPair]) -> pd.DataFrame:
    """Return a DataFrame of the pairs: index ``id``; columns ``case``, ``reference``, ``candidate`` (str).

    Of pairs with the same id, only the last is kept. Restricted texts are revealed, so never show the table.
    """
    rows = {pair.id: (pair.case, reveal(pair.reference), reveal(pair.candidate)) for pair in records}
    return pd.DataFrame.from_dict(rows, orient="index", columns=["case", "reference", "candidate"])


def load(paths: Iterable[Path], name: str, restricted: bool) -> list[RatedPair]:
    """Return the ratings in one or several CSV files, in order, as one set.

    Parameters
    ----------
    paths : files with the columns of :data:`COLUMNS`.
    name : name of the data set, for the error message if its texts are shown.
    restricted : whether the texts must not be shown (:func:`radeval_lib.data.restricted.mark_restricted`).

    Raises
    ------
    FormatError
        If a file is not CSV, a column is missing, a cell is empty, a grade is not a number, a case or id has
        a slash, a rater grades a candidate twice, or two rows (of any of the files) give one candidate
        different texts, or one case different references. The error names the file and, if known, the line.
    """
    texts: dict[str, str] = {}
    references: dict[str, str] = {}

    def parse_rating(row: reading.Entry) -> RatedPair:
        case, short_id, candidate, reference, rater = (row.take(key, reading.Filled) for key in COLUMNS[:-1])
        if "/" in case or "/" in short_id:
            raise FormatError("a case or id contains a slash", row.where, "Rename it without a slash.")
        if texts.setdefault(f"{case}/{short_id}", candidate) != candidate:
            problem = "an earlier row with this case and id has a different candidate text"
            raise FormatError(problem, row.where, "Give each candidate of a case a separate id.")
        if references.setdefault(case, reference) != reference:
            problem = "an earlier row with this case has a different reference"
            raise FormatError(problem, row.where, "Give each reference a separate case.")
        return RatedPair(
            id=f"{case}/{short_id}",
            reference=mark_restricted(reference, name, restricted=restricted),
            candidate=mark_restricted(candidate, name, restricted=restricted),
            rating=row.take("grade", reading.Number),
            rater=rater,
        )

    rows = chain.from_iterable(reading.read_csv(path, COLUMNS) for path in paths)
    return reading.parse_records(rows, parse_rating, lambda pair: (pair.id, pair.rater), "id, case and rater")


def make_reader(name: str) -> Read:
    """Return the function that reads the data set ``name``, whose manifest must have ``reader: ratings``.

    The function concatenates the records of the set's files that exist. Raises ManifestError if there is no
    data set ``name``.
    """
    manifest = load_manifest(name)

    def read(find: Find) -> Records:
        paths = [path for file in manifest.files if (path := find(file.path))]
        return load(paths, name, manifest.restricted)

    return read
