"""Tables of rated pairs, and a loader of a user's ratings.

A data set with ``reader: ratings`` in its manifest has CSV files with a row per rater and candidate. Columns:
``case`` (its candidates are compared), ``id`` (of the candidate within its case), ``candidate`` and
``reference`` (texts), ``rater``, and ``grade``, a number; higher is better. Other columns are ignored.
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
from radeval_lib.data.restricted import mark, reveal

COLUMNS = ("case", "id", "candidate", "reference", "rater", "grade")
_LOWER_IS_BETTER = {"errors": lambda count: -count, "error_share": lambda share: 1 - share}


def rating_table(records: Sequence[RatedPair]) -> pd.DataFrame:
    """Return one row per pair, in the order in which the pairs first occur.

    Returns
    -------
    DataFrame
        By ``id``: ``reference`` and ``candidate`` (restricted texts are revealed, so never show the table),
        ``rating`` (mean over raters), ``case`` (a number for each reference). Numbers of errors turn negative
        and shares of errors are subtracted from 1 (as in RaTEScore's Figure 3), so that a good metric
        correlates positively with every scale.

    Raises
    ------
    DataError
        If there are no ratings, or ratings on several scales.
    """
    scales = sorted({record.scale for record in records})
    if len(scales) != 1:
        problem = f"ratings on several scales: {', '.join(scales)}" if scales else "no ratings"
        raise DataError(problem, remedy="Name one scale of a data set, such as radpref/grade.")
    frame = pd.DataFrame(
        {
            "id": record.id,
            "reference": reveal(record.reference),
            "candidate": reveal(record.candidate),
            "rating": record.rating,
        }
        for record in records
    )
    columns = {"reference": "first", "candidate": "first", "rating": "mean"}
    table = frame.groupby("id", sort=False).agg(columns)
    if turn := _LOWER_IS_BETTER.get(scales[0]):
        table["rating"] = turn(table["rating"])
    table["case"] = pd.factorize(table["reference"])[0]
    return table


def text_table(records: Sequence[TextPair]) -> pd.DataFrame:
    """Return ``case``, ``reference`` and ``candidate`` by id. Restricted texts are revealed, so never show
    the table."""
    rows = {pair.id: (pair.case, reveal(pair.reference), reveal(pair.candidate)) for pair in records}
    return pd.DataFrame.from_dict(rows, orient="index", columns=["case", "reference", "candidate"])


def load(paths: Iterable[Path], name: str, restricted: bool) -> list[RatedPair]:
    """Return the ratings of one or several tables, in order, as one set.

    Parameters
    ----------
    paths : CSV files with the columns of :data:`COLUMNS`.
    name : name of the data set, for refusals to show its texts.
    restricted : whether the texts must not be shown (:func:`radeval_lib.data.restricted.mark`).

    Raises
    ------
    FormatError
        If a cell is empty or a grade is not a number, a case or id has a slash, a rater grades a candidate
        twice, or rows of one candidate or case, in any of the files, have different texts or references. The
        error names the file and the line.
    """
    texts: dict[str, str] = {}
    references: dict[str, str] = {}

    def rating(row: reading.Entry) -> RatedPair:
        case, number, candidate, reference, rater = (row.take(name, reading.Filled) for name in COLUMNS[:-1])
        if "/" in case or "/" in number:
            raise FormatError("a case or id contains a slash", row.where, "Use another character.")
        if texts.setdefault(f"{case}/{number}", candidate) != candidate:
            remedy = "Rows with one case and id are about one candidate: give each text an id of its own."
            raise FormatError("an earlier row gives this candidate another text", row.where, remedy)
        if references.setdefault(case, reference) != reference:
            remedy = "A case has one reference: give each reference a case of its own."
            raise FormatError("an earlier row gives this case another reference", row.where, remedy)
        return RatedPair(
            id=f"{case}/{number}",
            reference=mark(reference, name, restricted),
            candidate=mark(candidate, name, restricted),
            rating=row.take("grade", reading.Number),
            rater=rater,
        )

    rows = chain.from_iterable(reading.read_csv(path, COLUMNS) for path in paths)
    return reading.records(rows, rating, lambda pair: (pair.id, pair.rater), "id, case and rater")


def reader(name: str) -> Read:
    """Return the function that reads a data set with ``reader: ratings``."""
    manifest = load_manifest(name)

    def read(find: Find) -> Records:
        paths = [path for file in manifest.files if (path := find(file.path))]
        return load(paths, name, manifest.restricted)

    return read
