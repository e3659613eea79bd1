"""How the rules read sentences of Open-i that were labelled by hand before the rules met them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

import radeval_lib.rules.reader as findings
from radeval_lib import plots
from radeval_lib.data import openi
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import RadevalError
from radeval_lib.rules.judge import judge_pair
from radeval_lib.rules.reader import read
from radeval_lib.stats.measures import f1
from radeval_lib.stats.proportions import wilson
from radeval_lib.stats.resampling import sum_estimates
from radeval_lib.study.runs import Run

_LABELS = Path(findings.__file__).parent / "labels" / "openi_sentences.csv"


def labels() -> pd.DataFrame:
    """The labels, with columns report, section, start, end, draw, presence, key and locations.

    One row per finding or normal statement; a sentence without any has one row with an empty key.
    """
    return pd.read_csv(_LABELS, dtype={"report": str}, keep_default_na=False)


def hand_checks() -> pd.DataFrame:
    """What was decided by hand before the rules met it: ``drawn`` from where with which ``seed``, and of how
    many (``number``) the rules were ``right`` at that first meeting, with Wilson's 95% interval of the share.

    Of pairs the letters of significant errors count, of sentences presence, side, degree and change of every
    finding. The rules were corrected after each row, so that the next one is a first meeting again.
    """
    checks = pd.read_csv(_LABELS.with_name("hand_checks.csv"), dtype={"seed": "Int64"})
    ends = [wilson(right, number) for right, number in zip(checks["right"], checks["number"], strict=True)]
    return checks.assign(
        share=checks["right"] / checks["number"], low=[a for a, _ in ends], high=[b for _, b in ends]
    )


def _open_i(path: Path) -> Callable[[str, str, int, int], str]:
    """What gives the words of Open-i's file by report, section, start and end."""
    by_id = {report.id: report for report in openi.load(path)}

    def words(report: str, section: str, start: int, end: int) -> str:
        if report not in by_id:
            raise RadevalError(
                f"report {report} has labels and is not there", "Open-i", "Fetch the set again."
            )
        text = reveal(getattr(by_id[report], section))
        if end > len(text):
            raise RadevalError(
                f"a label of report {report} lies beyond its {section}", "Open-i", "Fetch the set again."
            )
        return text[start:end]

    return words


def counts(path: Path) -> pd.DataFrame:
    """What the reader finds in each labelled sentence of Open-i.

    One row per sentence and measure (``presence``, ``location``): ``sentence``, ``draw``, ``measure``,
    ``hit``, ``gold``, ``found``.
    """
    words, keys = _open_i(path), ["report", "section", "start", "end", "draw"]
    rows = []
    for number, ((*where, draw), part) in enumerate(labels().groupby(keys, sort=False)):
        for measure, (gold, found) in _sets(words(*where), part).items():
            rows.append((number, draw, measure, len(gold & found), len(gold), len(found)))
    return pd.DataFrame(rows, columns=["sentence", "draw", "measure", "hit", "gold", "found"])


def pair_answers(path: Path) -> pd.DataFrame:
    """Whether the judge says of pairs of Open-i's sentences what was said of them by hand.

    A pair is a sentence of a report's findings, the reference, and one of its impression. One row per pair:
    ``draw``, and 1 or 0 for whether both agree that there is a ``false`` and a ``missing`` finding.
    """
    words, pairs = _open_i(path), pd.read_csv(_LABELS.with_name("openi_pairs.csv"), dtype={"report": str})
    rows = []
    for row in pairs.itertuples():
        reference = words(row.report, "findings", row.findings_start, row.findings_end)
        candidate = words(row.report, "impression", row.impression_start, row.impression_end)
        named = {error.category for error in judge_pair(reference, candidate).errors}
        same = ("a" in named) == bool(row.false), ("b" in named) == bool(row.missing)
        rows.append((row.draw, *map(int, same)))
    return pd.DataFrame(rows, columns=["draw", "false", "missing"])


def answers(run: Run) -> tuple[pd.DataFrame, pd.DataFrame]:
    """:func:`counts` and :func:`pair_answers`: of Open-i's file, or as they are recorded."""
    if (path := run.find("openi")) is not None:
        return counts(path), pair_answers(path)
    parts = run.recording("openi").parts
    return parts["sentences"], parts["pairs"]


_Found = set[tuple[str, str]]
"""Observations, each with its presence or with one of its places."""


def _sets(text: str, part: pd.DataFrame) -> Mapping[str, tuple[_Found, _Found]]:
    """By measure, what the labels of a sentence say and what the reader finds."""
    found = read(text).findings
    stated = part[(part["key"] != "") & (part["presence"] != "normal")]
    labelled_places = {
        (row.key, place.removesuffix(" lung"))
        for row in stated.itertuples()
        for place in row.locations.split(";")
        if place
    }
    found_places = {
        (finding.observation, place)
        for finding in found
        for location in finding.locations
        if (place := f"{location.side or ''} {_place(location.place)}".strip())
    }
    presence = set(zip(stated["key"], stated["presence"], strict=True))
    return {
        "presence": (presence, {(finding.observation, finding.presence) for finding in found}),
        "location": (labelled_places, found_places),
    }


def _place(key: str | None) -> str:
    """A place as the labels have it, which number no ribs and name no lung."""
    return "ribs" if key is not None and key.startswith("rib_") else "" if key in (None, "lung") else str(key)


def reading(run: Run, found: pd.DataFrame) -> pd.DataFrame:
    """Micro-F1 of presence and location by draw of labelled sentences, of which ``found`` are the
    :func:`counts`.

    Columns ``draw``, ``measure`` and ``first``, when the reader first met the draw; ``sentences``, ``value``
    as the reader is, and ``low`` and ``high``, its 95% interval from drawing sentences. A draw without first
    scores is a ValueError.
    """
    scores = pd.read_csv(_LABELS.with_name("first_scores.csv"))
    if unknown := set(found["draw"]) - set(scores["draw"]):
        raise ValueError(f"no first scores of the draw {min(unknown)!r}")
    right = 2 * scores.pop("hit")
    scores["first"] = right / (right + scores.pop("missed") + scores.pop("added"))
    rows = []
    for (draw, measure), part in found.groupby(["draw", "measure"], sort=False):
        values = part[["hit", "found", "gold"]].to_numpy(float)
        rng, n = run.rng(f"reading {draw} {measure}"), run.profile.resamples
        (found_f1,) = sum_estimates(values, lambda sums: f1(sums)[..., None], resamples=n, rng=rng)
        rows.append({"draw": draw, "measure": measure, "sentences": len(part), **vars(found_f1)})
    return scores.merge(pd.DataFrame(rows), on=["draw", "measure"])


def draw_reading(axis: Axes, scores: pd.DataFrame) -> None:
    """:func:`reading`: hollow when first met, filled with its interval as the reader is."""
    draws = list(scores["draw"].unique())
    for number, (measure, part) in enumerate(scores.groupby("measure", sort=False)):
        places = np.array([draws.index(draw) for draw in part["draw"]]) + (-0.13, 0.13)[number]
        marker, colour = plots.MARKERS[number], plots.PALETTE[number]
        axis.scatter(part["first"], places, marker=marker, facecolors="none", edgecolors=colour, s=55)
        plots.series(axis, part, places, number, str(measure))
    plots.lines(axis, draws)
    axis.set(xlabel="Micro-F1", ylabel="Draw of sentences")
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
