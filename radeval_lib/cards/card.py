"""A card: what is known of a metric after it has scored the pairs, as JSON, a page and a paragraph."""

from __future__ import annotations

import datetime
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from radeval_lib import atomic, data, origin
from radeval_lib.cards import agreement, pairs, systems
from radeval_lib.cards.behaviour import behaviour, costs, filled
from radeval_lib.cards.scoring import OfCommand, OfFile, OfFunction, OfMetric, Scored, Scorer
from radeval_lib.data import recorded as recordings
from radeval_lib.errors import RadevalError, check_choice, plain
from radeval_lib.metrics import base
from radeval_lib.metrics.base import MetricError
from radeval_lib.metrics.choosing import choose
from radeval_lib.metrics.table_files import check_target
from radeval_lib.paths import DATA
from radeval_lib.stats.correlations import varies
from radeval_lib.stats.inputs import FloatArray

SCHEMA = 1
Tuned = Literal["yes", "no", "unknown"]
Half = Literal["all", "development", "report"]
RESAMPLES, QUICK_RESAMPLES = 5_000, 1_000  # of RadPref; Holm's correction over every two metrics needs 2,640
_OTHER_RESAMPLES = 1_000
_RATED_NAMES = {"radpref": "RadPref", "mts_dialog": "MTS-Dialog"}
OWN_TUNING: Mapping[str, Tuned] = {}
"""Metrics of this library that were fitted to RadPref's ratings: none was."""


@dataclass(frozen=True)
class Card:
    """What is known of a metric.

    Attributes
    ----------
    data : as ``data_manifests/schemas/metric_card.schema.json`` describes it.
    scores : the pairs with ``score``, as the metric gave them; texts are left out.
    message : what the metric's first exception said; empty where there was none.
    """

    data: dict[str, Any]
    scores: pd.DataFrame = field(repr=False)
    message: str = field(default="", repr=False)

    @property
    def paragraph(self) -> str:
        """What a methods or results section can say."""
        from radeval_lib.cards.page import paragraph

        return paragraph(self.data)

    def html(self) -> str:
        """The page."""
        from radeval_lib.cards.page import page

        return page(self.data)

    def _repr_html_(self) -> str:
        from radeval_lib.cards.page import summary

        return summary(self.data)

    def write(self, path: str | Path) -> tuple[Path, Path]:
        """Write the page to ``path`` and the JSON beside it; looks that the JSON there has are kept."""
        target = Path(path)
        beside = target.with_suffix(".json")
        if beside == target:
            raise MetricError("the page would stand where the JSON stands", target.name, "Name it *.html.")
        for one in (target, beside):
            check_target(one, [])
        content = {**self.data, "looks": [*looks_of(beside), *self.data["looks"]]}
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
        from radeval_lib.cards.page import page

        with atomic.new_files(target, beside) as (html, numbers):
            html.write_text(page(content), encoding="utf-8")
            numbers.write_text(f"{text}\n", encoding="utf-8")
        return target, beside


def looks_of(path: Path) -> list[dict[str, Any]]:
    """The looks at RadPref that a card's JSON counts; none where there is no file."""
    if not path.exists():
        return []
    try:
        looks = json.loads(path.read_text(encoding="utf-8"))["looks"]
        if not all(isinstance(one, dict) for one in looks):
            raise TypeError
    except (ValueError, KeyError, TypeError):
        raise MetricError("not a card's JSON, so its looks cannot be kept", path.name, "Move it.") from None
    return list(looks)


