"""Look-up and creation of metrics by name, with substitutes for models that are not available."""

from __future__ import annotations

import inspect
import os
import typing
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from radeval_lib.errors import ModelError, RadevalError, describe, did_you_mean
from radeval_lib.metrics.base import REGISTERED, Metric, MetricError
from radeval_lib.paths import display_path
from radeval_lib.registry import METRICS, RULES, module

#: The name that selects every metric whose models, or substitutes for them, are on this machine.
ALL = "all"
#: A metric's name, several names, or a mapping from name to settings.
Selection = str | Iterable[str] | Mapping[str, Mapping[str, Any]]


def names() -> list[str]:
    """Return the names of all metrics in alphabetical order, after importing their modules."""
    for module_name in METRICS.values():
        module(module_name)
    return sorted(REGISTERED)


def get(name: str) -> type[Metric]:
    """Return the class of the metric with this name.

    Raises
    ------
    MetricError
        If no metric has the name; the error suggests the most similar name and lists all.
    """
    if not isinstance(name, str):
        remedy = f"Name one of {', '.join(names())}."
        raise MetricError(f"expected the name of a metric, got {type(name).__name__}", "metrics", remedy)
    if name in METRICS:
        module(METRICS[name])
    if name not in REGISTERED and name not in (all_names := names()):
        remedy = f"{did_you_mean(name.lower(), all_names)}Name one of {', '.join(all_names)}."
        raise MetricError(f"unknown metric {name!r}", "metrics", remedy)
    return REGISTERED[name]


def settings_of(name: str) -> dict[str, Any]:
    """Return a mapping from each setting of a metric to its default.

    Raises
    ------
    MetricError
        If no metric has the name.
    """
    return {key: parameter.default for key, parameter in inspect.signature(get(name)).parameters.items()}


def create(name: str, /, **settings: Any) -> Metric:
    """Return the metric with this name and these settings; a value given as a string is converted to the
    setting's type.

    Raises
    ------
    MetricError
        If the metric or a setting is unknown; or if a value has the wrong type, is not one of the choices, or
        is refused by the metric.
    """
    metric, defaults = get(name), settings_of(name)
    hints = typing.get_type_hints(metric.__init__)
    for key in settings:
        if key not in defaults:
            remedy = f"Use one of {', '.join(sorted(defaults))}." if defaults else "Leave it out."
            raise MetricError(f"unknown setting {key!r}", name, remedy)
    return metric(**{key: _convert(value, hints[key], f"{name}.{key}") for key, value in settings.items()})


def _convert(value: Any, hint: Any, setting: str) -> Any:
    """Return a setting's value converted to the type ``hint``; the strings "none" and "" become None if
    ``hint`` allows None.

    Raises
    ------
    MetricError
        If the value cannot be converted; the error names ``setting``.
    """
    from pydantic import TypeAdapter, ValidationError

    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if type(None) in typing.get_args(hint) and isinstance(value, str) and value.lower() in ("", "none"):
        return None
    try:
        return TypeAdapter(hint).validate_python(value)
    except ValidationError as error:
        remedy = "Correct the value, or leave the setting out to use its default."
        raise MetricError(f"{value!r} {describe(error)}", setting, remedy) from None


class ChosenMetrics(NamedTuple):
    """The requested metrics that can score on this machine, and the reasons why the others cannot.

    Attributes
    ----------
    metrics : a mapping from name to metric, in the order requested.
    substitutes : a mapping from metric to a note that names each published model and its substitute.
    left_out : a mapping from each metric that cannot score to the reason.
    """

    metrics: dict[str, Metric]
    substitutes: dict[str, str]
    left_out: dict[str, str]

    def leave_out(self, errors: Mapping[str, RadevalError]) -> None:
        """Move the metrics with an error from ``metrics`` to ``left_out``, in place.

        ``errors`` is a mapping from metric to error. If no metric would remain, the first error is raised.
        """
        new_errors = {name: error for name, error in errors.items() if name in self.metrics}
        if new_errors and len(new_errors) == len(self.metrics):
            raise next(iter(new_errors.values()))
        for name, error in new_errors.items():
            del self.metrics[name]
            self.substitutes.pop(name, None)
            self.left_out[name] = str(error)


def choose(selection: Selection) -> ChosenMetrics:
    """Return the requested metrics that can score on this machine, with their models.

    For a role without a setting, the metric uses its default model if that is on this machine or, for a
    metric requested by name, can be downloaded. Otherwise it uses a substitute: the packaged encoder, or a
    model that a build on this machine has trained. If the encoder is not the default, settings that the
    caller leaves out are adapted to the encoder (:func:`adapt_settings`).

    Parameters
    ----------
    selection : a name, names, or a mapping from name to settings; ``all`` adds every metric that is not named
        and has no setting ``judge``.

    Raises
    ------
    MetricError
        If a metric or setting is unknown, a value is not allowed, ``selection`` has another form, or none of
        the requested metrics can score.
    """
    settings = resolve_settings(selection)
    unnamed = [name for name in names() if name not in settings] if ALL in settings else []
    settings.pop(ALL, None)
    chosen, errors = ChosenMetrics({}, {}, {}), list[RadevalError]()
    for name in [*settings, *unnamed]:
        own_settings = settings.get(name, {})
        if name in unnamed and "judge" in get(name).required_roles:
            chosen.left_out[name] = f"no language model is set as its judge. Set {name}.judge to one."
            continue
        try:
            models, note = _find_substitutes(name, own_settings, download=name in settings)
        except ModelError as error:
            errors.append(MetricError(error.what, name, error.remedy))
            chosen.left_out[name] = f"{error.what}. {error.remedy}".rstrip()
            continue
        defaults_for_models = adapt_settings(name, {**own_settings, **models})
        chosen.metrics[name] = create(name, **{**defaults_for_models, **models, **own_settings})
        if note:
            chosen.substitutes[name] = note
    if not chosen.metrics:
        no_name = MetricError("no metric is named", "metrics", f"Name one of {', '.join(names())}.")
        raise errors[0] if errors else no_name
    return chosen


