"""Glossary links: in running text alone, each entry once a page, and each to a word that is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from radeval_lib.paths import BOOK, NOTEBOOKS
from radeval_lib.pipeline import glossary
from radeval_lib.pipeline.glossary import EVERYDAY, Linker, entries


def test_the_first_use_of_each_entry_is_linked() -> None:
    told = Linker().linked("BLEU and ROUGE-L, then BLEU again. Williams's test; ReXVal's pairs.")
    assert told == (
        "{term}`BLEU` and {term}`ROUGE-L`, then BLEU again. {term}`Williams's test`; {term}`ReXVal`'s pairs."
    )


def test_other_words_for_an_entry_count_as_its_use() -> None:
    told = Linker().linked("Kendall's tau, also Kendall's τ_b; Bonferroni's correction and Bonferroni.")
    assert (
        told == "{term}`Kendall's tau`, also Kendall's τ_b; {term}`Bonferroni's correction` and Bonferroni."
    )


def test_a_page_in_cells_links_a_word_once() -> None:
    linker = Linker()
    assert [linker.linked("Some BLEU."), linker.linked("More BLEU.")] == ["Some {term}`BLEU`.", "More BLEU."]


@pytest.mark.parametrize(
    "text",
    [
        "# BLEU\n",
        "`BLEU`",
        "``a ` BLEU``",
        "{ref}`of BLEU <nb-x>`",
        "[BLEU](https://example.org)",
        "$BLEU = 1$",
        "$$\nBLEU\n$$",
        "(BLEU)=",
        ":class: BLEU",
        ":::{note} BLEU\n",
        "```{list-table}\n* - BLEU\n```",
        "```python\nBLEU\n\nBLEU\n```",
        "<!-- BLEU -->",
        '<span title="BLEU">',
        "<div>Of BLEU.</div>",
        "BLEU-4",
        "aBLEU",
        "a reference, a candidate, a case and a check",
    ],
)
def test_what_is_no_running_text_or_another_word_stays(text: str) -> None:
    assert Linker().linked(text) == text


def test_running_text_goes_on_after_what_is_none() -> None:
    told = Linker().linked("# BLEU\n\nText.\n\n```\nBLEU\n```\n\nOf BLEU.")
    assert told.endswith("Of {term}`BLEU`.")
    assert told.count("{term}") == 1


def test_a_book_without_a_glossary_has_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glossary, "BOOK", tmp_path)
    entries.cache_clear()
    assert Linker().linked("Some BLEU.") == "Some BLEU."
    entries.cache_clear()


def test_everyday_words_are_in_the_glossary() -> None:
    assert {entry[0] for entry in entries()} >= EVERYDAY


def test_every_word_that_a_page_links_is_in_the_glossary() -> None:
    known = {word for entry in entries() for word in entry}
    pages = [path for path in (*BOOK.rglob("*.md"), *NOTEBOOKS.rglob("*.md")) if path.stem != "glossary"]
    linked = [
        name
        for path in pages
        for role in re.findall(r"\{term\}`([^`]+)`", Linker().linked(path.read_text(encoding="utf-8")))
        for name in re.findall(r"<(.*)>|^([^<]*)$", role)
    ]
    assert {"".join(name) for name in linked} <= known
    assert len(linked) > 50


def test_definitions_are_indented_alike() -> None:
    # A first line that is indented further takes letters off the lines that follow it.
    lines = (glossary.BOOK / "glossary.md").read_text(encoding="utf-8").splitlines()
    indents = {len(line) - len(line.lstrip()) for line in lines if line.startswith(" ")}
    assert indents == {2}
