"""Where a page ends for want of data."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from radeval_lib.study import page_runs


@pytest.mark.parametrize(
    ("source", "there", "ends"),
    [
        ("rate_eval/paragraph", False, True),
        ("rate_eval/paragraph", True, False),
        ("radpref/grade", False, False),  # the role has it, and would be said to lack it
        ("recorded/radpref/grade", False, False),
    ],
)
def test_a_page_of_one_set_ends_where_another_fills_its_role(
    monkeypatch: pytest.MonkeyPatch, source: str, there: bool, ends: bool
) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(page_runs, "display", lambda label, metadata=None: shown.append((label, metadata)))
    monkeypatch.setattr(page_runs, "provenance", lambda run: "")
    run: Any = SimpleNamespace(
        evidence=lambda role: "open",
        explain_absence=lambda role: "",
        source_of=lambda kind, role: source,
        find=lambda dataset: Path("file") if there else None,
    )
    page_runs.only_with_data(run, "rated_pairs", dataset="radpref")
    assert bool(shown) == ends
    if ends:
        (html, metadata), _ = shown
        assert metadata[page_runs.ENDS_HERE] in re.sub("</?code>", "`", html.data)
