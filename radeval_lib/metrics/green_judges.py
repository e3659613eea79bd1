"""GREEN of texts: its errors counted by a judge that is a language model, or by rules."""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from radeval_lib.categories import CATEGORIES
from radeval_lib.green_analysis import SIGNIFICANT, entries
from radeval_lib.metrics.base import Metric, MetricError, register
from radeval_lib.metrics.by_rules import green, reasons_of
from radeval_lib.metrics.cautions import of_rules
from radeval_lib.metrics.green import Mode, clean, parse
from radeval_lib.metrics.reasons import Reason
from radeval_lib.metrics.signature import FRONT_DOOR
from radeval_lib.registry import RULES
from radeval_lib.rules.judge import Judgement, judge_pair
from radeval_lib.rules.judge.base import LONGEST, Judge
from radeval_lib.rules.lexicon.significance import Context

# The end of a fault that quotes the answer, which may have words of a report that an error must not show.
_QUOTED = re.compile(r""": (['"]).*\1$""")


@register
class Green(Metric):
    """Matched findings over matched findings plus significant errors, as a judge counts them (Ostmeier et al.
    2024, Equation 1).

    The details are the parsed :class:`~radeval_lib.metrics.green.Analysis` and the judge's text.

    Parameters
    ----------
    judge : ``rules``, an address ``http://127.0.0.1:...`` of an OpenAI-compatible endpoint on this machine,
        or a folder or hub name of a causal language model.
    model : of an endpoint, the name under which it has the model.
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
        from radeval_lib.models.judges.opening import open_judge

        return open_judge(self.judge, cache=self.cache, device=self.device, model=self.model)

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterable[str]:
        if self.judge == RULES:
            yield from of_rules(reference, candidate)
        elif any(len(text.split()) > LONGEST for text in (reference, candidate)):
            yield f"a text is longer than the {LONGEST} words that the judge is given, and was cut"

    def reads_context(self) -> bool:
        return self.judge == RULES

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterable[tuple[float, Any]]:
        return self._parsed(self._judge.judge(pairs))

    def _score_in_context(
        self, pairs: list[tuple[str, str]], contexts: list[Context | None]
    ) -> Iterable[tuple[float, Any]]:
        return self._parsed([judgement.analysis() for judgement in _judged(pairs, contexts)])

    def _parsed(self, answers: list[str]) -> Iterator[tuple[float, Any]]:
        for place, answer in enumerate(answers):
            read = parse(clean(answer), self.mode)
            if read.score is None:
                raise MetricError(
                    f"the judge's answer to a pair is malformed: {_QUOTED.sub('', read.faults[0])}",
                    f"{self.name}, pair {place + 1} of {len(answers)}",
                    "Use mode=reference to score it as the released parser does, or another judge.",
                )
            yield read.score, (read, answer)

    def _reasons(self, reference: str, candidate: str, detail: Any) -> Iterable[Reason]:
        for section, letter, finding in entries(clean(detail[1])):
            if letter:
                yield Reason("error", CATEGORIES[letter], quoted=finding, significant=section == SIGNIFICANT)
            else:
                yield Reason("matched", "", quoted=finding)


def _judged(pairs: Sequence[tuple[str, str]], contexts: Sequence[Context | None]) -> Iterator[Judgement]:
    """Yield the rules' judgement of each pair, for the patient whose context is known."""
    for pair, context in zip(pairs, contexts, strict=True):
        if not isinstance(context, Context | None):
            what = f"{type(context).__name__} is no context of a patient"
            raise MetricError(what, "contexts", "Give a radeval_lib.Context for each pair, or None.")
        yield judge_pair(*pair, context)


class _ByRules(Metric):
    """What the metrics of the rules' judgement share."""

    citation = "ostmeier2024green"
    variant = "rules"
    by_rules = True
    reads_lines = True
    normalises = FRONT_DOOR

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterable[str]:
        return of_rules(reference, candidate)

    def reads_context(self) -> bool:
        return True

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterable[tuple[float, Any]]:
        return self._score_in_context(list(pairs), [None] * len(pairs))

    def _score_in_context(
        self, pairs: list[tuple[str, str]], contexts: list[Context | None]
    ) -> Iterable[tuple[float, Any]]:
        return ((self._value(judgement), judgement) for judgement in _judged(pairs, contexts))

    @abstractmethod
    def _value(self, judgement: Judgement) -> float:
        """Return the score of a judgement."""

    def _reasons(self, reference: str, candidate: str, detail: Any) -> Iterable[Reason]:
        return reasons_of(detail)


@register
class GreenRules(_ByRules):
    """Matched findings over matched findings plus significant errors (Ostmeier et al. 2024, Equation 1).

    Findings that both reports state without an error match, and so do shared negative and normal statements.
    The details are :class:`~radeval_lib.rules.judge.Judgement`.
    """

    name = "green_rules"
    title = "GREEN by rules"

    def _value(self, judgement: Judgement) -> float:
        return green(judgement)


@register
class GreenRulesErrors(_ByRules):
    """The errors that the rules name, each weighed by the significance of its finding; 0 where none is found.

    Weights and shares are those of ``models/judges/rules/significance.yml``. Unlike the GREEN score it does
    not depend on how much the two reports agree on, so a long normal report cannot buy off an error.
    """

    name = "green_rules_errors"
    title = "weighted errors by rules"
    range = (0.0, math.inf)
    higher_is_better = False

    def _value(self, judgement: Judgement) -> float:
        return judgement.weighted_errors
