"""The chapter's tables say what the manifests and the ledger say."""

from __future__ import annotations

from notebooks.across import reading
from radeval_lib import data


def test_names_in_the_ledger_exist() -> None:
    for name in data.names():
        manifest = data.load_manifest(name)
        for needed_as in manifest.needed_as:
            alone = type(manifest)(**{**manifest.__dict__, "needed_as": (needed_as,)})
            assert reading.find_dependent_exhibits(alone), f"{name}: {needed_as}"
