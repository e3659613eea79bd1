"""Rated pairs as one table: a row per pair, its raters averaged, higher ratings better."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from radeval_lib.data.errors import DataError
from radeval_lib.data.records import RatedPair, TextPair
from radeval_lib.data.restricted import reveal

_LOWER_IS_BETTER = {"errors": lambda count: -count, "error_share": lambda share: 1 - share}


def rating_table(records: Sequence[RatedPair]) -> pd.DataFrame:
    """Return one row per pair, in the order in which the pairs first occur.

    Ratings on several scales, texts that differ under one id, or no rating at all raise :class:`DataError`.
    Counts of errors turn negative and shares of errors are taken from 1 (the rating of RaTEScore's Figure 3),
    so that a good metric correlates positively with every scale. By ``id``: ``reference`` and ``candidate``
    (restricted texts are laid open, so the table must not be shown), ``rating`` (mean over raters), ``case``
    (a number for each reference).
    """
    if not records:
        raise DataError("no rated pairs")
    scales = sorted({record.scale for record in records})
    if len(scales) > 1:
        raise DataError(
            f"ratings on several scales: {', '.join(scales)}", "", "Choose one, as in radpref/grade."
        )
    frame = pd.DataFrame(
        {
            "id": record.id,
            "reference": reveal(record.reference),
            "candidate": reveal(record.candidate),
            "rating": record.rating,
        }
        for record in records
    )
    pairs = frame.groupby("id", sort=False)
    if several := int((pairs[["reference", "candidate"]].nunique() > 1).any(axis=1).sum()):
        raise DataError(f"{several} id(s) stand for different texts")
    table = pairs.agg({"reference": "first", "candidate": "first", "rating": "mean"})
    turn = _LOWER_IS_BETTER.get(scales[0])
    if turn is not None:
        table["rating"] = turn(table["rating"])
    table["case"] = pd.factorize(table["reference"])[0]
    return table


def text_table(records: Sequence[TextPair]) -> pd.DataFrame:
    """Return ``case``, ``reference`` and ``candidate`` by id; restricted texts are laid open, so the table
    must not be shown. An id that stands there twice raises :class:`DataError`."""
    rows = {one.id: (one.case, reveal(one.reference), reveal(one.candidate)) for one in records}
    if len(rows) < len(records):
        raise DataError(f"{len(records) - len(rows)} pair(s) have the id of another")
    return pd.DataFrame.from_dict(rows, orient="index", columns=["case", "reference", "candidate"])
