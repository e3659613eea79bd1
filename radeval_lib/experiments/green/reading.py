"""The reader of findings against labels made by hand on Open-i's sentences.

The labels are kept by report number and character offsets, without any text: Open-i's licence allows no
derived text. They came in three draws of sentences, none twice, from reports whose number is a multiple of
five; words for the reader were chosen on the other reports. The reader was mended after each draw was scored,
so that what it makes of a draw *when it first met it* is a fair figure, and what it makes of it today is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

import radeval_lib.findings as findings
from radeval_lib.data.records import Report
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import RadevalError
from radeval_lib.findings import Location, read
from radeval_lib.stats.resampling import drawn_counts

_FILE = Path(findings.__file__).parent / "labels" / "openi_sentences.csv"
_STABLE = {"silhouette_stable": "silhouette"}
MEASURES = ("presence", "normal statements", "location")
ENDS = (0.025, 0.975)


def labels() -> pd.DataFrame:
    """The labels, with columns report, section, start, end, draw, presence, key and locations.

    One row a finding or normal statement; a sentence without any has one row with an empty key.
    """
    return pd.read_csv(_FILE, dtype={"report": str}, keep_default_na=False)


def first_scores() -> pd.DataFrame:
    """What the reader made of each draw when it first met it: counts of micro-F1 by draw and measure."""
    return pd.read_csv(_FILE.with_name("first_scores.csv"))


def _place(where: Location) -> str:
    place = "" if where.place in (None, "lung") else str(where.place)
    return f"{where.side or ''} {place}".strip()


def counts(reports: Sequence[Report]) -> pd.DataFrame:
    """What the reader finds in each labelled sentence.

    Returns
    -------
    DataFrame
        One row a sentence and measure of :data:`MEASURES`: ``sentence``, ``draw``, ``measure``, ``hit``,
        ``gold``, ``found``.

    Raises
    ------
    RadevalError
        If a labelled report is not among ``reports``.
    """
    by_id = {report.id: report for report in reports}
    rows = []
    for number, (where, part) in enumerate(
        labels().groupby(["report", "section", "start", "end", "draw"], sort=False)
    ):
        report, section, start, end, draw = where
        if report not in by_id:
            raise RadevalError(
                f"report {report} has labels and is not there", "Open-i", "Fetch the set anew."
            )
        text = reveal(getattr(by_id[report], section))[start:end]
        for measure, (gold, found) in _sets(text, part).items():
            rows.append((number, draw, measure, len(gold & found), len(gold), len(found)))
    return pd.DataFrame(rows, columns=["sentence", "draw", "measure", "hit", "gold", "found"])


def _sets(text: str, part: pd.DataFrame) -> Mapping[str, tuple[set[tuple[str, str]], set[tuple[str, str]]]]:
    reading = read(text)
    normal = part["presence"] == "normal"
    stated = part[(part["key"] != "") & ~normal]
    placed = {
        (row.key, place.removesuffix(" lung"))
        for row in stated.itertuples()
        for place in str(row.locations).split(";")
        if place
    }
    return {
        "presence": (
            set(zip(stated["key"], stated["presence"], strict=True)),
            {(one.observation, one.presence) for one in reading.findings},
        ),
        "normal statements": (
            {(key, "normal") for key in part["key"][normal]},
            {(_STABLE.get(one.key, one.key), "normal") for one in reading.normals},
        ),
        "location": (
            placed,
            {
                (one.observation, _place(where))
                for one in reading.findings
                for where in one.locations
                if _place(where)
            },
        ),
    }


def micro_f1(table: pd.DataFrame, *, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Micro-F1 of each measure over the sentences, with 95 % intervals from drawing sentences.

    Returns
    -------
    DataFrame
        Index ``measure``; ``sentences``, ``gold``, ``value``, ``low``, ``high``.
    """
    rows = {}
    for measure, part in table.groupby("measure", sort=False):
        values = part[["hit", "gold", "found"]].to_numpy(float)
        draws = np.concatenate(
            [weights @ values for weights in drawn_counts(len(values), resamples, rng, len(values))]
        )
        with np.errstate(invalid="ignore"):
            low, high = np.nanquantile(2 * draws[:, 0] / (draws[:, 1] + draws[:, 2]), ENDS)
        hit, gold, found = values.sum(axis=0)
        rows[measure] = (len(part), int(gold), 2 * hit / (gold + found), low, high)
    columns = ["sentences", "gold", "value", "low", "high"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("measure")
