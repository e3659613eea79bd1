"""A card: what is known of a metric after it has scored the pairs, as JSON, a page and a paragraph."""

from __future__ import annotations

import html
import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib import atomic, data, provenance
from radeval_lib.data import recorded as recordings
from radeval_lib.errors import check_choice, naming_keywords
from radeval_lib.metric_cards import pairs, people, systems
from radeval_lib.metric_cards.behaviour import behaviour, costs, filled
from radeval_lib.metric_cards.people import OTHER_RESAMPLES, CardSettings, Half
from radeval_lib.metric_cards.scoring import Scored, Scorer
from radeval_lib.metric_cards.subject import Subject, Tuned, subject_of
from radeval_lib.metric_cards.words import paragraph
from radeval_lib.metrics.base import MetricError
from radeval_lib.metrics.pair_files import check_target
from radeval_lib.paths import DATA
from radeval_lib.stats.inputs import FloatArray

SCHEMA = 1
"""The version of the format of a card's JSON."""
_SYSTEMS = "committed outputs of real systems"
RESAMPLES, QUICK_RESAMPLES = 5_000, 1_000  # of RadPref; Holm's correction over every two metrics needs 2,640


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
        return paragraph(self.data)

    def html(self) -> str:
        """The page."""
        from radeval_lib.metric_cards.page import page

        return page(self.data)

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.paragraph)}</p>"

    def write(self, path: str | Path) -> tuple[Path, Path]:
        """Write the page to ``path`` and the JSON beside it; looks that the JSON there has are kept."""
        target = Path(path)
        beside = target.with_suffix(".json")
        if beside == target:
            raise MetricError("the page would stand where the JSON stands", target.name, "Name it *.html.")
        for place in (target, beside):
            check_target(place, [])
        content = {**self.data, "looks": [*looks_of(beside), *self.data["looks"]]}
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
        from radeval_lib.metric_cards.page import page

        with atomic.new_files(target, beside) as (whole, numbers):
            whole.write_text(page(content), encoding="utf-8")
            numbers.write_text(f"{text}\n", encoding="utf-8")
        return target, beside


def looks_of(path: Path) -> list[dict[str, Any]]:
    """The looks at RadPref that a card's JSON counts; none where there is no file."""
    if not path.exists():
        return []
    try:
        looks = json.loads(path.read_text(encoding="utf-8"))["looks"]
        if not all(isinstance(look, dict) for look in looks):
            raise TypeError
    except (ValueError, KeyError, TypeError):
        raise MetricError("not a card's JSON, so its looks cannot be kept", path.name, "Move it.") from None
    return list(looks)


