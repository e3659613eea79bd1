"""Pages that are not there yet, and references into them, in the first edition of every profile."""

from __future__ import annotations

import re

import nbformat
import pytest

from radeval_lib import roles
from radeval_lib.paths import BOOK, ROOT
from radeval_lib.pipeline import absent, steps
from radeval_lib.pipeline.staging import pages_of
from radeval_lib.study.display import ENDS_HERE
from radeval_lib.study.profiles import Profile

PAGE = """---
kernelspec:
  name: python3
---

(nb-x)=
# What it costs

(section-y)=

## Hours

```{code-cell} ipython3
---
mystnb:
  figure:
    name: fig-z
---
draw()
```
"""
_ENDS = re.compile(r"^study\.only_with_data\(run, (.*)\)$", re.MULTILINE)


def test_labels_of_a_page_have_titles() -> None:
    assert absent.labels(PAGE) == {"nb-x": "What it costs", "section-y": "Hours", "fig-z": "What it costs"}


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("See {ref}`nb-x`.", "See What it costs (follows)."),
        ("See {ref}`the\nbill <nb-x>`.", "See the\nbill (follows)."),
        ("See {ref}`the bill\n<nb-x>`.", "See the bill (follows)."),  # two lines of the file
        ("{ref}`a figure <fig-z>`, {ref}`nb-there`", "a figure (follows), {ref}`nb-there`"),
        ("{ref}`Hours <nb-there>` {term}`nb-x` `nb-x`", "{ref}`Hours <nb-there>` {term}`nb-x` `nb-x`"),
    ],
)
def test_references_into_an_absent_page_become_its_title(source: str, told: str) -> None:
    assert absent.unlink_missing(source, absent.labels(PAGE), "follows") == told
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(source)])
    changed = absent.unlink_in_file(nbformat.writes(page).encode(), absent.labels(PAGE), notebook=True)
    assert nbformat.reads(changed.decode(), 4).cells[0].source == told


def test_only_the_prose_of_a_notebook_changes() -> None:
    figure = {"mystnb": {"figure": {"name": "fig-y", "caption": "As {ref}`nb-x` has it."}}}
    cells = [
        nbformat.v4.new_markdown_cell('"{ref}`nb-x`"'),
        nbformat.v4.new_code_cell("'{ref}`nb-x`'", metadata=figure),
    ]
    page = nbformat.writes(nbformat.v4.new_notebook(cells=cells)).encode()
    told = absent.unlink_in_file(page, absent.labels(PAGE), notebook=True)
    prose, code = nbformat.reads(told.decode(), 4).cells
    assert (prose.source, code.source) == ('"What it costs (follows)"', "'{ref}`nb-x`'")
    assert code.metadata["mystnb"]["figure"]["caption"] == "As What it costs (follows) has it."
    assert absent.unlink_in_file(page, {}, notebook=True) == page


def test_a_placeholder_says_that_its_page_follows_and_has_no_label() -> None:
    told = absent.placeholder(PAGE, "")
    assert told.startswith("# What it costs (follows)\n\nThis page is not made yet.")
    assert absent.labels(told) == {}


def _shown(source: str, settings: Profile) -> str:
    """Return a page's source up to where it ends for want of data, or may end: where its roles are not spelt
    out."""
    for end in _ENDS.finditer(source):
        wanted = re.findall(r'"(\w+)"', end[1])
        if not wanted or any(
            roles.evidence(settings.roles[role]) in ("synthetic", "absent") for role in wanted
        ):
            return source[: end.end()]
    return source


@pytest.mark.parametrize("name", ["smoke", "embedded", "open", "full"])
def test_every_reference_of_the_first_edition_leads_somewhere_or_follows(name: str) -> None:
    graph = steps.graph(name, at_once=True)
    there, missing, told = set[str](), dict[str, str](), {}
    for page in pages_of(BOOK / "_toc.yml"):
        folder = ROOT if page.startswith("notebooks/") else BOOK
        source = (folder / f"{page}.md").read_text(encoding="utf-8")
        notebook = page.removeprefix("notebooks/")
        if page.startswith("notebooks/") and notebook not in graph.pages and not notebook.startswith("labs/"):
            missing |= absent.labels(source)
        else:
            there |= absent.labels(_shown(source, graph.settings)).keys()
            told[page] = source
    assert missing
    assert all(missing.values()), "a label without a title"
    softened = {page: absent.unlink_missing(source, missing, "follows") for page, source in told.items()}
    assert any(softened[page] != told[page] for page in told)
    lost = {page: set(absent.references(source)) - there for page, source in softened.items()}
    assert not {page: labels for page, labels in lost.items() if labels}
    # Links of other kinds into pages would not be softened.
    assert not [
        page
        for page, source in told.items()
        if re.search(
            r"\{(?:numref|doc|eq)\}`(?!contributing/)|\]\(#|\]\((?!https?:)[^)]*\.(?:md|ipynb)\b", source
        )
    ]