def resolve_settings(selection: Selection) -> dict[str, Mapping[str, Any]]:
    """Return a mapping from each requested metric to its settings, in the order requested.

    A metric given by its name alone has empty settings.

    Raises
    ------
    MetricError
        If a name is not a str, settings are not a mapping, or ``all`` has settings.
    """
    items = selection if isinstance(selection, Iterable) and not isinstance(selection, str) else [selection]
    pairs = list(items.items()) if isinstance(items, Mapping) else [(name, {}) for name in items]
    for name, settings in pairs:
        if not (isinstance(name, str) and isinstance(settings, Mapping)) or (name == ALL and settings):
            problem = f"expected a metric's name and a mapping of its settings, got {name!r}: {settings!r}"
            raise MetricError(problem, "metrics", "Pass names, or {name: {setting: value}}; not for `all`.")
    return dict(pairs)


def adapt_settings(name: str, models: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings ``pooling`` and ``layer`` that fit the encoder in ``models``.

    ``pooling`` is returned only for the packaged encoder, and ``layer`` for any encoder but the default; each
    only if the metric has this setting. The dictionary is empty if the encoder is the metric's default or
    ``models``, a mapping from role to the name of a model, has none. Raises MetricError if no metric has the
    name.
    """
    encoder, defaults = str(models.get("encoder", "")), settings_of(name)
    if encoder in ("", defaults.get("encoder")):
        return {}
    from radeval_lib.models.catalog import PACKAGED

    settings: dict[str, Any] = {}
    if "pooling" in defaults and PACKAGED in encoder:
        settings["pooling"] = "mean"  # The packaged MiniLM was trained with mean pooling.
    if "layer" in defaults:
        settings["layer"] = None  # The default layer was chosen for the default encoder only.
    return settings


def _find_substitutes(name: str, settings: Mapping[str, Any], download: bool) -> tuple[dict[str, str], str]:
    """Return substitutes for a metric's default models that are not on this machine, and a note on them.

    Parameters
    ----------
    name : the name of the metric.
    settings : the caller's settings; a role with a setting gets no substitute.
    download : whether a default model may be downloaded instead.

    Returns
    -------
    substitutes : a mapping from role to the folder or name of the substitute.
    note : a clause that names each published model and its substitute, or says that the judge is rule-based;
        empty if neither is the case.

    Raises
    ------
    ModelError
        If a role has no substitute on this machine, or its model needs a package that is not installed.
    """
    if not get(name).required_roles:
        return {}, ""
    from radeval_lib.models.catalog import RADGRAPH
    from radeval_lib.models.pretrained import can_reach_hub, check_installed, find_substitute, is_available

    defaults, substitutes = settings_of(name), dict[str, str]()
    if settings.get("judge", defaults.get("judge")) == RULES:
        return {}, "judged by rules: the scores are not those of the published metric"
    for role in get(name).required_roles:
        check_installed(str(settings.get(role, defaults[role])))
        default = str(defaults[role])
        if role in settings or is_available(default):
            continue
        if download and not default.startswith(RADGRAPH) and can_reach_hub():
            continue
        substitute = find_substitute(role)
        if substitute is None:
            problem = f"neither its {role} {default!r} nor a substitute is on this machine"
            raise ModelError(problem, remedy=f"Name another model as {name}.{role}.")
        substitutes[role] = substitute
    if not substitutes:
        return {}, ""
    replacements = "; ".join(
        f"{role} {display_path(Path(model)) if Path(model).exists() else model} instead of {defaults[role]}"
        for role, model in substitutes.items()
    )
    return substitutes, f"{replacements}: the scores are not those of the published metric"


def metric(name: str, find_model: Callable[[str], str], device: str, settings: Mapping[str, Any]) -> Metric:
    """Return a metric with the models that a profile configures for its roles.

    Parameters
    ----------
    name : the name of the metric.
    find_model : a function from a role to the name of its model, called for roles missing from ``settings``.
    device : where the models run, unless ``settings`` has a device.
    settings : the settings of the metric that differ from its defaults.

    Raises
    ------
    MetricError
        If the metric or a setting is unknown, or a value has the wrong type or is refused by the metric.
    """
    configured = {role: find_model(role) for role in get(name).required_roles if role not in settings}
    if "device" in settings_of(name):
        configured["device"] = device
    defaults_for_models = adapt_settings(name, {**settings, **configured})
    return create(name, **{**configured, **defaults_for_models, **settings})
