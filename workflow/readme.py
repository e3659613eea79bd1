"""Writes what the README shows of the study: the main figure, and five findings.

    python workflow/readme.py BUILD

The figure is computed from the stored scores of RadPref, as the front page has it on the default profile.
The findings are the lines of ``data_manifests/headlines.yml`` that the build bears out, with its numbers:
``BUILD`` is a profile that was built.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import tempfile
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from notebooks.across import which_judge
from radeval_lib import atomic, study
from radeval_lib.data import recorded
from radeval_lib.jobs.storing import oriented_scores
from radeval_lib.paths import BUILD, DEFAULT_PROFILE, ROOT
from radeval_lib.pipeline import drawings
from radeval_lib.study.headlines import headlines
from radeval_lib.text_format import in_words

README, FIGURE = ROOT / "README.md", ROOT / "workflow" / "agreement.svg"
PAGE = "across/which_judge"
_CAPTION = """How each metric agrees with radiologists' grades of the same machine-written reports (RadPref),
with 95% intervals; the band is one radiologist against the others. Rules stand in for GREEN's
language model, small models trained on generated reports for those of RaTEScore and RadGraph
F1, and MiniLM for BERTScore's. The findings below give numbers without intervals, which the book's front page
has."""
_BLOCK = re.compile(r"(?s)(<!-- findings: workflow/readme\.py -->\n).*?(<!-- end of findings -->)")
_INTERVAL = re.compile(r" \[[^\]]*\]")


def by_grade() -> pd.DataFrame:
    """Agreement of every metric that the front page shows with the other graders of RadPref, with intervals:
    :func:`notebooks.across.which_judge.agreement`."""
    with tempfile.TemporaryDirectory() as folder:
        run = study.begin(PAGE, profile=DEFAULT_PROFILE, seed=0, output_dir=folder)
        pairs, grades = which_judge.rated(run.load("rated_pairs"))
        columns = {name: recorded.column(pairs["candidate"], name) for name in run.declared.metrics}
        scores = oriented_scores.of_columns(pd.DataFrame(columns, index=pairs.index))
        return which_judge.agreement(scores, grades, pairs["case"], run=run, name="grade")


def figure(table: pd.DataFrame) -> str:
    """The main figure as SVG, with a ground of its own, light or dark as the reader's system is."""
    drawn = which_judge.forest(table)
    stream = io.StringIO()
    drawn.savefig(stream, format="svg", metadata={"Date": None}, facecolor="#ffffff")
    plt.close(drawn)
    return drawings.for_pages(stream.getvalue())


def introduced(table: pd.DataFrame) -> str:
    """The figure with its alternative text and what it shows, in Markdown."""
    person, metrics = table.loc[which_judge.PERSON], table.drop(index=which_judge.PERSON)
    alt = (
        f"{in_words(len(metrics)).capitalize()} metrics with intervals; the best, {metrics.index[0]}, is at "
        f"τ_b {metrics['value'].iloc[0]:.2f}, and the band of one radiologist begins at {person['low']:.2f}."
    )
    return f"![{alt}]({FIGURE.relative_to(ROOT)})\n\n{textwrap.fill(_CAPTION, 130)}\n\n"


def findings(results: Path, *, decided: bool = True) -> str:
    """The findings that a build's results bear out as a list in Markdown, numbers without intervals; without
    ``decided`` those, too, for which the build draws too few resamples.

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
            found = json.loads(path.read_text(encoding="utf-8"))
            if (found["holds"] or not decided) and found["evidence"] in entry.needs:
                texts = {name: _INTERVAL.sub("", text) for name, text in found["texts"].items()}
                lines.append(f"{len(lines) + 1}. {entry.line.format(**texts)}\n")
    return "".join(lines)


def shown() -> str:
    """The findings as the README has them."""
    found = _BLOCK.search(README.read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"{README.name} has no place for findings")
    return found[0].removeprefix(found[1]).removesuffix(found[2])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the README's figure and findings.")
    parser.add_argument("build", help="a profile that was built")
    given = parser.parse_args()
    table = by_grade()
    listed = introduced(table) + findings(BUILD / given.build / "results")
    shown()  # refuses a README without a place for them
    text = _BLOCK.sub(lambda block: f"{block[1]}{listed}{block[2]}", README.read_text(encoding="utf-8"))
    atomic.write_text(README, text)
    atomic.write_text(FIGURE, figure(table))
