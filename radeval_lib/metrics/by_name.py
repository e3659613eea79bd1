"""Metrics by name: which there are, their settings, and one with settings of its own."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any

from radeval_lib.errors import RegistryError, listed, meant
from radeval_lib.metrics.base import REGISTERED, Metric, MetricError
from radeval_lib.registry import METRICS, module


def names() -> list[str]:
    """The names of all metrics, sorted; errors as of :func:`get`."""
    for name in METRICS:
        _import(name)
    return sorted(REGISTERED)


def _import(name: str) -> None:
    """Import the module of a metric, which registers it.

    Raises
    ------
    RegistryError
        If there is no such module, or it registers no metric of that name.
    """
    module(home := METRICS[name])
    if name not in REGISTERED:
        own = [key for key, metric in REGISTERED.items() if metric.__module__ == home]
        raise RegistryError(
            f"{home} registers no metric {name!r}",
            f"radeval_lib/registry.py, METRICS, {name!r}",
            f"Name the row as the class: {listed(own)}." if own else "Put `@register` on its class.",
        )


def get(name: str) -> type[Metric]:
    """The metric class of that name.

    Raises
    ------
    MetricError
        If there is none; it names the nearest and lists all.
    RegistryError
        If a row of the registry names a module or metric that is not there.
    """
    if name in METRICS:
        _import(name)
    if name not in REGISTERED and name not in (known := names()):
        near = meant(name.lower(), known)
        raise MetricError(f"unknown metric {name!r}", remedy=f"{near}Metrics: {', '.join(known)}.")
    return REGISTERED[name]


def settings_of(name: str) -> dict[str, Any]:
    """The settings of a metric and their defaults: the keyword parameters of its constructor."""
    parameters = inspect.signature(get(name)).parameters
    return {key: parameter.default for key, parameter in parameters.items()}


def create(name: str, /, **settings: Any) -> Metric:
    """A metric by its name and settings. A setting given as text, as on a command line, is converted to the
    annotated type.

    Raises
    ------
    MetricError
        If the metric or a setting is unknown, or a value is not of the setting's type or choices.
    """
    metric = get(name)
    known = settings_of(name)
    if unknown := sorted(set(settings) - set(known)):
        listed = f"Settings: {', '.join(sorted(known))}." if known else f"{name} has no settings."
        raise MetricError(f"unknown setting {unknown[0]!r}", name, listed)
    hints = typing.get_type_hints(metric.__init__)
    values = {key: _coerced(value, hints.get(key), f"{name}.{key}") for key, value in settings.items()}
    return metric(**values)


_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_READERS: dict[type, Callable[[str], Any]] = {
    bool: lambda text: _TRUTHS[text.lower()],
    int: int,
    float: float,
}


def _coerced(value: Any, hint: Any, where: str) -> Any:
    """Text converted to the annotated type if that is bool, int, float or None; any other value unchanged."""
    options = typing.get_args(hint) or (hint,)
    if not isinstance(value, str) or str in options:
        return value
    if type(None) in options and value.lower() in ("", "none"):
        return None
    for kind, read in _READERS.items():
        if kind in options:
            try:
                return read(value)
            except (KeyError, ValueError):
                raise MetricError(f"{value!r} is not of type {kind.__name__}", where) from None
    return value
