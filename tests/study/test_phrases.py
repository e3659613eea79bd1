"""Numbers and words that prose takes from code."""

from pathlib import Path

import pytest

from radeval_lib import study
from radeval_lib.paths import NOTEBOOKS
from tests.glue_names import differences

_ENDS = "\nstudy.only_with_data("
WORDS = {"more": "leads", "less": "trails", "open": "cannot be distinguished from"}


def test_the_interval_chooses_the_words() -> None:
    ends = [(0.1, 0.3), (-0.3, -0.1), (-0.1, 0.3), (0.0, 0.3)]
    words = [study.phrase(study.Estimate(0.1, *pair), **WORDS) for pair in ends]
    assert words == [WORDS["more"], WORDS["less"], WORDS["open"], WORDS["open"]]


def test_only_texts_are_glued() -> None:
    with pytest.raises(TypeError):
        study.glue(lead=0.25)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "path", sorted(NOTEBOOKS.rglob("*.md")), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_every_name_in_the_prose_is_glued(path: Path) -> None:
    assert not differences(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(NOTEBOOKS.rglob("*.md")) if _ENDS in path.read_text(encoding="utf-8")],
    ids=lambda path: f"{path.parent.name}/{path.stem}",
)
def test_what_stands_before_a_page_may_end_is_glued_there(path: Path) -> None:
    """Without its data set a page ends at such a cell, and later cells glue nothing."""
    before, _, rest = path.read_text(encoding="utf-8").partition(_ENDS)
    kept = f"{before}{_ENDS}{rest.partition('```')[0]}```\n"
    assert not [line for line in differences(kept) if line.startswith("used")]
