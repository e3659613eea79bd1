"""Rows of the registry that name what is not there."""

from __future__ import annotations

import pytest

from radeval_lib import registry
from radeval_lib.data import readers
from radeval_lib.errors import RegistryError
from radeval_lib.metrics import MetricError, by_name


@pytest.mark.parametrize(
    "row",
    [
        "radeval_lib.data.opeeni:READER",
        "radeval_lib.no_room.toy:READER",
        "radeval_lib.data.openi:READERS",
        "radeval_lib.data.openi",
    ],
)
def test_a_row_that_names_nothing_is_refused(row: str) -> None:
    with pytest.raises(RegistryError):
        registry.find(row)


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
    with pytest.raises(RegistryError):
        by_name.get("bluee")
    monkeypatch.delitem(registry.METRICS, "bluee")
    with pytest.raises(MetricError, match=r"unknown metric 'bluu'\. Did you mean 'bleu'\?"):
        by_name.get("bluu")
