"""The rule-based judge's results for a pair of reports: the GREEN score, its reasons, and the data for the
pair's page.

This module and those that it imports need only Python and PyYAML, because they also run in the browser
(:mod:`radeval_lib.pipeline.browser_judge`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from radeval_lib.categories import CATEGORIES
from radeval_lib.metrics.cautions import Reason, find_rule_cautions, find_text_cautions
from radeval_lib.rules.judge import Judgement, judge_pair
from radeval_lib.rules.judge.judge import describe_observation
from radeval_lib.rules.reader import coverage

SIDES = ("reference", "candidate")


def compute_green_score(matched: int, significant_errors: int) -> float:
    """Return the GREEN score, from 0 to 1: matched findings divided by matched findings plus clinically
    significant errors (Ostmeier et al. 2024, Equation 1); 0 without a matched finding."""
    return matched / (matched + significant_errors) if matched else 0.0


def list_reasons(judgement: Judgement) -> Iterator[Reason]:
    """Yield a reason for each error of a judgement, one reason for all slight differences together, and one
    for each matched finding and each shared negative or normal statement."""
    for error in judgement.errors:
        yield Reason(
            "error",
            CATEGORIES[error.category],
            describe_observation(error.observation),
            error.text,
            rule=error.rule,
            significant=error.significant,
            weight=error.weight,
            reference=error.reference_span,
            candidate=error.candidate_span,
        )
    if judgement.slight:
        yield Reason(
            "error",
            "none of the six",
            says="slight differences",
            rule="a near relative instead of the finding, or another degree of certainty",
            significant=False,
            weight=judgement.slight,
        )
    for statement in (*judgement.matched, *judgement.agreed_negatives):
        yield Reason("matched", "", finding=statement)


def build_page_data(reference: str, candidate: str) -> dict[str, Any]:
    """Return the data for a pair's page as a JSON-ready dictionary.

    Returns
    -------
    dict
        ``scores``, a mapping from metric to score; ``cautions``; ``errors``, a dictionary per error
        (``category``, ``says``, ``rule``, ``significant``, ``weight``), numbered from 1 in this order;
        ``matched``, the statements that both reports make; and ``sides``, a mapping from ``reference`` and
        ``candidate`` to a dictionary with ``segments`` (text, kinds of marks, numbers of the errors whose
        marks end there), which concatenate to the text; ``share``, the share of meaningful words that the
        rules read, None if there are no such words; ``unread``, the statements of which nothing was read;
        ``in_part``, the statements that were read in part, with their unread words and the kind of each word;
        and ``remarks``. Characters that were not read have a mark of kind ``unread``.
    """
    pair = (reference, candidate)
    judgement = judge_pair(*pair)
    green_score = compute_green_score(judgement.matched_findings, sum(judgement.count(True)))
    reasons = list(list_reasons(judgement))
    errors = [reason for reason in reasons if reason.kind == "error"]
    return {
        "scores": {"green_rules": green_score, "green_rules_errors": judgement.weighted_errors},
        "cautions": list(dict.fromkeys([*find_text_cautions(*pair), *find_rule_cautions(*pair)])),
        "errors": [
            {key: getattr(reason, key) for key in ("category", "says", "rule", "significant", "weight")}
            for reason in errors
        ],
        "matched": [reason.finding for reason in reasons if reason.kind == "matched"],
        "sides": {side: _describe_side(side, text, errors) for side, text in zip(SIDES, pair, strict=True)},
    }


def _describe_side(side: str, text: str, errors: list[Reason]) -> dict[str, Any]:
    """Return the entry of one report in ``sides`` of :func:`build_page_data`; ``side`` names the report."""
    result = coverage(text)
    marks = [
        Highlight(span[0], span[1], choose_mark_kind(error.kind, error.significant), number)
        for number, error in enumerate(errors, start=1)
        if (span := getattr(error, side)) is not None
    ]
    unused_words = [word for part in result.in_part for word in part.unused]
    marks += [Highlight(*span, "unread") for span in (*result.unread, *unused_words)]
    return {
        "segments": [[part.text, part.kinds, list(part.numbers)] for part in cut_segments(text, marks)],
        "share": result.share,
        "unread": [text[slice(*span)] for span in result.unread],
        "in_part": [
            {
                "statement": text[slice(*part.span)],
                "words": [
                    [text[slice(*span)], kind] for span, kind in zip(part.unused, part.kinds, strict=True)
                ],
            }
            for part in result.in_part
        ],
        "remarks": list(result.remarks),
    }


def dump_page_data(reference: str, candidate: str) -> str:
    """Return the dictionary of :func:`build_page_data` as JSON in ASCII."""
    return json.dumps(build_page_data(reference, candidate))


class Highlight(NamedTuple):
    """A mark on characters of a text, end exclusive; ``number`` is the error's number from 1, or 0 for other
    marks."""

    start: int
    end: int
    kind: str
    number: int = 0


class Segment(NamedTuple):
    """A stretch of text whose characters have the same marks.

    ``kinds`` are the kinds of marks, separated by blanks, and ``numbers`` the numbers of the errors whose
    marks end where the stretch ends.
    """

    text: str
    kinds: str
    numbers: tuple[int, ...]


def cut_segments(text: str, marks: Iterable[Highlight]) -> Iterator[Segment]:
    """Yield the stretches of a text between positions at which a mark begins or ends, in order.

    The stretches concatenate to the text. A mark without characters is ignored.
    """
    marks = [mark for mark in marks if mark.start < mark.end]
    borders = sorted({0, len(text), *(mark.start for mark in marks), *(mark.end for mark in marks)})
    for start, end in pairwise(borders):
        covering = [mark for mark in marks if mark.start <= start and end <= mark.end]
        kinds = " ".join(sorted({mark.kind for mark in covering}))
        numbers = tuple(mark.number for mark in covering if mark.number and mark.end == end)
        yield Segment(text[start:end], kinds, numbers)


def choose_mark_kind(reason_kind: str, significant: bool | None) -> str:
    """Return the kind of mark for a kind of reason: ``significant`` or ``insignificant`` for ``error``, else
    the same kind, ``matched`` or ``unmatched``."""
    if reason_kind != "error":
        return reason_kind
    return "significant" if significant else "insignificant"
