"""The texts that the paper prints: a report with its description (Figure 1), the task that a physician
completed on them (Figure 3), and what Section 6 quotes of both."""

from __future__ import annotations

import re

import pandas as pd

from radeval_lib.papers.printed_numbers import printed, quotations
from radeval_lib.study.checks import Check, Key, check_statement


def printed_report() -> tuple[str, str]:
    """Return the report that Figure 1 prints, and its description."""
    parts = dict(words.split(": ", 1) for where, words in quotations("facts.fig1") if where == "Figure 1")
    description = parts.pop("DESCRIPTION")
    return " ".join(parts.values()), description


def plain(text: str) -> str:
    """Return a text in lower case without punctuation but hyphens and apostrophes."""
    return " ".join(re.findall(r"[a-z0-9'-]+", text.lower().replace("’", "'")))


def stands_in(words: str, text: str) -> bool:
    """Return whether the words of one :func:`plain` text stand in another, one after the other and whole."""
    return f" {words} " in f" {text} "


def marked(count: str) -> list[str]:
    """Return the spans that the physician marked for a count, ``R`` or ``G``."""
    spans = printed("facts.fig3").set_index("count").loc[count, "marked_facts"]
    return [plain(fact) for fact in str(spans).split(" | ")]


def facts_of_g() -> pd.DataFrame:
    """Return each span of G; whether the same words are marked in R, and stand in the report of Figure 1."""
    in_r, report = marked("R"), plain(printed_report()[0])
    columns = ["fact of G", "marked in R", "its words stand in the report"]
    rows = [(fact, fact in in_r, stands_in(fact, report)) for fact in marked("G")]
    return pd.DataFrame(rows, columns=columns)


def texts_of_task() -> list[Check]:
    """Return whether the task's reference is the description of Figure 1, and its comment quotes G."""
    reference, generated = (" ".join(marked(count)) for count in ("R", "G"))
    same = reference == plain(printed_report()[1])
    comment = quotations("facts.fig3")[-1][1]
    quoted = plain(comment.split('"')[1])
    inside = stands_in(quoted, generated)
    return [
        check_statement(
            "text of R",
            "the reference",
            f"{'the' if same else 'not the'} description of Figure 1, {len(reference.split())} words",
            same,
        ),
        check_statement(
            "text that the comment calls wrong",
            comment,
            f"{len(quoted.split())} words, {'in' if inside else 'not in'} G",
            inside,
        ),
    ]


def quoted_texts() -> list[Check]:
    """Return whether the generated description and the report that Section 6 quotes are those of Figures 3
    and 1."""
    (_, description), (_, report) = quotations("facts.example_pegasus")
    generated = " ".join(marked("G"))
    description = plain(description.split("generated description: ")[1])
    sides = [
        ("generated description", "the generated description", description, generated, "3"),
        ("source report", "the source report states", plain(report), plain(printed_report()[0]), "1"),
    ]
    return [
        check_statement(
            Key("quoted text", what),
            claim,
            f"{len(quoted.split())} words, {'in' if inside else 'not in'} Figure {figure}",
            inside,
        )
        for what, claim, quoted, printed, figure in sides
        for inside in [stands_in(quoted, printed)]
    ]