def test_labels_behind_the_end_of_a_page_are_lost() -> None:
    """Other pages refer to them; where a page ends for what its data lack, a reference says so."""
    figure = {"mystnb": {"figure": {"name": "fig-z", "caption": "Hours."}}}
    cells = [
        nbformat.v4.new_markdown_cell(PAGE.partition("(section-y)=")[0].partition("---\n")[2]),
        nbformat.v4.new_markdown_cell("(section-y)=\n## Hours"),
        nbformat.v4.new_code_cell("draw()", metadata=figure),
    ]

    def lost(end: int) -> set[str]:
        kept = nbformat.v4.new_notebook(cells=cells[:end])
        return set(absent.cut_labels(PAGE, nbformat.writes(kept)))

    assert [lost(end) for end in (1, 2, 3)] == [{"section-y", "fig-z"}, {"fig-z"}, set()]
    assert absent.cut_labels(PAGE, nbformat.writes(nbformat.v4.new_notebook(cells=cells[:2]))) == {
        "fig-z": "What it costs"
    }


def test_a_page_that_was_left_out_says_what_it_lacks(tmp_path) -> None:
    executed = tmp_path / "page.ipynb"
    lack = "ReXVal is not in the data root"
    nbformat.write(nbformat.v4.new_notebook(metadata={absent.OMISSION_KEY: lack}), executed)
    assert absent.omission_reason(executed) == lack
    told = absent.placeholder(PAGE, lack)
    assert told.startswith("---\norphan: true\nnosearch: true\n---\n")
    assert told.endswith(f"\n# What it costs (left out)\n\nThis build leaves the page out: {lack}.\n")
    assert (
        absent.unlink_missing("See {ref}`nb-x`.", absent.labels(PAGE), "left out")
        == "See What it costs (left out)."
    )
    nbformat.write(nbformat.v4.new_notebook(), executed)
    assert absent.omission_reason(executed) == ""


def test_a_page_that_ends_before_its_first_result_is_left_out(tmp_path) -> None:
    executed = tmp_path / "page.ipynb"
    end = nbformat.v4.new_output("display_data", metadata={ENDS_HERE: "it needs x"})
    result = nbformat.v4.new_output("display_data")

    def reason(*outputs: nbformat.NotebookNode) -> str:
        cells = [nbformat.v4.new_code_cell(), *(nbformat.v4.new_code_cell(outputs=[one]) for one in outputs)]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), executed)
        return absent.omission_reason(executed)

    assert reason(end, result) == "it needs x"
    assert reason(result, end) == reason(result) == reason() == ""


def test_a_page_that_is_left_out_is_in_no_list_of_pages() -> None:
    listed = "**In order.**\n\n1. {ref}`nb-x`\n1. {ref}`nb-y`\n\nSee {ref}`nb-x`.\n\n1. {ref}`nb-z`\n"
    told = absent.listed_apart(listed, {"nb-x": "What it costs (It needs a.)"})
    assert told == (
        "**In order.**\n\n1. {ref}`nb-y`\n\n**Left out.** What it costs (It needs a.)\n"
        "\nSee {ref}`nb-x`.\n\n1. {ref}`nb-z`\n"
    )
    assert absent.listed_apart(listed, {}) == listed


def test_contents_lack_pages_that_are_left_out() -> None:
    def contents(*pages: str) -> dict[str, object]:
        chapters = [{"file": "c", "sections": [{"file": page} for page in pages]}]
        return {"root": "a", "parts": [{"caption": "B", "chapters": chapters}]}

    assert absent.contents_without(contents("d", "e"), {"d"}) == contents("e")
    empty = {"root": "a", "parts": [{"caption": "B", "chapters": [{"file": "c"}]}]}
    assert absent.contents_without(contents("d"), {"d"}) == empty
    assert absent.contents_without(empty, {"c"}) == {"root": "a"}
