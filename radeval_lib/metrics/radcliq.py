"""RadCliQ (Yu et al. 2023): its released linear models of four scores, and the metric of texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radeval_lib.metrics.base import Metric, MetricError, register
from radeval_lib.metrics.bertscore import BertScore
from radeval_lib.metrics.radgraph import CHUNK, RadGraphCombined

if TYPE_CHECKING:
    from radeval_lib.models.encoders import Encoder

COMPONENTS = ("radgraph_combined", "bertscore", "semb", "bleu2")


class LinearModel(NamedTuple):
    """A linear model of standardised components, each in the order of :data:`COMPONENTS`."""

    means: tuple[float, float, float, float]
    scales: tuple[float, float, float, float]
    weights: tuple[float, float, float, float]
    intercept: float


MODELS = {
    # Scaler fitted on 200 pairs. The weight of BLEU is positive: more overlap predicts more errors.
    "v0": LinearModel(
        means=(0.53984, 0.63125, 0.77168, 0.46074),
        scales=(0.30183, 0.22467, 0.24750, 0.30337),
        weights=(-0.47963, -0.67622, -0.46367, 0.21659),
        intercept=1.641667,
    ),
    # Scaler fitted on 160 pairs. BLEU is without effect.
    "v1": LinearModel(
        means=(0.537923, 0.617573, 0.764794, 0.447383),
        scales=(0.302826, 0.224309, 0.253944, 0.298927),
        weights=(-0.377084, -0.370300, -0.252616, 4.3e-12),
        intercept=2.5e-10,
    ),
}
"""The released models by version: CXR-Report-Metric at 9c9ecad, decoded from its pickled files."""
DISTILROBERTA_BASELINE = 0.8473319
"""F1 of unrelated sentences by distilroberta-base, layer 5, to which the package bert-score 0.3.13
rescales."""
Version = Literal["v0", "v1"]


def radcliq(components: ArrayLike, version: str = "v1") -> NDArray[np.float64]:
    """Return the predicted error count of each pair, float64 of shape (n,), without bounds; lower is better.

    Parameters
    ----------
    components : shape (n, 4), float: RadGraph F1 (mean of entity and relation F1), BERTScore F1, cosine of
        CheXbert embeddings, BLEU-2; in this order, computed as the released code does it.
    version : ``v0`` or ``v1``, see :data:`MODELS`.
    """
    model = MODELS[version]
    standardised = (np.asarray(components, dtype=np.float64) - model.means) / np.array(model.scales)
    return np.asarray(standardised @ np.array(model.weights) + model.intercept)


@register
class RadCliQ(Metric):
    """Errors that a radiologist is expected to count (Yu et al. 2023): lower is better, without bounds.

    The linear models (:data:`~radeval_lib.metrics.radcliq.MODELS`) were fitted to scores of RadGraph's first
    model, of distilroberta-base (BERTScore), of CheXbert's encoder and of BLEU-2. With other models the score
    orders candidates, but its values are not RadCliQ's. Each value's detail is a dictionary of the four.

    Parameters
    ----------
    version : ``v0`` or ``v1``.
    graph_model : see :func:`~radeval_lib.models.graph_extraction.open_extractor`; released:
        ``radgraph:radgraph``.
    encoder : of BERTScore; released: ``distilroberta-base``, whose layer 5 is compared.
    layer, baseline : of BERTScore: the hidden layer (None: the last), and the value that is rescaled to 0;
        None takes bert-score's for the released model, and 0 for any other.
    label_encoder : whose opening token's vectors give SembScore; released: CheXbert's BERT, which is not
        published as safetensors. None takes ``encoder``.
    device : ``auto``, ``cpu`` or ``cuda``.
    """

    name = "radcliq"
    title = "RadCliQ"
    range = (-float("inf"), float("inf"))
    higher_is_better = False
    citation = "yu2023radcliq"
    needs = ("graph_model", "encoder")
    variant = "version"

    version: Version = "v1"
    graph_model: str = "radgraph:radgraph"
    encoder: str = "distilroberta-base"
    layer: int | None = 5
    baseline: float | None = None
    label_encoder: str | None = None
    device: str = "auto"

    def __post_init__(self) -> None:
        if self.baseline is None:
            released = (self.encoder, self.layer) == ("distilroberta-base", 5)
            self.baseline = DISTILROBERTA_BASELINE if released else 0.0
        if not 0 <= self.baseline < 1:
            problem = f"the baseline is {self.baseline}"
            raise MetricError(problem, "radcliq.baseline", "Give 0 or more, and less than 1.")
        self.label_encoder = self.encoder if self.label_encoder is None else self.label_encoder
        self._graphs = RadGraphCombined(graph_model=self.graph_model, device=self.device)
        self._bertscore = BertScore(encoder=self.encoder, layer=self.layer, device=self.device)

    def models(self) -> dict[str, str]:
        return {**super().models(), "label_encoder": str(self.label_encoder)}

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[float, Any]]:
        for start in range(0, len(pairs), CHUNK):
            chunk = pairs[start : start + CHUNK]
            references, candidates = (list(side) for side in zip(*chunk, strict=True))
            left, right = (self._semb.encode(side).astype(np.float64) for side in (references, candidates))
            norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
            bert, baseline = self._bertscore.score(references, candidates).values, self.baseline or 0.0
            columns = [
                self._graphs.score(references, candidates).values,
                (bert - baseline) / (1 - baseline),
                (left * right).sum(axis=1) / np.maximum(norms, 1e-12),  # cosines of label vectors
                np.array([bleu2(*pair) for pair in chunk]),
            ]
            table = np.stack(columns, axis=1)
            for value, row in zip(radcliq(table, self.version), table.tolist(), strict=True):
                yield float(value), dict(zip(COMPONENTS, row, strict=True))

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterator[str]:
        return self._bertscore.cautions(reference, candidate, None)

    @cached_property
    def _semb(self) -> Encoder:
        from radeval_lib.models.encoders import Encoder as TextEncoder

        return TextEncoder(str(self.label_encoder), pooling="cls", max_tokens=512, device=self.device)


def bleu2(reference: str, candidate: str) -> float:
    """Return BLEU-2 as CXR-Report-Metric computes it with fast-bleu 0.0.90; 0 without a common word.

    Texts are lower-cased and split at blanks, full stops are words, and a precision of 0 counts as 0.1 of a
    match.
    """
    words = [text.lower().replace(".", " .").split(" ") for text in (reference, candidate)]
    left, right = ([word for word in side if word] for side in words)
    if not left or not set(left) & set(right):
        return 0.0
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    smoothed = SmoothingFunction(epsilon=0.1).method1
    return float(sentence_bleu([left], right, weights=(0.5, 0.5), smoothing_function=smoothed))
