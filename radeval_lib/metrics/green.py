"""GREEN: from a judge's written analysis of a candidate report to error counts and the score.

Source: Ostmeier et al. 2024, Section 3.2; layout of an analysis, its category names and the released parser's
rules: GREEN repository at d72c195, ``green_score/green.py`` and ``green_score/utils.py``.

An analysis has three sections: ``[Clinically Significant Errors]:`` and ``[Clinically Insignificant
Errors]:``, each with lines ``(a) <category>: <count>. <errors>`` to ``(f)``, and ``[Matched Findings]:`` with
``<count>. <findings>``.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from radeval_lib.categories import DIGITS, LETTERS
from radeval_lib.errors import RadevalError, check_choice
from radeval_lib.green_analysis import (
    COUNT,
    ERROR_LINE,
    INSIGNIFICANT,
    MATCHED,
    SECTIONS,
    SIGNIFICANT,
    category_letter,
)

Mode = Literal["reference", "strict"]
Counts = tuple[int, int, int, int, int, int]

_ZERO: Counts = (0, 0, 0, 0, 0, 0)

# "[Matched Findings]:" at the beginning of a line.
_HEADER = re.compile(rf"^[ \t]*\[({'|'.join(SECTIONS)})\]:", re.MULTILINE)
_MARK = re.compile(r"\(([a-f1-6])\)")  # (a), or (1) as some answers have it
_NONE = re.compile(r"No(?:ne)?\b")  # "None.", "No errors"


class Analysis(NamedTuple):
    """What was read from a judge's analysis.

    Attributes
    ----------
    significant, insignificant : errors of categories (a) to (f); None where a strict reading found the
        section malformed.
    matched : matched findings; None likewise.
    faults : what is malformed, one sentence each, which may end with a quotation of the answer; empty in
        reference mode, which looks for none.
    """

    significant: Counts | None
    insignificant: Counts | None
    matched: int | None
    faults: tuple[str, ...] = ()

    @property
    def score(self) -> float | None:
        """The GREEN score, without insignificant errors; None where a count that it needs is malformed."""
        if self.significant is None or self.matched is None:
            return None
        return green_score(self.matched, sum(self.significant))


def green_score(matched: int, significant_errors: int) -> float:
    """Return matched findings over matched findings plus clinically significant errors, from 0 to 1.

    Source: Ostmeier et al. 2024, Equation 1; 0 without a match. A count below 0 is a ValueError.
    """
    if matched < 0 or significant_errors < 0:
        raise ValueError(f"counts must not be negative: {matched} matched, {significant_errors} errors")
    return matched / (matched + significant_errors) if matched else 0.0


def parse(response: str, mode: Mode = "reference") -> Analysis:
    """Read a judge's analysis.

    Parameters
    ----------
    response : the analysis, after :func:`clean` where it comes straight from a model.
    mode : ``"reference"`` returns what the released parser returns, flaws included: a section ends at the
        first blank line, so an empty section takes over the next one; whatever does not have the expected
        form counts 0, a missing section too; of two lines with one letter the lexicographically last counts.
        ``"strict"`` reads up to the next header, returns None for a malformed section and says why.

    Raises
    ------
    RadevalError
        If the mode is neither.
    """
    check_choice(mode, Mode, "mode", RadevalError)
    if mode == "strict":
        return _strict(response)
    significant, insignificant = (_reference_errors(response, name) for name in (SIGNIFICANT, INSIGNIFICANT))
    return Analysis(significant, insignificant, _reference_matched(response))


def clean(response: str) -> str:
    """Return a model's raw output without prompt, explanation header and special tokens (as the released
    code)."""
    assistant, explanation = "<|assistant|>", "[Explanation]:"
    text = response.rpartition(assistant)[2]
    if explanation in text:
        # Where the layout with its placeholder is still there, the released code takes what follows it.
        first = f"{explanation}\n    <Explanation>\n" in text
        text = text.split(explanation)[1 if first else -1]
    return text.replace("</s>", "").replace("<unk>", "")


def _reference_section(text: str, name: str) -> str | None:
    found = re.search(rf"\[{name}\]:\s*(.*?)(?:\n\s*\n|\Z)", text, re.DOTALL)
    return found.group(1) if found else None


def _reference_errors(text: str, name: str) -> Counts:
    section = _reference_section(text, name)
    if section is None or section.startswith("No"):
        return _ZERO
    marks = LETTERS
    lines = sorted(re.findall(r"\([a-f]\) .*", section))
    if not lines:
        marks = DIGITS
        lines = sorted(re.findall(r"\([1-6]\) .*", section))
    counts = dict.fromkeys(marks, 0)
    for line in lines:
        if number := re.search(r"(?<=: )\b\d+\b(?=\.)", line):
            counts[line[1]] = int(number.group())
    a, b, c, d, e, f = counts.values()
    return a, b, c, d, e, f


def _reference_matched(text: str) -> int:
    section = _reference_section(text, MATCHED)
    if section is None or section.startswith("No"):
        return 0
    number = re.search(r"^\b\d+\b(?=\.)", section)
    return int(number.group()) if number else 0


def _strict(text: str) -> Analysis:
    faults: list[str] = []
    headers = list(_HEADER.finditer(text))
    names = [header.group(1) for header in headers]
    ends = [header.start() for header in headers[1:]] + [len(text)]
    bodies: dict[str, str] = {}
    for name in SECTIONS:
        if names.count(name) == 1:
            place = names.index(name)
            bodies[name] = text[headers[place].end() : ends[place]].strip().strip("`").strip()
        else:
            faults.append(f"{name}: {'no such section' if name not in names else 'more than one section'}")
    significant, insignificant = (
        _strict_errors(bodies, name, faults) for name in (SIGNIFICANT, INSIGNIFICANT)
    )
    return Analysis(significant, insignificant, _strict_matched(bodies, faults), tuple(faults))


def _strict_errors(bodies: dict[str, str], name: str, faults: list[str]) -> Counts | None:
    if name not in bodies:
        return None
    body = bodies[name]
    if _NONE.match(body) and not _MARK.search(body):
        return _ZERO
    if not body:
        faults.append(f"{name}: the section is empty")
        return None
    found: dict[int, int] = {}
    before = len(faults)
    for line in filter(None, map(str.strip, body.splitlines())):
        entry = ERROR_LINE.match(line)
        if entry is None:
            faults.append(f"{name}: not of the form '(a) category: count. errors': {line[:60]!r}")
            continue
        mark, _, count = entry.groups()
        position = LETTERS.index(category_letter(mark))
        if position in found:
            faults.append(f"{name}: ({mark}) stands twice")
        if other := ERROR_LINE.search(line, entry.end()):
            faults.append(f"{name}: ({mark}) and ({other.group(1)}) share a line")
        found[position] = int(count)
    if len(faults) == before and (absent := [LETTERS[k] for k in range(6) if k not in found]):
        faults.append(f"{name}: no count for ({'), ('.join(absent)})")
    if len(faults) > before:
        return None
    a, b, c, d, e, f = (found[position] for position in range(6))
    return a, b, c, d, e, f


def _strict_matched(bodies: dict[str, str], faults: list[str]) -> int | None:
    if MATCHED not in bodies:
        return None
    body = bodies[MATCHED]
    if number := COUNT.match(body):
        return int(number.group(1))
    if _NONE.match(body):
        return 0
    what = "the section is empty" if not body else f"not of the form 'count. findings': {body[:60]!r}"
    faults.append(f"{MATCHED}: {what}")
    return None
