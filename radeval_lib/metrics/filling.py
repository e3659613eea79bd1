"""A metric over the models that fill its roles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from radeval_lib.metrics.base import Metric
from radeval_lib.metrics.by_name import create, get, settings_of
from radeval_lib.metrics.choosing import fitting


def metric(name: str, model: Callable[[str], str], device: str, settings: Mapping[str, Any]) -> Metric:
    """A metric by name.

    Parameters
    ----------
    model : finds the model of a role that ``settings`` does not give.
    device : what its models run on, unless ``settings`` say.
    settings : of the metric, where they differ from its defaults.

    Raises
    ------
    MetricError
        If the metric or a setting is unknown, or a value not of its type.
    """
    filled: dict[str, Any] = {role: model(role) for role in get(name).needs if role not in settings}
    if "device" in settings_of(name):
        filled["device"] = device
    return create(name, **{**filled, **fitting(name, filled), **settings})
