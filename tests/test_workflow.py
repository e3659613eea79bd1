"""What the scripts in workflow/ find, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from radeval_lib.paths import ROOT
from workflow import notebook_style, readme


def test_a_list_that_begins_in_a_paragraph_is_found() -> None:
    page = "---\ntitle: a\n---\nA sum of\n- 2 and 3.\n\n- An item\n- another\n\n```\na\n- b\n```\n"
    lists = notebook_style.accidental_lists(page, ROOT / "book" / "page.md")
    assert lists == ["book/page.md:5: a list begins in the middle of a paragraph"]


def test_a_profile_that_was_not_built_has_no_findings_to_write(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        readme.findings(tmp_path / "results")


def test_a_readme_without_a_place_for_findings_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readme, "README", tmp_path / "README.md")
    readme.README.write_text("# Title\n", encoding="utf-8")
    with pytest.raises(ValueError):
        readme.shown()
