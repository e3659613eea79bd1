"""Metrics by name, each with its settings and with models that are available: its own, or substitutes."""

from __future__ import annotations

import inspect
import os
import typing
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from radeval_lib.errors import ModelError, RadevalError, complaint, did_you_mean
from radeval_lib.metrics.base import REGISTERED, Metric, MetricError
from radeval_lib.paths import display_path
from radeval_lib.registry import METRICS, RULES, module

ALL = "all"
"""In place of a name: every metric whose models, or substitutes for them, are on this machine."""
Wanted = str | Iterable[str] | Mapping[str, Mapping[str, Any]]


def names() -> list[str]:
    """Return the names of all metrics, sorted."""
    for home in METRICS.values():
        module(home)
    return sorted(REGISTERED)


def get(name: str) -> type[Metric]:
    """Return the metric class of that name.

    Raises
    ------
    MetricError
        If there is none; it names the nearest and lists all.
    """
    if not isinstance(name, str):
        remedy = f"Name one of {', '.join(names())}."
        raise MetricError(f"{type(name).__name__} is not a name", "metrics", remedy)
    if name in METRICS:
        module(METRICS[name])
    if name not in REGISTERED and name not in (every := names()):
        remedy = f"{did_you_mean(name.lower(), every)}Name one of {', '.join(every)}."
        raise MetricError(f"unknown metric {name!r}", "metrics", remedy)
    return REGISTERED[name]


def settings_of(name: str) -> dict[str, Any]:
    """Return the settings of a metric and their defaults."""
    parameters = inspect.signature(get(name)).parameters
    return {key: parameter.default for key, parameter in parameters.items()}


def create(name: str, /, **settings: Any) -> Metric:
    """Return a metric by its name and settings; a setting given as text is converted to its type.

    Raises
    ------
    MetricError
        If the metric or a setting is unknown, or a value is not of the setting's type or choices.
    """
    metric, defaults = get(name), settings_of(name)
    hints = typing.get_type_hints(metric.__init__)
    for key in settings:
        if key not in defaults:
            remedy = f"Use one of {', '.join(sorted(defaults))}." if defaults else "Leave it out."
            raise MetricError(f"unknown setting {key!r}", name, remedy)
    return metric(**{key: _checked(value, hints[key], f"{name}.{key}") for key, value in settings.items()})


def _checked(value: Any, hint: Any, where: str) -> Any:
    from pydantic import TypeAdapter, ValidationError

    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if type(None) in typing.get_args(hint) and isinstance(value, str) and value.lower() in ("", "none"):
        return None
    try:
        return TypeAdapter(hint).validate_python(value)
    except ValidationError as error:
        remedy = "Give a value that this setting takes."
        raise MetricError(complaint(error), where, remedy) from None


class Chosen(NamedTuple):
    """Metrics that are ready to score.

    Attributes
    ----------
    metrics : by name, in the order requested.
    substitutes : by metric, a note on the models that replace those it was published with.
    left_out : by metric, why it cannot score.
    """

    metrics: dict[str, Metric]
    substitutes: dict[str, str]
    left_out: dict[str, str]

    def leave_out(self, failed: Mapping[str, RadevalError]) -> None:
        """Leave out the metrics that failed; raises the first error if none would remain."""
        new = {name: error for name, error in failed.items() if name in self.metrics}
        if new and len(new) == len(self.metrics):
            raise next(iter(new.values()))
        for name, error in new.items():
            del self.metrics[name]
            self.substitutes.pop(name, None)
            self.left_out[name] = str(error)


