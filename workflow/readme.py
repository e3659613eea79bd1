"""Writes the findings of the README and its figure: ``python workflow/readme.py BUILD``.

The findings are the lines of ``data_manifests/headlines.yml`` that the build bears out, with its numbers;
the figure is that of the first one. ``BUILD`` is a profile that was built.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

from radeval_lib import atomic
from radeval_lib.paths import BUILD, ROOT
from radeval_lib.pipeline import page_forms
from radeval_lib.study.results import headlines

README = ROOT / "README.md"
FIGURE = ROOT / "docs" / "normal_references.svg"
_NOTEBOOK, _NAME = "across/which_judge", "fig-which-judge-normal"
_BLOCK = re.compile(r"(?s)(<!-- findings: workflow/readme\.py -->\n).*?(<!-- end of findings -->)")
_INTERVAL = re.compile(r" \[[^\]]*\]")


def findings(results: Path, *, decided: bool = True) -> str:
    """Return the findings that a build's results bear out as a list in Markdown, numbers without intervals;
    without ``decided`` those, too, for which the build draws too few resamples.

    Raises
    ------
    FileNotFoundError
        If the build has no results.
    """
    if not results.is_dir():
        raise FileNotFoundError(f"{results} holds no results: build that profile first")
    lines: list[str] = []
    for entry in headlines().values():
        path = results / entry.notebook / f"headline_{entry.id}.json"
        if entry.line and path.is_file():
            finding = json.loads(path.read_text(encoding="utf-8"))
            if (finding["holds"] or not decided) and finding["evidence"] in entry.needs:
                texts = {name: _INTERVAL.sub("", text) for name, text in finding["texts"].items()}
                lines.append(f"{len(lines) + 1}. {entry.line.format(**texts)}\n")
    return "".join(lines)


def figure(executed: Path) -> str:
    """Return the figure on normal references as SVG, from a build's folder of executed notebooks.

    Raises
    ------
    LookupError
        If the notebook has no such figure.
    """
    drawn = page_forms.find_figure((executed / f"{_NOTEBOOK}.ipynb").read_text(encoding="utf-8"), _NAME)
    if drawn is None:
        raise LookupError(f"{_NOTEBOOK} has no figure {_NAME}: build its page again")
    return drawn[0]


def shown() -> str:
    """Return the findings as the README has them."""
    block = _BLOCK.search(README.read_text(encoding="utf-8"))
    if block is None:
        raise ValueError(f"{README.name} has no place for findings")
    return block[0].removeprefix(block[1]).removesuffix(block[2])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the README's findings and figure.")
    parser.add_argument("build", help="a profile that was built")
    given = parser.parse_args()
    listed = findings(BUILD / given.build / "results")
    shown()  # refuses a README without a place for them
    text = _BLOCK.sub(lambda block: f"{block[1]}{listed}{block[2]}", README.read_text(encoding="utf-8"))
    atomic.write_text(FIGURE, figure(BUILD / given.build / "executed"))
    atomic.write_text(README, text)
