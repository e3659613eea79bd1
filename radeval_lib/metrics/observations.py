"""Agreement of two reports on the fourteen CheXpert observations, as read by rules.

The metric stands in for CheXbert (Smit et al. 2020), whose weights this library cannot load. It assigns the
same fourteen labels in the same four classes, but by rules (:mod:`radeval_lib.rules.reader.observations`), so
that its values differ from CheXbert's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from radeval_lib.metrics.base import REPORT_STEPS, Metric, MetricError, register
from radeval_lib.metrics.cautions import Reason
from radeval_lib.rules.reader.observations import FIVE, NO_FINDING, label, list_labels, select_positive


@register
class ObservationF1(Metric):
    """F1 of the observations that two reports state as present or possible, from 0 to 1; 1 if neither states
    any.

    The metric is for chest reports only. Each score's detail is a mapping from ``reference`` and
    ``candidate`` to the labels that :func:`~radeval_lib.rules.reader.observations.label` returns.

    Parameters
    ----------
    labels : the number of observations that are compared: ``14``, or ``5`` for Cardiomegaly, Edema,
        Consolidation, Atelectasis and Pleural Effusion.
    """

    name = "observations"
    title = "observations by rules"
    citation = "smit2020chexbert"
    variant = "f1"
    by_rules = True
    reads_lines = True
    normalises = REPORT_STEPS

    labels: int = 14

    def __post_init__(self) -> None:
        """Select the observations to compare.

        Raises
        ------
        MetricError
            If ``labels`` is neither 5 nor 14.
        """
        if self.labels not in (5, 14):
            remedy = "Set it to 14, or to 5 for the five most often reported."
            raise MetricError(f"{self.labels} is neither 14 nor 5", "observations.labels", remedy)
        self._compared = frozenset(list_labels() if self.labels == 14 else FIVE)

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterable[str]:
        """Yield a caution for each text in which the rules find none of the observations."""
        for labels in (detail["reference"], detail["candidate"]):
            if all(value is None for name, value in labels.items() if name != NO_FINDING):
                yield "a text mentions none of the observations; the rules are for chest reports only"

    def explain(self, reference: str, candidate: str, detail: Any) -> Iterable[Reason]:
        """Yield a reason for each observation that a text states as present or possible."""
        stated = {side: select_positive(labels) & self._compared for side, labels in detail.items()}
        for name in sorted(stated["reference"] | stated["candidate"]):
            if name in stated["reference"] & stated["candidate"]:
                yield Reason("matched", "observation", name)
            else:
                only_side = next(side for side, names in stated.items() if name in names)
                yield Reason("unmatched", "observation", name, f"only the {only_side} states it")

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterable[tuple[float, Any]]:
        """Yield F1 and the labels of both texts for each pair."""
        labels_of = {text: label(text) for text in {text for pair in pairs for text in pair}}
        for reference, candidate in pairs:
            detail = {"reference": labels_of[reference], "candidate": labels_of[candidate]}
            stated = [select_positive(labels) & self._compared for labels in detail.values()]
            total = sum(map(len, stated))
            yield (2 * len(stated[0] & stated[1]) / total if total else 1.0), detail
