"""Every row of the registry names what is there."""

from __future__ import annotations

import pytest

from radeval_lib import registry
from radeval_lib.data import readers
from radeval_lib.errors import RegistryError

ROWS = [
    *registry.READERS.values(),
    *registry.RECORDINGS.values(),
    *registry.OWN_READERS.values(),
    *registry.PLANS.values(),
    *(name for role in registry.ROLES.values() for name in role if name),
]


@pytest.mark.parametrize("row", sorted(set(ROWS)))
def test_a_row_names_what_is_there(row: str) -> None:
    assert registry.find(row)


def test_a_data_set_without_a_row_says_where_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(registry.READERS, "openi")
    with pytest.raises(RegistryError) as caught:
        readers.reader("openi")
    assert "READERS" in caught.value.where
