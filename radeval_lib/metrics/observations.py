"""Agreement of the fourteen chest observations that two reports state, read by rules.

It takes the place of CheXbert (Smit et al. 2020) until that model's weights are available: the same fourteen
labels in four classes (:mod:`radeval_lib.rules.reader.observations`), so its values are not CheXbert's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from radeval_lib.metrics.base import FRONT_DOOR, Metric, MetricError, register
from radeval_lib.metrics.cautions import Reason
from radeval_lib.rules.reader.observations import FIVE, NO_FINDING, label, observations, positive


@register
class ObservationF1(Metric):
    """F1 of the observations that two reports state to be present; 1 if neither states any.

    It fits reports of the chest alone.

    Parameters
    ----------
    labels : ``14``, or ``5`` for Cardiomegaly, Edema, Consolidation, Atelectasis and Pleural Effusion.
    """

    name = "observations"
    title = "observations by rules"
    citation = "smit2020chexbert"
    variant = "f1"
    by_rules = True
    reads_lines = True
    normalises = FRONT_DOOR

    labels: int = 14

    def __post_init__(self) -> None:
        if self.labels not in (5, 14):
            problem = f"there is no set of {self.labels} labels"
            raise MetricError(problem, "observations.labels", "Give 14 or 5.")
        self._kept = frozenset(observations() if self.labels == 14 else FIVE)

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterable[str]:
        for text in (detail["reference"], detail["candidate"]):
            if all(value is None for name, value in text.items() if name != NO_FINDING):
                yield "a text mentions none of the observations; the rules fit chest reports alone"

    def explain(self, reference: str, candidate: str, detail: Any) -> Iterable[Reason]:
        ours, theirs = (positive(detail[side]) & self._kept for side in ("reference", "candidate"))
        for name in sorted(ours | theirs):
            if name in ours & theirs:
                yield Reason("matched", "observation", name)
            else:
                alone = "reference" if name in ours else "candidate"
                yield Reason("unmatched", "observation", name, f"the {alone} alone states it")

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterable[tuple[float, Any]]:
        labels = {text: label(text) for text in {text for pair in pairs for text in pair}}
        for reference, candidate in pairs:
            ours, theirs = (positive(labels[text]) & self._kept for text in (reference, candidate))
            total = len(ours) + len(theirs)
            value = 2 * len(ours & theirs) / total if total else 1.0
            yield value, {"reference": labels[reference], "candidate": labels[candidate]}
