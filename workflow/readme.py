"""Writes the findings in the README, and its figure: ``python workflow/readme.py PROFILE``.

The findings are the lines of ``data_manifests/headlines.yml`` that hold in the build of the profile, with its
numbers. The figure is that of the first finding.
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


def format_findings(results: Path, *, decided: bool = True) -> str:
    """Return the findings that hold in a build as a numbered list in Markdown, without intervals.

    Parameters
    ----------
    results : folder of the build's results.
    decided : if False, findings that do not hold are also included (with few resamples, none may hold).

    Raises
    ------
    FileNotFoundError
        If the build has no results.
    """
    if not results.is_dir():
        raise FileNotFoundError(f"{results} does not exist: run `radbook build` with this profile first")
    lines: list[str] = []
    for entry in headlines().values():
        path = results / entry.notebook / f"headline_{entry.id}.json"
        if entry.line and path.is_file():
            finding = json.loads(path.read_text(encoding="utf-8"))
            if (finding["holds"] or not decided) and finding["evidence"] in entry.needs:
                texts = {name: _INTERVAL.sub("", text) for name, text in finding["texts"].items()}
                lines.append(f"{len(lines) + 1}. {entry.line.format(**texts)}\n")
    return "".join(lines)


def read_figure(executed: Path) -> str:
    """Return the README's figure as SVG, from a build's folder of executed notebooks.

    Raises
    ------
    LookupError
        If the notebook that should contain the figure lacks it.
    FileNotFoundError
        If the build has not executed this notebook.
    """
    drawing = page_forms.find_figure((executed / f"{_NOTEBOOK}.ipynb").read_text(encoding="utf-8"), _NAME)
    if drawing is None:
        raise LookupError(f"{_NOTEBOOK} has no figure {_NAME} in {executed}: build a profile with its data")
    return drawing[0]


def read_findings() -> str:
    """Return the list of findings in the README; raises ValueError if the comments around it are missing."""
    block = _BLOCK.search(README.read_text(encoding="utf-8"))
    if block is None:
        raise ValueError(f"{README.name} does not match {_BLOCK.pattern!r}: restore the two comments")
    return block[0].removeprefix(block[1]).removesuffix(block[2])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the README's findings and figure.")
    parser.add_argument("profile", help="a profile that was built")
    build = BUILD / parser.parse_args().profile
    new_findings = format_findings(build / "results")
    read_findings()  # raises an error if the README lacks the comments
    text = _BLOCK.sub(lambda block: f"{block[1]}{new_findings}{block[2]}", README.read_text(encoding="utf-8"))
    atomic.write_text(FIGURE, read_figure(build / "executed"))
    atomic.write_text(README, text)
