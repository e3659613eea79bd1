"""Every row of the registry names what is there."""

from __future__ import annotations

import pytest

from radeval_lib import registry

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
