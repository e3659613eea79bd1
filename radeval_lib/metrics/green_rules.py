"""GREEN's score, and a sum of errors weighed by significance, by the judge that works with rules.

The judge reads findings of both reports and names the errors (:mod:`radeval_lib.models.judges.rules`). Its
rules, words and weights were chosen on Open-i's reports, on generated pairs and from general usage; the
ratings of RadPref were scored after that was frozen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from radeval_lib.metrics.base import Metric, register
from radeval_lib.metrics.green import green_score
from radeval_lib.models.judges.rules import judge_pair


@register
class GreenRules(Metric):
    """Matched findings over matched findings plus significant errors (Ostmeier et al. 2024, Equation 1).

    Findings that both reports state without an error match, and so do shared negative and normal statements.
    The details are :class:`~radeval_lib.models.judges.rules.Judgement`.
    """

    name = "green_rules"
    title = "GREEN by rules"
    citation = "ostmeier2024green"
    reads_lines = True

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterable[tuple[float, Any]]:
        for reference, candidate in pairs:
            judgement = judge_pair(reference, candidate)
            yield green_score(judgement.matched_findings, sum(judgement.count(True))), judgement


@register
class GreenRulesErrors(Metric):
    """The errors that the rules name, each weighed by the significance of its finding; 0 where none is found.

    Weights and shares are those of ``models/judges/rules/significance.yml``. Unlike the GREEN score it does
    not depend on how much the two reports agree on, so a long normal report cannot buy off an error.
    """

    name = "green_rules_errors"
    title = "weighted errors by rules"
    range = (0.0, math.inf)
    higher_is_better = False
    citation = "ostmeier2024green"
    reads_lines = True

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterable[tuple[float, Any]]:
        for reference, candidate in pairs:
            judgement = judge_pair(reference, candidate)
            yield judgement.weighted_errors, judgement
