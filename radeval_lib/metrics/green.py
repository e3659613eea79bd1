"""GREEN: from a judge's written analysis of a candidate report to error counts and the score.

Source: Ostmeier et al. 2024, Section 3.2; layout of an analysis, its category names and the released parser's
rules: GREEN repository at d72c195, ``green_score/green.py`` and ``green_score/utils.py``.

An analysis has three sections: ``[Clinically Significant Errors]:`` and ``[Clinically Insignificant
Errors]:``, each with lines ``(a) <category>: <count>. <errors>`` to ``(f)``, and ``[Matched Findings]:`` with
``<count>. <findings>``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

from radeval_lib import green_analysis
from radeval_lib.categories import CATEGORIES, DIGITS, LETTERS
from radeval_lib.errors import check_choice
from radeval_lib.green_analysis import INSIGNIFICANT, MATCHED, SECTIONS, SIGNIFICANT
from radeval_lib.metrics.base import FRONT_DOOR, Metric, MetricError, Pair, register
from radeval_lib.metrics.by_rules import green_score, reasons_of
from radeval_lib.metrics.cautions import Reason, rule_cautions
from radeval_lib.registry import RULES
from radeval_lib.rules.judge import Judgement, judge_pair
from radeval_lib.rules.judge.base import LONGEST, Judge
from radeval_lib.rules.lexicon.significance import Context

Mode = Literal["reference", "strict"]
Counts = tuple[int, ...]
"""The errors of each of the six categories."""
_ZERO: Counts = (0,) * len(LETTERS)

# "[Matched Findings]:" at the beginning of a line.
_HEADER = re.compile(rf"^[ \t]*\[({'|'.join(SECTIONS)})\]:", re.MULTILINE)
_MARK = re.compile(r"\(([a-f1-6])\)")  # (a), or (1) as some answers have it
_NONE = re.compile(r"No(?:ne)?\b")  # "None.", "No errors"
# The end of a fault that quotes the answer, which may have words of a report that an error must not show.
_QUOTED = re.compile(r""": (['"]).*\1$""")


class Analysis(NamedTuple):
    """The counts read from a judge's analysis.

    Attributes
    ----------
    significant, insignificant : errors of categories (a) to (f); None if a strict reading found the section
        malformed.
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
        """The GREEN score, without insignificant errors; None if a count that it needs is malformed."""
        if self.significant is None or self.matched is None:
            return None
        return green_score(self.matched, sum(self.significant))


def parse(response: str, mode: Mode = "reference") -> Analysis:
    """Return the counts in a judge's analysis.

    Parameters
    ----------
    response : the analysis; pass a model's raw output through :func:`clean` first.
    mode : ``"reference"`` returns what the released parser returns, flaws included: a section ends at the
        first blank line, so an empty section takes over the next one; whatever does not have the expected
        form counts 0, a missing section too; of two lines with the same letter, the lexicographically last
        counts. ``"strict"`` reads up to the next header, returns None for a malformed section and says why.

    Raises
    ------
    MetricError
        If the mode is unknown.
    """
    check_choice(mode, Mode, "mode", MetricError)
    if mode == "strict":
        return _strict(response)
    significant, insignificant = (_reference_errors(response, name) for name in (SIGNIFICANT, INSIGNIFICANT))
    section = _reference_section(response, MATCHED)
    number = None if section is None or section.startswith("No") else re.search(r"^\b\d+\b(?=\.)", section)
    return Analysis(significant, insignificant, int(number.group()) if number else 0)


def clean(response: str) -> str:
    """Return a model's raw output without prompt, header and special tokens, as the released code does."""
    assistant, explanation = "<|assistant|>", "[Explanation]:"
    text = response.rpartition(assistant)[2]
    if explanation in text:
        # If the layout with its placeholder is still there, the released code takes what follows it.
        first = f"{explanation}\n    <Explanation>\n" in text
        text = text.split(explanation)[1 if first else -1]
    return text.replace("</s>", "").replace("<unk>", "")


def _reference_section(text: str, name: str) -> str | None:
    section = re.search(rf"\[{name}\]:\s*(.*?)(?:\n\s*\n|\Z)", text, re.DOTALL)
    return section.group(1) if section else None


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
    return tuple(counts.values())


def _strict(text: str) -> Analysis:
    bodies: dict[str, list[str]] = {name: [] for name in SECTIONS}
    _, *parts = _HEADER.split(text)
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        bodies[name].append(body.strip().strip("`").strip())
    faults = [
        f"{name}: {'more than one section' if of_name else 'no such section'}"
        for name, of_name in bodies.items()
        if len(of_name) != 1
    ]
    alone = {name: of_name[0] for name, of_name in bodies.items() if len(of_name) == 1}
    significant, insignificant = (
        _strict_errors(name, alone[name], faults) if name in alone else None
        for name in (SIGNIFICANT, INSIGNIFICANT)
    )
    matched = None
    if MATCHED in alone:
        body = alone[MATCHED]
        if number := green_analysis.COUNT.match(body):
            matched = int(number[1])
        elif _NONE.match(body):
            matched = 0
        else:
            problem = f"not of the form 'count. findings': {body[:60]!r}" if body else "the section is empty"
            faults.append(f"{MATCHED}: {problem}")
    return Analysis(significant, insignificant, matched, tuple(faults))


def _strict_errors(name: str, body: str, faults: list[str]) -> Counts | None:
    if _NONE.match(body) and not _MARK.search(body):
        return _ZERO
    before, counts = len(faults), dict[str, int]()
    if not body:
        faults.append(f"{name}: the section is empty")
    for line in filter(None, map(str.strip, body.splitlines())):
        entry = green_analysis.ERROR_LINE.match(line)
        if entry is None:
            faults.append(f"{name}: not of the form '(a) category: count. errors': {line[:60]!r}")
            continue
        mark, _, count = entry.groups()
        letter = green_analysis.category_letter(mark)
        if letter in counts:
            faults.append(f"{name}: ({mark}) is given twice")
        if other := green_analysis.ERROR_LINE.search(line, entry.end()):
            faults.append(f"{name}: ({mark}) and ({other.group(1)}) share a line")
        counts[letter] = int(count)
    if len(faults) == before and (absent := [letter for letter in LETTERS if letter not in counts]):
        faults.append(f"{name}: no count for ({'), ('.join(absent)})")
    if len(faults) > before:
        return None
    return tuple(counts[letter] for letter in LETTERS)


@register
class Green(Metric):
    """GREEN (Ostmeier et al. 2024, Equation 1) from the answers of a judge.

    The details are the parsed :class:`~radeval_lib.metrics.green.Analysis` and the judge's text.

    Parameters
    ----------
    judge : ``rules``, an address ``http://127.0.0.1:...`` of an OpenAI-compatible endpoint on this machine,
        or a folder or hub name of a causal language model.
    model : the model's name at an endpoint.
    mode : ``strict`` refuses an answer that is malformed; ``reference`` scores it as the released parser.
    device : of a language model: ``auto``, ``cpu`` or ``cuda``.
    cache : folder where answers of language models are kept, or None.
    """

    name = "green"
    title = "GREEN"
    citation = "ostmeier2024green"
    needs = ("judge",)
    variant = "mode"
    reads_lines = True

    judge: str = "rules"
    model: str = ""
    mode: Mode = "strict"
    device: str = "auto"
    cache: str | None = None

    @cached_property
    def _judge(self) -> Judge:
        """The judge, opened when first needed."""
        from radeval_lib.models.judges import open_judge

        return open_judge(self.judge, cache=self.cache, device=self.device, model=self.model)

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterable[str]:
        if self.judge == RULES:
            yield from rule_cautions(reference, candidate)
        elif any(len(text.split()) > LONGEST for text in (reference, candidate)):
            yield f"a text is longer than the {LONGEST} words that the judge is given, and was cut"

    def reads_context(self) -> bool:
        return self.judge == RULES

    def _score_pairs(self, pairs: Sequence[Pair]) -> Iterable[tuple[float, Any]]:
        return self._parsed(self._judge.judge(pairs))

    def _score_in_context(
        self, pairs: list[Pair], contexts: list[Context | None]
    ) -> Iterable[tuple[float, Any]]:
        cases = zip(pairs, contexts, strict=True)
        return self._parsed([judge_pair(*pair, context).analysis() for pair, context in cases])

    def _parsed(self, answers: list[str]) -> Iterator[tuple[float, Any]]:
        """Yield the score of each answer, with the counts read from it and the answer."""
        for position, answer in enumerate(answers):
            read = parse(clean(answer), self.mode)
            if read.score is None:
                problem = f"the judge's answer to a pair is malformed: {_QUOTED.sub('', read.faults[0])}"
                where = f"{self.name}, pair {position + 1} of {len(answers)}"
                remedy = "Use mode=reference to score it as the released parser does, or another judge."
                raise MetricError(problem, where, remedy)
            yield read.score, (read, answer)

    def explain(self, reference: str, candidate: str, detail: Any) -> Iterable[Reason]:
        for section, letter, finding in green_analysis.entries(clean(detail[1])):
            if letter:
                yield Reason("error", CATEGORIES[letter], quoted=finding, significant=section == SIGNIFICANT)
            else:
                yield Reason("matched", "", quoted=finding)


@register
class GreenRules(Metric):
    """GREEN (Ostmeier et al. 2024, Equation 1) from the findings of the rule-based judge.

    Findings that both reports state without an error match, and so do shared negative and normal statements.
    The details are :class:`~radeval_lib.rules.judge.Judgement`.
    """

    name = "green_rules"
    title = "GREEN by rules"
    citation = "ostmeier2024green"
    variant = "rules"
    by_rules = True
    reads_lines = True
    normalises = FRONT_DOOR

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterable[str]:
        return rule_cautions(reference, candidate)

    def reads_context(self) -> bool:
        return True

    def _score_pairs(self, pairs: Sequence[Pair]) -> Iterable[tuple[float, Any]]:
        return self._score_in_context(list(pairs), [None] * len(pairs))

    def _score_in_context(
        self, pairs: list[Pair], contexts: list[Context | None]
    ) -> Iterable[tuple[float, Any]]:
        for pair, context in zip(pairs, contexts, strict=True):
            judgement = judge_pair(*pair, context)
            yield self.value(judgement), judgement

    def value(self, judgement: Judgement) -> float:
        """Return the score of a judgement."""
        return green_score(judgement.matched_findings, sum(judgement.count(True)))

    def explain(self, reference: str, candidate: str, detail: Any) -> Iterable[Reason]:
        return reasons_of(detail)


@register
class GreenRulesErrors(GreenRules):
    """The sum of the errors that the rules find, each weighted by the significance of its finding.

    The weights are in ``rules/lexicon/significance.yml``. Unlike the GREEN score, the sum does not depend on
    how much two reports agree on, so a long normal report cannot make up for an error.
    """

    name = "green_rules_errors"
    title = "weighted errors by rules"
    range = (0.0, math.inf)
    higher_is_better = False

    def value(self, judgement: Judgement) -> float:
        return judgement.weighted_errors
