"""Metrics by name: which there are, their settings, and one with settings of its own."""

from __future__ import annotations

import inspect
import os
import typing
from typing import Any

from radeval_lib.errors import complaint, meant
from radeval_lib.metrics.base import REGISTERED, Metric, MetricError
from radeval_lib.registry import METRICS, module


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
    if name in METRICS:
        module(METRICS[name])
    if name not in REGISTERED and name not in (known := names()):
        remedy = f"{meant(name.lower(), known)}Metrics: {', '.join(known)}."
        raise MetricError(f"unknown metric {name!r}", remedy=remedy)
    return REGISTERED[name]


def settings_of(name: str) -> dict[str, Any]:
    """Return the settings of a metric and their defaults."""
    parameters = inspect.signature(get(name)).parameters
    return {key: parameter.default for key, parameter in parameters.items()}


def create(name: str, /, **settings: Any) -> Metric:
    """Return a metric by its name and settings; a setting given as text, as on a command line, is converted
    to the annotated type.

    Raises
    ------
    MetricError
        If the metric or a setting is unknown, or a value is not of the setting's type or choices.
    """
    metric, known = get(name), settings_of(name)
    hints = typing.get_type_hints(metric.__init__)
    for key in settings:
        if key not in known:
            remedy = f"Settings: {', '.join(sorted(known))}."
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
        raise MetricError(complaint(error), where) from None