def choose(wanted: Wanted) -> Chosen:
    """Return metrics from a name, names, or settings by name; ``all`` selects all that are not named.

    A model that no setting names is the metric's default, if that is on this machine or, for a metric that is
    asked for by name, can be fetched. Otherwise it gets a substitute: the encoder that the installation
    brings, or a model that a build on this machine has trained. With another encoder than the default,
    settings that are not given suit it (:func:`settings_for_models`).

    Raises
    ------
    MetricError
        If a metric or setting is unknown, or no metric is left that can score.
    """
    settings = settings_by_name(wanted)
    everything = [name for name in names() if name not in settings] if ALL in settings else []
    settings.pop(ALL, None)
    chosen, failed = Chosen({}, {}, {}), list[RadevalError]()
    for name in [*settings, *everything]:
        given = settings.get(name, {})
        if name in everything and "judge" in get(name).needs:
            chosen.left_out[name] = f"no language model is named as its judge. Give one as {name}.judge."
            continue
        try:
            models, note = _substitutes(name, given, fetch=name in settings)
        except ModelError as error:
            failed.append(MetricError(error.what, name, error.remedy))
            chosen.left_out[name] = f"{error.what}. {error.remedy}".rstrip()
            continue
        suiting = settings_for_models(name, {**given, **models})
        chosen.metrics[name] = create(name, **{**suiting, **models, **given})
        if note:
            chosen.substitutes[name] = note
    if not chosen.metrics:
        none = MetricError("no metric", "metrics", f"Name one of {', '.join(names())}.")
        raise failed[0] if failed else none
    return chosen


def settings_by_name(wanted: Wanted) -> dict[str, Mapping[str, Any]]:
    """Return the settings of each requested metric by its name, in that order."""
    given = wanted if isinstance(wanted, Iterable) and not isinstance(wanted, str) else [wanted]
    pairs = list(given.items()) if isinstance(given, Mapping) else [(name, {}) for name in given]
    for name, settings in pairs:
        if not (isinstance(name, str) and isinstance(settings, Mapping)):
            problem = "not a name with a mapping of settings"
            raise MetricError(problem, f"metrics, {name}", "Give names, or {name: {setting: value}}.")
    return dict(pairs)


def settings_for_models(name: str, models: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a metric that suit models (by setting) other than its defaults."""
    encoder, defaults = str(models.get("encoder", "")), settings_of(name)
    if encoder in ("", defaults.get("encoder")):
        return {}
    from radeval_lib.models.catalog import PACKAGED

    settings: dict[str, Any] = {}
    if "pooling" in defaults and PACKAGED in encoder:
        settings["pooling"] = "mean"  # as the packaged MiniLM was trained
    if "layer" in defaults:
        settings["layer"] = None  # the default is the layer of the default model
    return settings


def _substitutes(name: str, settings: Mapping[str, Any], fetch: bool) -> tuple[dict[str, str], str]:
    """Return substitutes, by role, for default models that are not available, and a note on them."""
    if not get(name).needs:
        return {}, ""
    from radeval_lib.models.catalog import RADGRAPH
    from radeval_lib.models.pretrained import check_installed, hub_answers, is_available, substitute_model

    defaults, substitutes = settings_of(name), dict[str, str]()
    if settings.get("judge", defaults.get("judge")) == RULES:
        return {}, "judged by rules: the scores are not those of the published metric"
    for role in get(name).needs:
        check_installed(str(settings.get(role, defaults[role])))
        default = str(defaults[role])
        if role in settings or is_available(default):
            continue
        if fetch and not default.startswith(RADGRAPH) and hub_answers():
            continue
        substitute = substitute_model(role)
        if substitute is None:
            problem = f"its {role} {default!r} is not on this machine, and nothing there can replace it"
            raise ModelError(problem, remedy=f"Give another as {name}.{role}.")
        substitutes[role] = substitute
    if not substitutes:
        return {}, ""
    text = "; ".join(
        f"{role} {display_path(Path(other)) if Path(other).exists() else other} instead of {defaults[role]}"
        for role, other in substitutes.items()
    )
    return substitutes, f"{text}: the scores are not those of the published metric"


def metric(name: str, model: Callable[[str], str], device: str, settings: Mapping[str, Any]) -> Metric:
    """Return a metric with the models configured for its roles.

    Parameters
    ----------
    model : from a role that ``settings`` do not configure to the name of its model.
    device : where the models run, unless ``settings`` say.
    settings : of the metric, if they differ from its defaults.

    Raises
    ------
    MetricError
        If the metric or a setting is unknown, or a value not of its type.
    """
    configured: dict[str, Any] = {role: model(role) for role in get(name).needs if role not in settings}
    if "device" in settings_of(name):
        configured["device"] = device
    suiting = settings_for_models(name, {**settings, **configured})
    return create(name, **{**configured, **suiting, **settings})