@naming_keywords
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
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Card:
    """Make the card of a metric.

    Parameters
    ----------
    metric : a function ``(reference, candidate) -> number``; the name of a metric of this library; or a
        :class:`~radeval_lib.metric_cards.scoring.Scorer`, such as a command or a file of scores.
    name : what the card calls it; default: the function's own name. A metric of this library has its own.
    batched : the function takes two lists of texts and gives a number for each pair.
    higher_is_better, value_range : as its author declares; of a metric of this library, its own.
    tuned : whether anything of it was fitted to RadPref's ratings.
    half : ``development`` or ``report`` keeps to a fixed half of RadPref's cases.
    quick : fewer edited reports and resamples, no clusters, and no outputs of real systems.
    data_root : the folder with RadPref, MTS-Dialog and Open-i; default: ``RADEVAL_DATA_ROOT``. Without
        one, or with None, only generated reports are edited.
    rated : whether people's ratings are looked at.
    known : scores of rated sets that are known already, by set
        (:data:`radeval_lib.metric_cards.pairs.RATED`), one for each row in its order; one that is not finite
        counts as the worst.
    seed : of resampling and permutation, 0 or more.
    command : what a reader runs to make this card with a data root; for the page.
    progress : called with pairs done and all pairs, the first time before any is scored.

    Raises
    ------
    MetricError
        If the metric scores no pair, gives something other than a number, or a declaration is not one; if
        ``known`` names no set that is looked at, or has another number of scores.
    """
    check_choice(half, Half, "half", MetricError)
    if seed < 0:
        raise MetricError(f"{seed} is below 0", "seed", "Give a whole number from 0.")
    settings = CardSettings(seed, quick, half, QUICK_RESAMPLES if quick else RESAMPLES)
    subject = subject_of(
        metric, name, batched=batched, higher_is_better=higher_is_better, value_range=value_range, tuned=tuned
    )
    root, scorer = root_of(data_root), subject.scorer
    recorded = {name: recordings.load(name) for name in (pairs.RATED if rated else ())}
    held = people.checked_scores(known or {}, recorded)
    if own := subject.own:  # a metric of this library meets rated sets by its stored scores alone
        scored_before = {name: one for name, one in recorded.items() if own in one.about["columns"]}
        held |= {name: one.table[own].to_numpy() for name, one in scored_before.items()}
    frame = pairs.build(root, quick=quick, rated=[name for name in recorded if name not in held])
    progress(0, len(frame) if scorer else 0)
    scored = scorer.score(frame, lambda done: progress(done, len(frame))) if scorer else None
    oriented = filled(frame, subject.sign * scored.values) if scored else None
    rated_sets = people.rated_scores(frame, oriented, held, subject.sign)
    why = "there is no data root" if root is None else "the data root does not hold its texts"
    not_tried = people.without_scores(rated_sets, why if rated else "it was not asked for")
    agreed = people.on_rated_sets(rated_sets, recorded, subject, settings)
    tested = _edits_and_systems(subject, frame, scored, oriented, root, settings)
    not_tried |= agreed.not_tried | tested.not_tried | subject.not_tried()
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "metric": subject.as_dict(),
        "settings": settings._asdict(),
        "pairs": pairs.counts(frame) if scored else {},
        "recorded": sorted(held),
        "edited": frame.attrs["source"],
        **(agreed.content or {}),
        **(tested.content or {}),
        "looks": [people.look(subject.name, half, rated_sets["radpref"])] if "radpref" in rated_sets else [],
        "not_tried": [{"what": what, "why": why} for what, why in not_tried.items()],
        "command": command,
        **provenance.environment(),
    }
    table = frame[["id", "part", "row", "kind"]].assign(score=scored.values if scored else math.nan)
    return Card(_plain(content), table, scored.message if scored else "")


def _edits_and_systems(
    subject: Subject,
    frame: pd.DataFrame,
    scored: Scored | None,
    oriented: FloatArray | None,
    root: Path | None,
    settings: CardSettings,
) -> people.Part:
    """The parts ``systems``, ``edits`` and ``behaviour`` of a card, each None where it cannot be computed."""
    content: dict[str, Any] = {"systems": None, "edits": None, "behaviour": None}
    if scored is None or oriented is None:
        return people.Part(content, {"edits and behaviour": subject.note})
    not_tried = {}
    drawn = {"resamples": OTHER_RESAMPLES, "seed": settings.seed}
    content["edits"] = costs(frame, oriented, **drawn)
    content["behaviour"] = behaviour(frame, scored, subject.value_range, subject.higher_is_better)
    if root is None:
        not_tried[_SYSTEMS] = "there is no data root"
    elif (frame["part"] == "systems").any():
        content["systems"] = systems.effects(
            frame, oriented, systems.strata(root), sign=subject.sign, **drawn
        )
    elif settings.quick:
        not_tried[_SYSTEMS] = "a quick card leaves them out"
    else:
        not_tried[_SYSTEMS] = "the data root does not hold them"
    return people.Part(content, not_tried)


def root_of(given: str | Path | None) -> Path | None:
    """The data root; what looks for one, and its packages, is loaded only where there may be one."""
    if given is None or not (str(given) or os.environ.get("RADEVAL_DATA_ROOT") or DATA.is_dir()):
        return None
    return data.data_root(str(given) or None)


def _plain(value: Any) -> Any:
    """Numbers as JSON has them: what is not finite is null."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
