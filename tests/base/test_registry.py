"""Rows of the registry that name what is not there."""

from __future__ import annotations

import pytest

from radeval_lib import registry
from radeval_lib.data import readers
from radeval_lib.errors import RegistryError
from radeval_lib.metrics import MetricError, by_name


@pytest.mark.parametrize("table", ["READERS", "RECORDINGS", "PLANS"])
@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("radeval_lib.data.opeeni:READER", r"there is no module .*opeeni\. Did you mean '.*openi'\? Correct"),
        (
            "radeval_lib.no_room.toy:READER",
            r"there is no module radeval_lib\.no_room\.toy\. .*add the",
        ),
        ("radeval_lib.data.openi", r"names no part of a module\. Write `module:name`"),
        ("radeval_lib.data.openi:READERS", r"openi has no 'READERS'\. Did you mean 'READER'\?"),
    ],
)
def test_a_row_is_named_with_its_table(
    monkeypatch: pytest.MonkeyPatch, table: str, place: str, said: str
) -> None:
    monkeypatch.setitem(getattr(registry, table), "toy", place)
    with pytest.raises(RegistryError, match=rf"^radeval_lib/registry\.py, {table}, 'toy': .*{said}"):
        registry.find(place)


def test_a_role_names_its_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    role = registry.Role("radeval_lib.data.records:Report", "radeval_lib.data.generated:report")
    monkeypatch.setitem(registry.ROLES, "toy", role)
    with pytest.raises(RegistryError, match=r"ROLES, 'toy': .* has no 'report'\. Did you mean 'reports'"):
        registry.find(role.generator)


def test_a_module_that_a_row_imports_is_not_blamed_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise ModuleNotFoundError("No module named 'optuna'", name="optuna")

    monkeypatch.setattr(registry, "import_module", fail)
    with pytest.raises(ModuleNotFoundError, match="optuna"):
        registry.find("radeval_lib.data.openi:READER")


def test_a_data_set_without_a_row_says_where_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(registry.READERS, "openi")
    monkeypatch.setitem(registry.READERS, "opennni", "radeval_lib.data.openi:READER")
    with pytest.raises(RegistryError, match=r"READERS: no row 'openi'\. Did you mean .opennni.\? Add"):
        readers.reader("openi")


def test_a_row_of_a_metric_names_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.METRICS, "bluee", "radeval_lib.metrics.bluee")
    with pytest.raises(RegistryError, match=r"METRICS, 'bluee': there is no module .*Did you mean"):
        by_name.get("bluee")
    monkeypatch.delitem(registry.METRICS, "bluee")
    with pytest.raises(MetricError, match=r"unknown metric 'bluu'\. Did you mean 'bleu'\?"):
        by_name.get("bluu")
