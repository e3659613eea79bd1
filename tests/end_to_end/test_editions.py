"""The default and the public edition say the same, where both were built."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from radeval_lib.paths import BUILD
from radeval_lib.study.changes import findings
from tests.compare_editions import bold_sentence, differ, differences


def test_both_editions_say_the_same() -> None:
    builds = BUILD / "embedded", BUILD / "open"
    for build in builds:
        if not (build / "results" / "across" / "which_judge").is_dir():
            pytest.skip(f"`make book` and `make open` were not both run: {build.name} is not there")
    assert findings(builds[0]).keys() <= findings(builds[1]).keys()
    assert not differences(*builds)


@pytest.mark.parametrize(
    ("one", "other", "how"),
    [
        ("It reaches 0.62 [0.57, 0.67].", "It reaches 0.63 [0.57, 0.68].", ""),
        ("It reaches 0.62.", "It reaches 0.66.", "0.62 and 0.66"),
        ("Right for 80%.", "Right for 82%.", ""),
        ("Right for 80%.", "Right for 85%.", "80% and 85%"),
        ("On 200 reports.", "On 201 reports.", "200 and 201"),
        ("METEOR is best.", "BLEU is best.", "other words"),
        ("It leads by 0.1.", "It trails by 0.1.", "other words"),
    ],
)
def test_sentences_agree_in_words_and_nearly_in_numbers(one: str, other: str, how: str) -> None:
    assert differ(one, other) == how


def _build(folder: Path, best: str, holds: bool) -> Path:
    results = folder / "results" / "facts" / "real_counts"
    results.mkdir(parents=True)
    texts = dict.fromkeys(("metrics", "pairs", "low", "high"), "1") | {"inside": best}
    told = {"evidence": "printed", "holds": holds, "texts": texts}
    (results / "headline_rexval.json").write_text(json.dumps(told), encoding="utf-8")
    page = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell(
                outputs=[
                    nbformat.v4.new_output(
                        "display_data",
                        {"application/papermill.record/text/plain": repr(best)},
                        metadata={"scrapbook": {"name": "best"}},
                    )
                ]
            ),
            nbformat.v4.new_markdown_cell("A question?\n\n**The best is\n{glue:text}`best`.** And more."),
        ]
    )
    executed = folder / "executed" / "facts"
    executed.mkdir(parents=True)
    nbformat.write(page, executed / "real_counts.ipynb")
    return folder


def test_findings_and_bold_sentences_of_two_builds_are_compared(tmp_path: Path) -> None:
    one, same, other = (
        _build(tmp_path / name, best, True)
        for name, best in (("a", "METEOR"), ("b", "METEOR"), ("c", "BLEU"))
    )
    assert bold_sentence(one / "executed" / "facts" / "real_counts.ipynb") == "The best is METEOR."
    assert not differences(one, same)
    assert [line.split("\n")[0] for line in differences(one, other)] == [
        "finding rexval: other words",
        "facts/real_counts: other words",
    ]
    assert not findings(_build(tmp_path / "d", "METEOR", False))
