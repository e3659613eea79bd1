"""The chapter's tables say what the manifests and the ledger say."""

from __future__ import annotations

import json

from notebooks.across import reading
from radeval_lib import data


def test_every_data_set_can_be_searched_for() -> None:
    html = reading.catalogue().data or ""
    rows = json.loads(html.partition('<script type="application/json">')[2].partition("</script>")[0])
    assert len(rows) == len(data.names())
    assert any("radbook data add openi" in row[-1] for row in rows)
    assert {row[1].partition(";")[0] for row in rows} == set(reading.ACCESS_WORDS.values())
    assert "<Document" not in html


def test_names_in_the_ledger_exist() -> None:
    for name in data.names():
        manifest = data.load_manifest(name)
        for needed_as in manifest.needed_as:
            alone = type(manifest)(**{**manifest.__dict__, "needed_as": (needed_as,)})
            assert reading.exhibits_that_need(alone), f"{name}: {needed_as}"
