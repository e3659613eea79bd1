"""Metrics by name, each with models that are available: its own, or fallback models, which are reported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from radeval_lib.errors import ModelError, RadevalError
from radeval_lib.metrics.base import Metric, MetricError
from radeval_lib.metrics.by_name import create, get, names, settings_of
from radeval_lib.models.packaged import PACKAGED
from radeval_lib.models.pretrained import RADGRAPH, RULES, hub_answers
from radeval_lib.models.standing_in import check_installed, is_available, stand_in
from radeval_lib.paths import display_path

ALL = "all"
"""In place of a name: every metric whose models are on this machine, or have a stand-in there."""

Wanted = str | Iterable[str] | Mapping[str, Mapping[str, Any]]


class Chosen(NamedTuple):
    """Metrics that are ready to score, by name, in the order in which they were asked for; what those have
    that have not their own models; and why others cannot score."""

    metrics: dict[str, Metric]
    stand_ins: dict[str, str]
    left_out: dict[str, str]


def choose(wanted: Wanted) -> Chosen:
    """Metrics by a name, names, or settings by name; the name ``all`` stands for all that are not named.

    A model that no setting names is the metric's default, if that is on this machine or, for a metric that is
    asked for by name, can be fetched. Otherwise something stands in for it: the encoder that the installation
    brings, or a model that a build on this machine has trained.

    Raises
    ------
    MetricError
        If a metric or setting is unknown, or no metric is left that can score.
    """
    settings = settings_by_name(wanted)
    everything = [name for name in names() if name not in settings] if ALL in settings else []
    settings.pop(ALL, None)
    chosen = Chosen({}, {}, {})
    for name in [one for one in everything if "judge" in get(one).needs]:
        everything.remove(name)
        chosen.left_out[name] = f"no language model is named as its judge. Give one as {name}.judge."
    failed: list[RadevalError] = []
    for name in [*settings, *everything]:
        try:
            models, note = _models(name, settings.get(name, {}), fetch=name in settings)
        except ModelError as error:
            failed.append(MetricError(error.what, name, error.remedy))
            chosen.left_out[name] = f"{error.what}. {error.remedy}".rstrip()
            continue
        chosen.metrics[name] = create(name, **{**fitting(name, models), **models, **settings.get(name, {})})
        if chosen.metrics[name].models().get("judge") == RULES:
            note = "judged by rules: the scores are not those of the published metric"
        if note:
            chosen.stand_ins[name] = note
    if not chosen.metrics:
        raise failed[0] if failed else MetricError("no metric", remedy=f"Metrics: {', '.join(names())}.")
    return chosen


def settings_by_name(wanted: Wanted) -> dict[str, Mapping[str, Any]]:
    """Settings by name of what is wanted, in that order.

    Raises
    ------
    MetricError
        If it is neither a name, nor names, nor settings by name, or ``all`` has settings.
    """
    listed = [*wanted] if isinstance(wanted, Iterable) and not isinstance(wanted, str) else [wanted]
    settings = [*wanted.values()] if isinstance(wanted, Mapping) else [{} for _ in listed]
    if not all(isinstance(name, str) for name in listed) or not all(
        isinstance(own, Mapping) for own in settings
    ):
        remedy = "Give a name, names, or settings by name."
        raise MetricError(f"{wanted!r} names no metrics", "metrics", remedy)
    by_name = dict(zip(listed, settings, strict=True))
    if by_name.get(ALL):
        raise MetricError("settings for all metrics", ALL, "Name each metric that they are for.")
    return by_name


def fitting(name: str, models: Mapping[str, str]) -> dict[str, Any]:
    """Settings of a metric that go with models which are not its defaults."""
    found: dict[str, Any] = {}
    if "pooling" in settings_of(name) and PACKAGED in models.get("encoder", ""):
        found["pooling"] = "mean"  # as the packaged MiniLM was trained
    if "layer" in settings_of(name) and "encoder" in models:
        found["layer"] = None  # the default is the layer of the default model
    return found


def _models(name: str, settings: Mapping[str, Any], fetch: bool) -> tuple[dict[str, str], str]:
    """The fallback models, by role, for defaults that are not available; and how to report them."""
    defaults, found = settings_of(name), dict[str, str]()
    for role in get(name).needs:
        check_installed(str(settings.get(role, defaults[role])))
        default = str(defaults[role])
        if role in settings or is_available(default):
            continue
        if fetch and not default.startswith(RADGRAPH) and hub_answers():
            continue
        other = stand_in(role)
        if other is None:
            raise ModelError(
                f"its {role} {default!r} is not on this machine, and nothing there stands in for it",
                remedy=f"Give another as {name}.{role}.",
            )
        found[role] = other
    parts = (
        f"{role} {display_path(Path(other)) if Path(other).exists() else other} instead of {defaults[role]}"
        for role, other in found.items()
    )
    said = "; ".join(parts)
    return found, f"{said}: the scores are not those of the published metric" if said else ""
