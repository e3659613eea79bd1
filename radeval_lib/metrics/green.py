"""GREEN: parses a judge's written analysis of a candidate report into error counts, and computes the score.

Sources: Ostmeier et al. 2024, Section 3.2; for the layout of an analysis, the category names and the rules of
the released parser, the GREEN repository at d72c195, ``green_score/green.py`` and ``green_score/utils.py``.

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
from radeval_lib.metrics.base import REPORT_STEPS, Metric, MetricError, Pair, register
from radeval_lib.metrics.by_rules import compute_green_score, list_reasons
from radeval_lib.metrics.cautions import Reason, find_rule_cautions
from radeval_lib.registry import RULES
from radeval_lib.rules.judge import Judgement, judge_pair
from radeval_lib.rules.judge.base import LONGEST, Judge
from radeval_lib.rules.lexicon.significance import Context

Mode = Literal["reference", "strict"]
#: The number of errors in each of the six categories, (a) to (f).
Counts = tuple[int, ...]
_NO_ERRORS: Counts = (0,) * len(LETTERS)

# "[Matched Findings]:" at the beginning of a line.
_HEADER = re.compile(rf"^[ \t]*\[({'|'.join(SECTIONS)})\]:", re.MULTILINE)
_MARKER = re.compile(r"\(([a-f1-6])\)")  # "(a)", or "(1)" in some answers
_NONE = re.compile(r"No(?:ne)?\b")  # "None.", "No errors"
# The part of a fault that quotes the answer. An error must not show it, because it may contain words of a
# report.
_QUOTATION = re.compile(r""": (['"]).*\1$""")


class Analysis(NamedTuple):
    """The counts of errors and matched findings in a judge's analysis.

    Attributes
    ----------
    significant, insignificant : the number of errors in each of the categories (a) to (f); None if the
        section is malformed (mode ``strict``).
    matched : the number of matched findings; None if the section is malformed (mode ``strict``).
    faults : for each malformed part, a sentence that may end with a quotation from the answer; empty in mode
        ``reference``.
    """

    significant: Counts | None
    insignificant: Counts | None
    matched: int | None
    faults: tuple[str, ...] = ()

    @property
    def score(self) -> float | None:
        """The GREEN score, from 0 to 1, which ignores insignificant errors; None if the section of
        significant errors or of matched findings is malformed."""
        if self.significant is None or self.matched is None:
            return None
        return compute_green_score(self.matched, sum(self.significant))


def parse(response: str, mode: Mode = "reference") -> Analysis:
    """Return the counts of errors and matched findings in a judge's analysis.

    Parameters
    ----------
    response : the analysis; pass a model's raw output through :func:`clean` first.
    mode : ``"reference"`` returns the counts of the released parser, including its flaws: a section ends at
        the first blank line, so that an empty section takes over the next one; a missing section and any
        malformed part count as 0; of two lines with the same letter, the alphabetically last counts.
        ``"strict"`` reads a section up to the next header, and returns None and a fault for a malformed one.

    Raises
    ------
    MetricError
        If the mode is unknown.
    """
    check_choice(mode, Mode, "mode", MetricError)
    if mode == "strict":
        return _parse_strictly(response)
    significant, insignificant = (_count_errors(response, name) for name in (SIGNIFICANT, INSIGNIFICANT))
    section = _cut_section(response, MATCHED)
    number = None if section is None or section.startswith("No") else re.search(r"^\b\d+\b(?=\.)", section)
    return Analysis(significant, insignificant, int(number.group()) if number else 0)


def clean(response: str) -> str:
    """Return the analysis in a language model's raw output, cut as the released code cuts it.

    The prompt up to the last ``<|assistant|>``, the header ``[Explanation]:`` with everything before it, and
    the tokens ``</s>`` and ``<unk>`` are left out.
    """
    assistant, explanation = "<|assistant|>", "[Explanation]:"
    text = response.rpartition(assistant)[2]
    if explanation in text:
        # If the placeholder of the layout is still there, the released code takes the text after the first
        # header, else the text after the last.
        has_placeholder = f"{explanation}\n    <Explanation>\n" in text
        text = text.split(explanation)[1 if has_placeholder else -1]
    return text.replace("</s>", "").replace("<unk>", "")


def _cut_section(text: str, name: str) -> str | None:
    """Return a section as the released parser cuts it, up to the first blank line; None if it is missing."""
    section = re.search(rf"\[{name}\]:\s*(.*?)(?:\n\s*\n|\Z)", text, re.DOTALL)
    return section.group(1) if section else None


def _count_errors(text: str, name: str) -> Counts:
    """Return the number of errors of each category in a section, as the released parser counts them.

    All six numbers are 0 if the section is missing or begins with "No". A category is also 0 if its line is
    missing or has no count.
    """
    section = _cut_section(text, name)
    if section is None or section.startswith("No"):
        return _NO_ERRORS
    markers = LETTERS
    lines = sorted(re.findall(r"\([a-f]\) .*", section))
    if not lines:
        markers = DIGITS
        lines = sorted(re.findall(r"\([1-6]\) .*", section))
    counts = dict.fromkeys(markers, 0)
    for line in lines:
        if number := re.search(r"(?<=: )\b\d+\b(?=\.)", line):
            counts[line[1]] = int(number.group())
    return tuple(counts.values())


def _parse_strictly(text: str) -> Analysis:
    """Return the counts in an analysis, with None and a fault for each malformed section."""
    bodies: dict[str, list[str]] = {name: [] for name in SECTIONS}
    _, *names_and_bodies = _HEADER.split(text)
    for name, body in zip(names_and_bodies[::2], names_and_bodies[1::2], strict=True):
        bodies[name].append(body.strip().strip("`").strip())
    faults = [
        f"{name}: {'more than one section' if blocks else 'no such section'}"
        for name, blocks in bodies.items()
        if len(blocks) != 1
    ]
    body_of = {name: blocks[0] for name, blocks in bodies.items() if len(blocks) == 1}
    significant, insignificant = (
        _parse_errors_strictly(name, body_of[name], faults) if name in body_of else None
        for name in (SIGNIFICANT, INSIGNIFICANT)
    )
    matched = None
    if MATCHED in body_of:
        body = body_of[MATCHED]
        if number := green_analysis.COUNT.match(body):
            matched = int(number[1])
        elif _NONE.match(body):
            matched = 0
        else:
            problem = f"not of the form 'count. findings': {body[:60]!r}" if body else "the section is empty"
            faults.append(f"{MATCHED}: {problem}")
    return Analysis(significant, insignificant, matched, tuple(faults))


def _parse_errors_strictly(name: str, body: str, faults: list[str]) -> Counts | None:
    """Return the number of errors of each category in the text ``body`` of the section ``name``; None if it
    is malformed.

    A sentence on each fault is added to ``faults``.
    """
    if _NONE.match(body) and not _MARKER.search(body):
        return _NO_ERRORS
    initial_count, counts = len(faults), dict[str, int]()
    if not body:
        faults.append(f"{name}: the section is empty")
    for line in filter(None, map(str.strip, body.splitlines())):
        entry = green_analysis.ERROR_LINE.match(line)
        if entry is None:
            faults.append(f"{name}: not of the form '(a) category: count. errors': {line[:60]!r}")
            continue
        marker, _, count = entry.groups()
        letter = green_analysis.to_letter(marker)
        if letter in counts:
            faults.append(f"{name}: ({marker}) is given twice")
        if second := green_analysis.ERROR_LINE.search(line, entry.end()):
            faults.append(f"{name}: ({marker}) and ({second.group(1)}) share a line")
        counts[letter] = int(count)
    if len(faults) == initial_count and (missing := [letter for letter in LETTERS if letter not in counts]):
        faults.append(f"{name}: no count for ({'), ('.join(missing)})")
    if len(faults) > initial_count:
        return None
    return tuple(counts[letter] for letter in LETTERS)


@register
class Green(Metric):
    """GREEN (Ostmeier et al. 2024, Equation 1), from 0 to 1, computed from a judge's answers.

    Each score's detail is a tuple of the parsed :class:`~radeval_lib.metrics.green.Analysis` and the judge's
    answer.

    Parameters
    ----------
    judge : ``rules``, the URL ``http://127.0.0.1:...`` of an OpenAI-compatible endpoint on this machine, or
        the folder or Hugging Face Hub name of a causal language model.
    model : the name of the model at an endpoint, unless the name follows ``#`` in ``judge``; empty for other
        judges.
    mode : ``strict`` raises an error for an answer in which the section of significant errors or of matched
        findings is malformed; ``reference`` scores the answer as the released parser does.
    device : where a local language model runs: ``auto``, ``cpu`` or ``cuda``.
    cache : the folder in which answers of language models are kept; None keeps none.
    """

    name = "green"
    title = "GREEN"
    citation = "ostmeier2024green"
    required_roles = ("judge",)
    variant = "mode"
    reads_lines = True

    judge: str = "rules"
    model: str = ""
    mode: Mode = "strict"
    device: str = "auto"
    cache: str | None = None

    @cached_property
    def _judge(self) -> Judge:
        """The judge that the setting ``judge`` names, created when first needed.

        Raises
        ------
        JudgeError, ModelError, StatementError, FileError
            If :func:`radeval_lib.models.judges.open_judge` refuses the settings.
        """
        from radeval_lib.models.judges import open_judge

        return open_judge(self.judge, cache=self.cache, device=self.device, model=self.model)

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterable[str]:
        """Yield the rules' cautions for the rule-based judge; for a language model, yield a caution if a
        text is longer than its prompt allows."""
        if self.judge == RULES:
            yield from find_rule_cautions(reference, candidate)
        elif any(len(text.split()) > LONGEST for text in (reference, candidate)):
            yield f"a text is longer than the {LONGEST} words that the judge is given, and was cut"

    def reads_context(self) -> bool:
        """Return whether the judge is rule-based, because no other judge uses contexts."""
        return self.judge == RULES

    def _score_pairs(self, pairs: Sequence[Pair]) -> Iterable[tuple[float, Any]]:
        """Yield each pair's score, with the parsed counts and the judge's answer as detail."""
        return self._parse_answers(self._judge.judge(pairs))

    def _score_in_context(
        self, pairs: list[Pair], contexts: list[Context | None]
    ) -> Iterable[tuple[float, Any]]:
        """Yield each pair's score by the rule-based judge, given the patient's context or None, with the
        parsed counts and the judge's answer as detail."""
        cases = zip(pairs, contexts, strict=True)
        return self._parse_answers([judge_pair(*pair, context).analysis() for pair, context in cases])

    def _parse_answers(self, answers: list[str]) -> Iterator[tuple[float, Any]]:
        """Yield each answer's score, with the parsed counts and the answer as detail.

        Raises
        ------
        MetricError
            If the mode is unknown or, in mode ``strict``, if an answer's section of significant errors or of
            matched findings is malformed.
        """
        for position, answer in enumerate(answers):
            analysis = parse(clean(answer), self.mode)
            if analysis.score is None:
                problem = f"the judge's answer is malformed: {_QUOTATION.sub('', analysis.faults[0])}"
                where = f"{self.name}, answer {position + 1} of {len(answers)} to distinct pairs"
                remedy = "Set mode=reference to score it as the released parser does, or use another judge."
                raise MetricError(problem, where, remedy)
            yield analysis.score, (analysis, answer)

    def explain(self, reference: str, candidate: str, detail: Any) -> Iterable[Reason]:
        """Yield a reason for each error and each matched finding in the judge's answer."""
        for section, letter, finding in green_analysis.parse_entries(clean(detail[1])):
            if letter:
                yield Reason("error", CATEGORIES[letter], quoted=finding, significant=section == SIGNIFICANT)
            else:
                yield Reason("matched", "", quoted=finding)


@register
class GreenRules(Metric):
    """GREEN (Ostmeier et al. 2024, Equation 1), from 0 to 1, computed from the rule-based judge's findings.

    Findings that both reports state without an error count as matched, and so do statements in which both
    deny a finding or call a structure normal. Each score's detail is a
    :class:`~radeval_lib.rules.judge.Judgement`.
    """

    name = "green_rules"
    title = "GREEN by rules"
    citation = "ostmeier2024green"
    variant = "rules"
    by_rules = True
    reads_lines = True
    normalises = REPORT_STEPS

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterable[str]:
        """Yield the cautions about the pair that follow from reading it by rules."""
        return find_rule_cautions(reference, candidate)

    def reads_context(self) -> bool:
        """Return True, because the context changes the significance of some findings."""
        return True

    def _score_pairs(self, pairs: Sequence[Pair]) -> Iterable[tuple[float, Any]]:
        """Yield each pair's score and judgement, without contexts."""
        return self._score_in_context(list(pairs), [None] * len(pairs))

    def _score_in_context(
        self, pairs: list[Pair], contexts: list[Context | None]
    ) -> Iterable[tuple[float, Any]]:
        """Yield each pair's score and judgement, given the patient's context or None."""
        for pair, context in zip(pairs, contexts, strict=True):
            judgement = judge_pair(*pair, context)
            yield self.compute_value(judgement), judgement

    def compute_value(self, judgement: Judgement) -> float:
        """Return the GREEN score of a judged pair, from 0 to 1."""
        return compute_green_score(judgement.matched_findings, sum(judgement.count(True)))

    def explain(self, reference: str, candidate: str, detail: Any) -> Iterable[Reason]:
        """Yield a reason for each error and each matched statement of the judgement."""
        return list_reasons(detail)


@register
class GreenRulesErrors(GreenRules):
    """The weighted sum of the errors and slight differences that the rules find, at least 0; lower is better.

    A slight difference is a finer, coarser or related finding instead of the same, or another certainty. An
    error's weight depends on the clinical significance of its finding (``rules/lexicon/significance.yml``).
    Unlike the GREEN score, the sum ignores everything on which two reports agree, so that a long normal
    report cannot make up for an error. Each score's detail is a :class:`~radeval_lib.rules.judge.Judgement`.
    """

    name = "green_rules_errors"
    title = "weighted errors by rules"
    range = (0.0, math.inf)
    higher_is_better = False

    def compute_value(self, judgement: Judgement) -> float:
        """Return the weighted sum of a judged pair's errors and slight differences."""
        return judgement.weighted_errors
