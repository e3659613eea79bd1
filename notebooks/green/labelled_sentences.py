"""Compare what the rules read in sentences of Open-i with labels made before the rules met them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from radeval_lib.data import openi
from radeval_lib.data.restricted import reveal
from radeval_lib.rules import reader
from radeval_lib.rules.judge import judge_pair
from radeval_lib.study.runs import Run

_LABELS = Path(reader.__file__).parent / "labels" / "openi_sentences.csv"


def labels() -> pd.DataFrame:
    """Return the labels, with columns report, section, start, end, draw, presence, key and locations.

    One row per finding or normal statement; a sentence without any has one row with an empty key.
    """
    return pd.read_csv(_LABELS, dtype={"report": str}, keep_default_na=False)


def _words_of(path: Path) -> Callable[[str, str, int, int], str]:
    """Return a function that gives the words of Open-i's file by report, section, start and end."""
    reports = {report.id: report for report in openi.load(path)}
    return lambda report, section, start, end: reveal(getattr(reports[report], section))[start:end]


def counts(path: Path) -> pd.DataFrame:
    """Return the number of the reader's findings in each labelled sentence of Open-i.

    One row per sentence and measure (``presence``, ``location``): ``sentence``, ``draw``, ``measure``,
    ``hit``, ``gold``, ``found``.
    """
    words, keys = _words_of(path), ["report", "section", "start", "end", "draw"]
    rows = []
    for number, ((*where, draw), part) in enumerate(labels().groupby(keys, sort=False)):
        for measure, (gold, ours) in _sets(words(*where), part).items():
            rows.append((number, draw, measure, len(gold & ours), len(gold), len(ours)))
    return pd.DataFrame(rows, columns=["sentence", "draw", "measure", "hit", "gold", "found"])


def pair_answers(path: Path) -> pd.DataFrame:
    """Return whether the judge's answers on pairs of Open-i's sentences match those by hand.

    A pair is a sentence of a report's findings, the reference, and one of its impression. One row per pair:
    ``draw``, and 1 or 0 for agreement on whether there is a ``false``, and a ``missing``, finding.
    """
    words, pairs = _words_of(path), pd.read_csv(_LABELS.with_name("openi_pairs.csv"), dtype={"report": str})
    rows = []
    for row in pairs.itertuples():
        reference = words(row.report, "findings", row.findings_start, row.findings_end)
        candidate = words(row.report, "impression", row.impression_start, row.impression_end)
        named = {error.category for error in judge_pair(reference, candidate).errors}
        same = ("a" in named) == bool(row.false), ("b" in named) == bool(row.missing)
        rows.append((row.draw, *map(int, same)))
    return pd.DataFrame(rows, columns=["draw", "false", "missing"])


def answers(run: Run) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return :func:`counts` and :func:`pair_answers` from Open-i's file or, if it is missing, as stored."""
    if (path := run.find("openi")) is not None:
        return counts(path), pair_answers(path)
    parts = run.recording("openi").parts
    return parts["sentences"], parts["pairs"]


_Observed = set[tuple[str, str]]
"""Observations, each with its presence or one of its locations."""


def _sets(text: str, part: pd.DataFrame) -> Mapping[str, tuple[_Observed, _Observed]]:
    """Return the labels of a sentence for each measure, by hand and as the reader finds them."""
    findings = reader.read(text).findings
    stated = part[(part["key"] != "") & (part["presence"] != "normal")]
    labelled_places = {
        (row.key, location_name.removesuffix(" lung"))
        for row in stated.itertuples()
        for location_name in row.locations.split(";")
        if location_name
    }
    found_places = {
        (finding.observation, location_name)
        for finding in findings
        for location in finding.locations
        if (location_name := f"{location.side or ''} {_place(location.place)}".strip())
    }
    presence = set(zip(stated["key"], stated["presence"], strict=True))
    return {
        "presence": (presence, {(finding.observation, finding.presence) for finding in findings}),
        "location": (labelled_places, found_places),
    }


def _place(key: str | None) -> str:
    """Return a place as in the labels, which do not number ribs or name the lung."""
    return "ribs" if key is not None and key.startswith("rib_") else "" if key in (None, "lung") else str(key)
