"""Compare the findings that the rules read in sentences of Open-i with manual labels.

The labels were assigned before the rules read the sentences.
"""

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


def read_labels() -> pd.DataFrame:
    """Return the manual labels, with one row per finding or normal statement of a sentence.

    Columns are ``report``, ``section``, ``start`` and ``end`` (offsets of the sentence in the section, in
    characters), ``draw`` (name of the sample to which the sentence belongs), ``presence``, ``key`` (the
    finding) and ``locations`` (separated by semicolons). A sentence without a finding or normal statement has
    one row with an empty key.
    """
    return pd.read_csv(_LABELS, dtype={"report": str}, keep_default_na=False)


def _make_passage_reader(path: Path) -> Callable[[str, str, int, int], str]:
    """Return a function that looks up a passage of Open-i's reports.

    ``path`` is Open-i's file. The function takes the report's id, the name of the section, and the start and
    end of the passage, as character offsets in the section; it returns the passage.
    """
    reports = {report.id: report for report in openi.load(path)}
    return lambda report, section, start, end: reveal(getattr(reports[report], section))[start:end]


def count_observations(path: Path) -> pd.DataFrame:
    """Count how many observations of each labelled sentence the rules read correctly.

    ``path`` is Open-i's file. The returned table has one row per sentence and measure, with columns
    ``sentence`` (its number from 0), ``draw``, ``measure`` (``presence``: an observation is a finding with
    its presence; ``location``: a finding with one of its locations), and the numbers of observations ``hit``
    (labelled and read), ``gold`` (labelled by hand) and ``found`` (read by the rules).
    """
    read_passage, keys = _make_passage_reader(path), ["report", "section", "start", "end", "draw"]
    rows = []
    for number, ((*position, draw), labels) in enumerate(read_labels().groupby(keys, sort=False)):
        for measure, (gold, detected) in _collect_observations(read_passage(*position), labels).items():
            rows.append((number, draw, measure, len(gold & detected), len(gold), len(detected)))
    return pd.DataFrame(rows, columns=["sentence", "draw", "measure", "hit", "gold", "found"])


def compare_pairs(path: Path) -> pd.DataFrame:
    """Return whether the rule-based judge agrees with the manual labels on pairs of sentences.

    ``path`` is Open-i's file. A pair is a sentence of a report's findings, as the reference, and a sentence
    of the same report's impression, as the candidate. The returned table has one row per pair, with columns
    ``draw``, ``false`` (1 if judge and label agree on whether the candidate has a false finding, else 0) and
    ``missing`` (1 if they agree on whether the candidate misses a finding, else 0).
    """
    pairs = pd.read_csv(_LABELS.with_name("openi_pairs.csv"), dtype={"report": str})
    rows, read_passage = [], _make_passage_reader(path)
    for row in pairs.itertuples():
        reference = read_passage(row.report, "findings", row.findings_start, row.findings_end)
        candidate = read_passage(row.report, "impression", row.impression_start, row.impression_end)
        categories = {error.category for error in judge_pair(reference, candidate).errors}
        agrees = ("a" in categories) == bool(row.false), ("b" in categories) == bool(row.missing)
        rows.append((row.draw, *map(int, agrees)))
    return pd.DataFrame(rows, columns=["draw", "false", "missing"])


def load_counts_and_answers(run: Run) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables of :func:`count_observations` and :func:`compare_pairs`.

    They are computed from Open-i's file if it is in the data root; otherwise, stored tables are returned.
    """
    if (path := run.find("openi")) is not None:
        return count_observations(path), compare_pairs(path)
    parts = run.recording("openi").parts
    return parts["sentences"], parts["pairs"]


_Observations = set[tuple[str, str]]
"""Observations as pairs of a finding with its presence, or of a finding with one of its locations."""


def _collect_observations(text: str, rows: pd.DataFrame) -> Mapping[str, tuple[_Observations, _Observations]]:
    """Return the observations in a sentence, as labelled by hand and as read by the rules.

    The result is a mapping from measure (``presence``, ``location``) to these two sets. ``text`` is the
    sentence, and ``rows`` are its rows of :func:`read_labels`.
    """
    findings = reader.read(text).findings
    finding_rows = rows[(rows["key"] != "") & (rows["presence"] != "normal")]
    labelled_locations = {
        (row.key, location_name.removesuffix(" lung"))
        for row in finding_rows.itertuples()
        for location_name in row.locations.split(";")
        if location_name
    }
    found_locations = {
        (finding.observation, location_name)
        for finding in findings
        for location in finding.locations
        if (location_name := f"{location.side or ''} {_get_place_label(location.place)}".strip())
    }
    presences = set(zip(finding_rows["key"], finding_rows["presence"], strict=True))
    return {
        "presence": (presences, {(finding.observation, finding.presence) for finding in findings}),
        "location": (labelled_locations, found_locations),
    }


def _get_place_label(key: str | None) -> str:
    """Return the name of a place of the lexicon in the labels.

    The labels do not number the ribs: each is ``ribs``. The name is empty for the lung, which they do not
    name, and if ``key`` is None.
    """
    return "ribs" if key is not None and key.startswith("rib_") else "" if key in (None, "lung") else str(key)
