"""The one task that the paper prints as a physician completed it (Figure 3): answers and marked spans."""

from __future__ import annotations

import re

from radeval_lib.papers.printed_numbers import Printed, cell, printed
from radeval_lib.study.checks import Check, check_value


def plain(text: str) -> str:
    """A text in lower case without punctuation."""
    return " ".join(re.findall(r"[a-z0-9-]+", text.lower()))


def marked(count: str) -> list[str]:
    """The spans that the physician marked for a count, ``R`` or ``G``."""
    spans = printed("facts.fig3").set_index("count").loc[count, "marked_facts"]
    return [plain(fact) for fact in str(spans).split(" | ")]


def answers() -> dict[str, Printed]:
    """The physician's answers by count: ``R``, ``G``, ``R&G`` and ``C``."""
    return {name: cell(printed("facts.fig3"), count=name) for name in ("R", "G", "R&G", "C")}


def in_reference() -> list[bool]:
    """Of each span of G whether the same words are marked in R."""
    in_r = marked("R")
    return [fact in in_r for fact in marked("G")]


def count_checks() -> list[Check]:
    """The answers against the marks."""
    given = answers()
    return [
        check_value("R, spans marked", given["R"], len(marked("R"))),
        check_value("G, spans marked", given["G"], len(marked("G"))),
        check_value("R&G, spans of G that are marked in R", given["R&G"], sum(in_reference())),
    ]