def metric_card(
    metric: Callable[..., Any] | str | Scorer,
    *,
    name: str = "",
    batched: bool = False,
    higher_is_better: bool = True,
    value_range: tuple[float, float] | None = None,
    tuned: Tuned = "unknown",
    half: Half = "all",
    quick: bool = False,
    data_root: str | Path | None = "",
    rated: bool = True,
    known: Mapping[str, FloatArray] | None = None,
    seed: int = 0,
    command: str = "",
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Card:
    """Make the card of a metric.

    Parameters
    ----------
    metric : a function ``(reference, candidate) -> number``; the name of a metric of this library; or a
        :class:`~radeval_lib.cards.scoring.Scorer`, such as a command or a file of scores.
    name : what the card calls it; default: the function's own name.
    batched : the function takes two lists of texts and gives a number for each pair.
    higher_is_better, value_range : as its author declares; of a metric of this library, its own.
    tuned : whether anything of it was fitted to RadPref's ratings.
    half : ``development`` or ``report`` keeps to a fixed half of RadPref's cases.
    quick : fewer edited reports and resamples, no clusters, and no outputs of real systems.
    data_root : the folder with RadPref, MTS-Dialog and Open-i; default: ``RADEVAL_DATA_ROOT``. Without
        one, or with None, only generated reports are edited.
    rated : whether people's ratings are looked at.
    known : scores of rated sets that are known already, by set, in its order.
    seed : of resampling and permutation.
    command : what a reader runs to make this card with a data root; for the page.
    progress : called with pairs done and all pairs, the first time before any is scored.

    Raises
    ------
    MetricError
        If the metric scores no pair, gives something other than a number, or a declaration is not one.
    """
    for value, choices, where in ((tuned, Tuned, "tuned"), (half, Half, "half")):
        check_choice(value, choices, where, MetricError)
    root = root_of(data_root)
    scorer, own, name, why = _scorer(metric, name, batched)
    if own:
        kind = base.get(own)
        higher_is_better, value_range, tuned = kind.higher_is_better, kind.range, OWN_TUNING.get(own, "no")
    if value_range is not None and not value_range[0] < value_range[1]:
        raise MetricError(f"the range {value_range[0]:g} to {value_range[1]:g} is empty", "range")
    recorded = {one: recordings.load(one) for one in (pairs.RATED if rated else ())}
    held = dict(known or {})
    if own:  # a metric of this library meets rated sets by its recorded scores alone
        held |= {one: of.table[own].to_numpy() for one, of in recorded.items() if own in of.about["columns"]}
    frame = pairs.build(root, quick=quick, rated=[one for one in recorded if one not in held])
    progress(0, len(frame) if scorer else 0)
    scored = scorer.score(frame, lambda done: progress(done, len(frame))) if scorer else None
    sign = 1 if higher_is_better else -1
    oriented = filled(frame, sign * scored.values) if scored else None
    met = _rated(frame, oriented, held, sign)
    resamples = QUICK_RESAMPLES if quick else RESAMPLES
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "metric": {
            "name": name,
            **(scorer.about if scorer else {"kind": "name", "version": None, "sha256": None}),
            "higher_is_better": higher_is_better,
            "range": _bounds(value_range),
            "tuned_on_radpref": tuned,
        },
        "settings": {"seed": seed, "quick": quick, "half": half, "resamples": resamples},
        "pairs": pairs.counts(frame) if scored else {},
        "recorded": sorted(held),
        "edited": frame.attrs["source"],
        "radpref": None,
        "mts_dialog": None,
        "systems": None,
        "edits": None,
        "behaviour": None,
        "looks": [],
        "not_tried": [],
        "command": command,
        **origin.environment(),
    }
    untried: list[dict[str, str]] = content["not_tried"]
    for one, reason in _missing(met, root, recorded, rated).items():
        untried.append({"what": one, "why": reason})
    if "radpref" in met:
        content["radpref"] = _radpref(
            recorded["radpref"], met["radpref"], name, own, half, resamples, seed, quick, untried
        )
        content["looks"] = [_look(name, half, met["radpref"])]
    if "mts_dialog" in met:
        content["mts_dialog"] = _facts(recorded["mts_dialog"], met["mts_dialog"], name, own, seed, untried)
    if scored is not None and oriented is not None:
        content["edits"] = costs(frame, oriented, resamples=_OTHER_RESAMPLES, seed=seed)
        if root is not None and (frame["part"] == "systems").any():
            content["systems"] = systems.effects(
                frame, oriented, systems.strata(root), sign=sign, resamples=_OTHER_RESAMPLES, seed=seed
            )
        else:
            why = "a quick card leaves them out" if quick else "the data root does not hold them"
            why = "there is no data root" if root is None else why
            untried.append({"what": "committed outputs of real systems", "why": why})
        content["behaviour"] = behaviour(frame, scored, value_range, higher_is_better)
    else:
        untried.append({"what": "edits and behaviour", "why": why})
    if scorer and why:
        untried.append({"what": "edits by the models that the metric was published with", "why": why})
    if isinstance(scorer, OfCommand | OfFile):
        untried.append({"what": "batch size", "why": "the pairs were scored outside this program"})
    elif not batched and not own:
        untried.append({"what": "batch size", "why": "the metric takes one pair at a time"})
    if isinstance(scorer, OfFile):
        untried.append({"what": "seconds per pair", "why": "a file does not record them"})
    content = _plain(content)
    table = frame[["id", "part", "row", "kind"]].assign(score=scored.values if scored else math.nan)
    return Card(content, table, scored.message if scored else "")


def root_of(given: str | Path | None) -> Path | None:
    """The data root; what looks for one, and its packages, is loaded only where there may be one."""
    if given is None or not (str(given) or os.environ.get("RADEVAL_DATA_ROOT") or DATA.is_dir()):
        return None
    return data.data_root(str(given) or None)


def _scorer(
    metric: Callable[..., Any] | str | Scorer, name: str, batched: bool
) -> tuple[Scorer | None, str, str, str]:
    """Who scores; the name in this library; what the card calls it; and why nobody can score, or what
    stands in for its models."""
    if isinstance(metric, str):
        kind = base.get(metric)
        try:
            chosen = choose(metric)
        except RadevalError as error:
            return None, metric, kind.title or metric, str(error)
        note = chosen.stand_ins.get(metric, "")
        return OfMetric(chosen.metrics[metric]), metric, kind.title or metric, note
    if isinstance(metric, OfMetric):
        kind = base.get(metric.name)
        return metric, metric.name, kind.title or metric.name, ""
    if isinstance(metric, Scorer):
        shown, scorer = name or "the metric", metric
    elif callable(metric):
        shown, scorer = (
            name or getattr(metric, "__name__", type(metric).__name__),
            OfFunction(metric, batched),
        )
    else:
        raise MetricError(f"{type(metric).__name__} is not a metric", "metric", "Give a function or a name.")
    if plain(shown, 60) != shown:
        raise MetricError(f"{shown!r} is not a name for a table", "name", "Give a shorter one that prints.")
    titles = {base.get(one).title or one for one in base.names()}
    return scorer, "", f"{shown} (this card)" if shown in titles else shown, ""


