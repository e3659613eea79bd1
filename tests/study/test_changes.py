"""What changed between two editions, and the page that says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from radeval_lib.cli import main
from radeval_lib.pipeline import release
from radeval_lib.study.scorecards import changes

TABLE, CLAIM = "facts.table1", "facts.claim_agreement"
HEADLINE = "rexval"


def _edition(folder: Path, results: dict[str, tuple[str, str]], best: str, flat: bool = False) -> Path:
    """Return results by exhibit, with a verdict and what its one check computed, and a finding."""
    results_folder = folder / "results" / ("" if flat else "facts/real_counts")
    results_folder.mkdir(parents=True)
    for exhibit, (verdict, computed) in results.items():
        outcome = "fails" if verdict == "inconsistent" else "holds"
        key = {"what": "a | b", "row": "", "column": ""}
        check = {"key": key, "computed": computed, "outcome": outcome, "low": None, "high": None}
        content: dict[str, Any] = {"exhibit": exhibit, "evidence": "printed", "verdict": verdict}
        content |= {"checks": [check], "table": [], "provenance": {"code": str(folder)}}
        (results_folder / f"{exhibit}.printed.json").write_text(json.dumps(content))
    texts = dict.fromkeys(("metrics", "pairs", "low", "high"), "1") | {"inside": best}
    headline = {"evidence": "printed", "holds": best != "", "texts": texts}
    (results_folder / f"headline_{HEADLINE}.json").write_text(json.dumps(headline))
    return folder


@pytest.fixture
def editions(tmp_path: Path) -> tuple[Path, Path]:
    old = {TABLE: ("consistent", "0.62 [0.57, 0.67]"), CLAIM: ("inconclusive", "3")}
    new = {TABLE: ("inconsistent", "0.70 [0.68, 0.72]"), "facts.gone_from_the_ledger": ("consistent", "1")}
    return _edition(tmp_path / "old", old, "BLEU"), _edition(tmp_path / "new", new, "METEOR")


def test_the_page_names_what_changed_and_nothing_else(editions: tuple[Path, Path]) -> None:
    page = changes(*editions)
    sections = dict(part.split("\n\n", 1) for part in page.split("## ")[1:])
    assert list(sections) == ["Verdicts: 3", "Outcomes of checks: 1", "Findings of the front page: 1"]
    for row in (
        "Table 1, facts.table1 | printed | consistent | inconsistent |",
        "facts.gone_from_the_ledger | printed | – | consistent |",
        "facts.claim_agreement | printed | inconclusive | – |",
    ):
        assert row in sections["Verdicts: 3"]
    row = "a \\| b | holds (0.62 [0.57, 0.67]) | fails (0.70 [0.68, 0.72]) |"
    assert row in sections["Outcomes of checks: 1"]
    (row,) = sections["Findings of the front page: 1"].strip().splitlines()[2:]
    assert row.index("BLEU") < row.index("METEOR")


def test_a_finding_that_is_borne_out_no_more_is_named(editions: tuple[Path, Path], tmp_path: Path) -> None:
    silent = _edition(tmp_path / "silent", {TABLE: ("consistent", "0.62 [0.57, 0.67]")}, "")
    assert "| not borne out |" in changes(editions[0], silent)
    next(silent.rglob("headline_*.json")).unlink()
    assert "| not computed |" in changes(editions[0], silent)


def test_a_rendered_book_has_the_results_of_its_build(editions: tuple[Path, Path], tmp_path: Path) -> None:
    results = {TABLE: ("consistent", "0.62 [0.57, 0.67]"), CLAIM: ("inconclusive", "3")}
    html = _edition(tmp_path / "html", results, "BLEU", flat=True)
    assert changes(html, editions[1]) == changes(*editions)


def test_a_release_writes_the_page_beside_its_report(
    editions: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = editions
    new.rename(tmp_path / "smoke")
    monkeypatch.setattr("radeval_lib.cli.building.BUILD", tmp_path)
    monkeypatch.setattr(release, "write", lambda profile, root, target: target.write_text("report"))
    done = CliRunner().invoke(main, ["release", "--profile", "smoke", "--since", str(old)])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "changes-smoke.md").read_text() == changes(old, tmp_path / "smoke")
