"""RadCliQ of texts: its four components, computed as the released code does, and their linear model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radeval_lib.metrics.base import Metric, MetricError, register
from radeval_lib.metrics.bertscore import BertScore
from radeval_lib.metrics.f1_radgraph import CHUNK, RadGraphCombined
from radeval_lib.metrics.radcliq import COMPONENTS, MODELS, radcliq

DISTILROBERTA_BASELINE = 0.8473319
"""F1 of unrelated sentences by distilroberta-base, layer 5, to which the package bert-score 0.3.13
rescales."""


@register
class RadCliQ(Metric):
    """Errors that a radiologist is expected to count (Yu et al. 2023): lower is better, without bounds.

    The constants of :mod:`radeval_lib.metrics.radcliq` were fitted to components that four particular models
    give: RadGraph's first model, distilroberta-base for BERTScore, CheXbert's encoder, and BLEU-2. With
    others the score orders candidates, but its values are not RadCliQ's. Each value's detail is a dictionary
    of the components.

    Parameters
    ----------
    version : ``v0`` or ``v1``.
    graph_model : see :func:`~radeval_lib.models.graph.extraction.open_extractor`; released:
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

    def __init__(
        self,
        *,
        version: str = "v1",
        graph_model: str = "radgraph:radgraph",
        encoder: str = "distilroberta-base",
        layer: int | None = 5,
        baseline: float | None = None,
        label_encoder: str | None = None,
        device: str = "auto",
    ) -> None:
        if version not in MODELS:
            raise MetricError(
                f"unknown version {version!r}", "radcliq.version", f"Choices: {', '.join(MODELS)}."
            )
        if baseline is None:
            baseline = DISTILROBERTA_BASELINE if (encoder, layer) == ("distilroberta-base", 5) else 0.0
        if not 0 <= baseline < 1:
            raise MetricError(f"baseline must be at least 0 and below 1, not {baseline}", "radcliq.baseline")
        self.version, self.baseline, self._device = version, baseline, device
        self.label_encoder = encoder if label_encoder is None else label_encoder
        self._graphs = RadGraphCombined(graph_model=graph_model, device=device)
        self._bertscore = BertScore(encoder=encoder, layer=layer, device=device)
        self._semb: Any = None

    def settings(self) -> dict[str, Any]:
        return {
            "version": self.version,
            "graph_model": self._graphs.graph_model,
            "encoder": self._bertscore.encoder,
            "layer": self._bertscore.layer,
            "baseline": self.baseline,
            "label_encoder": self.label_encoder,
        }

    def models(self) -> dict[str, str]:
        return {**super().models(), "label_encoder": self.label_encoder}

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[float, Any]]:
        for start in range(0, len(pairs), CHUNK):
            chunk = pairs[start : start + CHUNK]
            references, candidates = (list(side) for side in zip(*chunk, strict=True))
            bert = self._bertscore.score(references, candidates).values
            columns = [
                self._graphs.score(references, candidates).values,
                (bert - self.baseline) / (1 - self.baseline),
                self._semb_scores(references, candidates),
                np.array([bleu2(*pair) for pair in chunk]),
            ]
            table = np.stack(columns, axis=1)
            for value, row in zip(radcliq(table, self.version), table.tolist(), strict=True):
                yield float(value), dict(zip(COMPONENTS, row, strict=True))

    def _semb_scores(self, references: list[str], candidates: list[str]) -> NDArray[np.float64]:
        """Cosines of the texts' vectors, shape (n,)."""
        if self._semb is None:
            from radeval_lib.models.encoders import Encoder

            self._semb = Encoder(self.label_encoder, pooling="cls", max_tokens=512, device=self._device)
        left, right = (self._semb.encode(texts).astype(np.float64) for texts in (references, candidates))
        norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
        cosines: NDArray[np.float64] = (left * right).sum(axis=1) / np.maximum(norms, 1e-12)
        return cosines


def bleu2(reference: str, candidate: str) -> float:
    """BLEU-2 as CXR-Report-Metric has it from fast-bleu 0.0.90: lower case, full stops apart, words at
    blanks, a precision of 0 smoothed to 0.1 of one match; 0 without a common word."""
    words = [text.lower().replace(".", " .").split(" ") for text in (reference, candidate)]
    left, right = ([word for word in side if word] for side in words)
    if not left or not set(left) & set(right):
        return 0.0
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    smoothed = SmoothingFunction(epsilon=0.1).method1
    return float(sentence_bleu([left], right, weights=(0.5, 0.5), smoothing_function=smoothed))