def _rated(
    frame: pd.DataFrame, oriented: FloatArray | None, held: Mapping[str, FloatArray], sign: int
) -> dict[str, FloatArray]:
    """Oriented scores of each rated set that was scored or is known."""
    found: dict[str, FloatArray] = {}
    for name in pairs.RATED:
        here = (frame["part"] == name).to_numpy()
        if name in held:
            own = sign * np.asarray(held[name], dtype=np.float64)
            found[name] = np.where(np.isfinite(own), own, np.nanmin(own))
        elif here.any() and oriented is not None:
            found[name] = oriented[here]
    return found


def _missing(
    met: Mapping[str, FloatArray],
    root: Path | None,
    recorded: Mapping[str, recordings.Recording],
    rated: bool,
) -> dict[str, str]:
    missing = {}
    for name, values in met.items():
        if len(values) != len(recorded[name].table):
            raise MetricError(f"{len(values)} scores for {len(recorded[name].table)} pairs", name)
    for name in pairs.RATED:
        if name not in met:
            where = "there is no data root" if root is None else "the data root does not hold its texts"
            where = where if rated else "it was not asked for"
            missing[f"agreement with people, {_RATED_NAMES[name]}"] = where
    return missing


def _radpref(
    recording: recordings.Recording,
    mine: FloatArray,
    name: str,
    own: str,
    half: Half,
    resamples: int,
    seed: int,
    quick: bool,
    untried: list[dict[str, str]],
) -> dict[str, Any] | None:
    keep = in_half(recording.table["case"].to_numpy(), half)
    others = {key: of[keep] for key, of in agreement.rivals(recording, own).items()}
    table, cases = recording.table[keep], recording.table["case"].to_numpy()[keep]
    if not varies(mine[keep], cases):
        why = "nearly all candidates have the same score, so no correlation is defined"
        untried.append({"what": "agreement with people, RadPref", "why": why})
        return None
    of = agreement.RadPref(
        table, {name: mine[keep], **others}, name, resamples=resamples, seed=seed, tests=half == "all"
    )
    if not of.tested:
        why = f"{of.power()['cases']} cases, fewer than {agreement.LEAST_CASES}, or half of the set"
        untried.append({"what": "tests and clusters", "why": f"{why}: intervals only"})
    elif quick:
        untried.append({"what": "clusters", "why": "a quick card draws too few resamples for them"})
    return {
        "power": of.power(),
        "null_band": of.null_band(),
        "by_grade": of.by_grade(),
        "clusters": of.clusters() if of.tested and not quick else None,
        "by_difference": of.by_difference(),
        "choices": of.choices(),
        "by_radiologist": of.by_rater(),
        "length": of.length(),
    }


def in_half(cases: Sequence[int] | np.ndarray[Any, Any], half: Half) -> np.ndarray[Any, Any]:
    """Which rows are of a half of RadPref: cases of even number are for development."""
    even = np.asarray(cases) % 2 == 0
    return {"all": np.ones_like(even), "development": even, "report": ~even}[half]


def _facts(
    recording: recordings.Recording,
    mine: FloatArray,
    name: str,
    own: str,
    seed: int,
    untried: list[dict[str, str]],
) -> dict[str, Any] | None:
    if not varies(mine, recording.table["case"].to_numpy()):
        why = "nearly all summaries have the same score, so no correlation is defined"
        untried.append({"what": "agreement with counted facts, MTS-Dialog", "why": why})
        return None
    scores = {name: mine, **agreement.rivals(recording, own)}
    table = recording.table
    rates = agreement.facts(table, scores, resamples=_OTHER_RESAMPLES, seed=seed)
    return {"summaries": len(table), "cases": int(table["case"].nunique()), "rates": rates}


def _look(name: str, half: Half, mine: FloatArray) -> dict[str, Any]:
    """That RadPref's grades were looked at, and by which scores."""
    from radeval_lib import checksums

    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    scores = " ".join(f"{value:.9g}" for value in mine)
    return {"date": today, "metric": name, "half": half, "scores": checksums.of_text(scores)[:12]}


def _bounds(of: tuple[float, float] | None) -> list[float | None] | None:
    return None if of is None else [end if math.isfinite(end) else None for end in of]


def _plain(value: Any) -> Any:
    """Numbers as JSON has them: what is not finite is null."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


__all__ = ["Card", "OfCommand", "OfFile", "Scored", "metric_card"]
