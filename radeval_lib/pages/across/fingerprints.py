"""What each metric notices: plain edits of real or generated reports, and what they cost."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from radeval_lib import plots
from radeval_lib.data.records import Report
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics.base import Metric
from radeval_lib.pages.across.which_judge import scored
from radeval_lib.report_text import statements
from radeval_lib.stats.resampling import mean_of_sums, sum_estimates
from radeval_lib.study.runs import Run

REPORTS = 100
"""Texts that are edited."""
STEPS = (1, 3, 6)
"""How many sentences are replaced by another report's."""
Edit = Callable[[list[str], str], str | None]
"""The edited text, given the sentences of a text and a sentence of another report; None where nothing in the
text can be edited so."""
_SAME = {
    "no evidence of": "no sign of",
    "within normal limits": "normal",
    "unremarkable": "normal",
    "cardiomediastinal silhouette": "outline of heart and mediastinum",
    "cardiac silhouette": "outline of the heart",
    "osseous structures": "bones",
    "airspace disease": "airspace opacity",
    "is seen": "is visible",
    "is identified": "is visible",
}
_DEGREES = {
    "mild": "severe",
    "mildly": "severely",
    "small": "large",
    "minimal": "marked",
    "minimally": "markedly",
}
_SIDES = {"left": "right", "right": "left"}
_SOME = re.compile(
    r"\b(?:[Tt]here (?:is|are) )?([Nn]o|[Ww]ithout) (?=(?:focal|acute|large|pleural|pneumo|evidence))"
)


def _swapped(words: Mapping[str, str]) -> Edit:
    both = re.compile(r"\b(" + "|".join(sorted(words, key=len, reverse=True)) + r")\b", re.IGNORECASE)

    def other(found: re.Match[str]) -> str:
        new = words[found.group().lower()]
        return new.capitalize() if found.group()[0].isupper() else new

    def edit(parts: list[str], _: str) -> str | None:
        text = _joined(parts)
        changed = both.sub(other, text)
        return changed if changed != text else None

    return edit


def _joined(parts: Sequence[str]) -> str:
    return " ".join(f"{part.strip().rstrip('.')}." for part in parts)


def _affirmed(parts: list[str], _: str) -> str | None:
    """The first denial taken back: "No pleural effusion." becomes "Pleural effusion."."""
    for place, part in enumerate(parts):
        found = _SOME.search(part)
        if found and found.start() == 0:
            rest = part[found.end() :].removeprefix("evidence of ")
            return _joined([*parts[:place], rest[:1].upper() + rest[1:], *parts[place + 1 :]])
    return None


HARMLESS: dict[str, Edit] = {
    "order reversed": lambda parts, _: _joined(parts[::-1]),
    "a sentence twice": lambda parts, _: _joined([parts[0], *parts]),
    "in capitals": lambda parts, _: _joined(parts).upper(),
    "in other words": _swapped(_SAME),
}
"""What changes nothing that the report says."""
HARMFUL: dict[str, Edit] = {
    "a “no” lost": _affirmed,
    "left for right": _swapped(_SIDES),
    "mild for severe": _swapped(_DEGREES | {new: old for old, new in _DEGREES.items()}),
    "a sentence left out": lambda parts, _: _joined([*parts[:2], *parts[3:]]),
    "a sentence added": lambda parts, extra: _joined([*parts, extra]),
}
"""What changes what the report says."""
EDITS = HARMLESS | HARMFUL


def texts(reports: Sequence[Report]) -> list[list[str]]:
    """The sentences of the first reports whose findings have at least six, no text twice."""
    found: dict[str, list[str]] = {}
    for report in reports:
        parts = [one.text for one in statements(reveal(report.findings))]
        if len(parts) >= max(STEPS):
            found.setdefault(_joined(parts), parts)
    return list(found.values())[:REPORTS]


def edited(reports: Sequence[list[str]]) -> pd.DataFrame:
    """Every text beside itself, each of its edits, copies with some of another report's sentences in place of
    its own, and another report whole: ``report``, ``edit`` (``same``, ``another report``, a name of
    :data:`EDITS`, or how many sentences are another report's), ``reference``, ``candidate``."""
    rows = []
    for number, parts in enumerate(reports):
        other = reports[(number + len(reports) // 2) % len(reports)]
        candidates: dict[str, str | None] = {"same": _joined(parts), "another report": _joined(other)}
        candidates |= {name: edit(parts, other[0]) for name, edit in EDITS.items()}
        for count in STEPS:
            candidates[str(count)] = _joined([*other[:count], *parts[count:]])
        rows += [
            (number, name, _joined(parts), text) for name, text in candidates.items() if text is not None
        ]
    return pd.DataFrame(rows, columns=["report", "edit", "reference", "candidate"])


def losses(metrics: Mapping[str, Metric], pairs: pd.DataFrame) -> pd.DataFrame:
    """What each candidate scores below an identical text, one column a metric, beside ``report`` and
    ``edit``."""
    values = scored(metrics, pairs["reference"], pairs["candidate"])
    best = values[(pairs["edit"] == "same").to_numpy()].to_numpy()
    return pd.concat([pairs[["report", "edit"]], best[pairs["report"]] - values], axis=1)


def costs(frame: pd.DataFrame, edits: Sequence[str], run: Run) -> pd.DataFrame:
    """What edits cost, as a share of what another report costs on the same texts: ``metric``, ``edit``,
    ``value``, ``low``, ``high`` (reports drawn anew), ``n`` (reports)."""
    wide = frame.pivot(index="report", columns="edit")
    rows = []
    for metric in wide.columns.unique(0):
        for edit in edits:
            sums = wide[metric][[edit, "another report"]].dropna().to_numpy(np.float64)
            if not len(sums):
                continue
            (found,) = sum_estimates(sums, mean_of_sums, resamples=run.profile.resamples, rng=run.rng(edit))
            rows.append((metric, edit, found.value, found.low, found.high, len(sums)))
    return pd.DataFrame(rows, columns=["metric", "edit", "value", "low", "high", "n"])


def heat_map(axes: Axes, table: pd.DataFrame, harmless: int) -> None:
    """Costs by metric (rows) and edit (columns), with a gap after the harmless edits."""
    look = {"vmin": 0, "vmax": 1, "cmap": "Blues", "annot_kws": {"fontsize": 9}}
    plots.heat_map(axes, table, slant=35, fmt="z.0%", **look)
    axes.axvline(harmless, color=plots.PALETTE[1], linewidth=3)
    axes.set(xlabel="", ylabel="")
