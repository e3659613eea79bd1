"""RadCliQ (Yu et al. 2023): the released linear models of four scores, and the metric computed from texts."""

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
    """A linear model of standardised components.

    ``means`` and ``scales`` standardise the components, and ``weights`` multiply them; each has one number
    per component, in the order of :data:`COMPONENTS`. ``intercept`` is added to the sum.
    """

    means: tuple[float, float, float, float]
    scales: tuple[float, float, float, float]
    weights: tuple[float, float, float, float]
    intercept: float


#: A mapping from version to released model, decoded from the pickled files of CXR-Report-Metric at 9c9ecad.
MODELS = {
    # Scaler fitted on 200 pairs. The weight of BLEU is positive: more overlap predicts more errors.
    "v0": LinearModel(
        means=(0.53984, 0.63125, 0.77168, 0.46074),
        scales=(0.30183, 0.22467, 0.24750, 0.30337),
        weights=(-0.47963, -0.67622, -0.46367, 0.21659),
        intercept=1.641667,
    ),
    # Scaler fitted on 160 pairs. The weight of BLEU is practically 0.
    "v1": LinearModel(
        means=(0.537923, 0.617573, 0.764794, 0.447383),
        scales=(0.302826, 0.224309, 0.253944, 0.298927),
        weights=(-0.377084, -0.370300, -0.252616, 4.3e-12),
        intercept=2.5e-10,
    ),
}
#: The BERTScore of unrelated sentences by distilroberta-base, layer 5, which bert-score 0.3.13 rescales to 0.
DISTILROBERTA_BASELINE = 0.8473319
Version = Literal["v0", "v1"]


def compute_radcliq(components: ArrayLike, version: str = "v1") -> NDArray[np.float64]:
    """Return the predicted number of errors of each pair, float64 of shape (n,); lower is better. Predictions
    may be negative.

    Parameters
    ----------
    components : float of shape (n, 4), with the columns RadGraph F1 (mean of entity and relation F1),
        BERTScore F1, cosine of CheXbert embeddings, and BLEU-2, each computed as the released code does.
    version : ``v0`` or ``v1``, a key of :data:`MODELS`.

    Raises
    ------
    KeyError
        If the version is unknown.
    """
    model = MODELS[version]
    z_scores = (np.asarray(components, dtype=np.float64) - model.means) / np.array(model.scales)
    return np.asarray(z_scores @ np.array(model.weights) + model.intercept)


@register
class RadCliQ(Metric):
    """Predicted number of errors that a radiologist would count (Yu et al. 2023); lower is better, and values
    may be negative.

    The linear models (:data:`~radeval_lib.metrics.radcliq.MODELS`) were fitted to scores of RadGraph's first
    model, of distilroberta-base (BERTScore), of CheXbert's encoder and of BLEU-2. With other models, scores
    can still rank candidates, but they are not RadCliQ's values. Each score's detail is a dictionary of the
    four components, with the keys :data:`~radeval_lib.metrics.radcliq.COMPONENTS`.

    Parameters
    ----------
    version : ``v0`` or ``v1``, a key of :data:`~radeval_lib.metrics.radcliq.MODELS`.
    graph_model : the model that extracts graphs (``radgraph:radgraph`` in the released code); see
        :func:`~radeval_lib.models.graph_extraction.open_extractor`.
    encoder : the encoder for BERTScore (``distilroberta-base`` in the released code).
    layer : the hidden layer that BERTScore compares (5 in the released code); None takes the last.
    baseline : the BERTScore that is rescaled to 0, at least 0 and below 1; None takes bert-score's value for
        the released encoder and layer, and 0 for any other.
    label_encoder : the encoder for SembScore, the cosine of the first tokens' vectors; None takes
        ``encoder``. The released code uses CheXbert's BERT, which is not published as safetensors.
    device : ``auto``, ``cpu`` or ``cuda``.
    """

    name = "radcliq"
    title = "RadCliQ"
    range = (-float("inf"), float("inf"))
    higher_is_better = False
    citation = "yu2023radcliq"
    required_roles = ("graph_model", "encoder")
    variant = "version"

    version: Version = "v1"
    graph_model: str = "radgraph:radgraph"
    encoder: str = "distilroberta-base"
    layer: int | None = 5
    baseline: float | None = None
    label_encoder: str | None = None
    device: str = "auto"

    def __post_init__(self) -> None:
        """Replace ``baseline`` and ``label_encoder`` if they are None, and create the component metrics.

        Raises
        ------
        MetricError
            If ``baseline`` is not in [0, 1).
        """
        if self.baseline is None:
            is_released = (self.encoder, self.layer) == ("distilroberta-base", 5)
            self.baseline = DISTILROBERTA_BASELINE if is_released else 0.0
        if not 0 <= self.baseline < 1:
            remedy = "Use a number of at least 0 and below 1, or omit it for the default."
            raise MetricError(f"{self.baseline} is not in [0, 1)", "radcliq.baseline", remedy)
        self.label_encoder = self.encoder if self.label_encoder is None else self.label_encoder
        self._radgraph = RadGraphCombined(graph_model=self.graph_model, device=self.device)
        self._bertscore = BertScore(encoder=self.encoder, layer=self.layer, device=self.device)

    def models(self) -> dict[str, str]:
        """Return a mapping from role to the name or folder of its model, including SembScore's encoder."""
        return {**super().models(), "label_encoder": str(self.label_encoder)}

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[float, Any]]:
        """Yield the predicted number of errors and a dictionary of the four components for each pair."""
        for start in range(0, len(pairs), CHUNK):
            chunk = pairs[start : start + CHUNK]
            references, candidates = (list(side) for side in zip(*chunk, strict=True))
            vectors = np.array([self._semb_encoder.encode(side) for side in (references, candidates)], float)
            norms = np.linalg.norm(vectors, axis=2).prod(axis=0)
            bertscores, baseline = self._bertscore.score(references, candidates).values, self.baseline or 0.0
            columns = [
                self._radgraph.score(references, candidates).values,
                (bertscores - baseline) / (1 - baseline),
                vectors.prod(axis=0).sum(axis=1) / np.maximum(norms, 1e-12),  # SembScore: cosines
                np.array([compute_bleu2(*pair) for pair in chunk]),
            ]
            table = np.stack(columns, axis=1)
            for value, row in zip(compute_radcliq(table, self.version), table.tolist(), strict=True):
                yield float(value), dict(zip(COMPONENTS, row, strict=True))

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterator[str]:
        """Yield the cautions of BERTScore about the pair."""
        return self._bertscore.cautions(reference, candidate, None)

    @cached_property
    def _semb_encoder(self) -> Encoder:
        """The encoder for SembScore, loaded when first needed; raises ModelError if it cannot be loaded."""
        from radeval_lib.models.encoders import Encoder as TextEncoder

        return TextEncoder(str(self.label_encoder), pooling="cls", max_tokens=512, device=self.device)


def compute_bleu2(reference: str, candidate: str) -> float:
    """Return BLEU-2 of a pair, from 0 to 1, as CXR-Report-Metric computes it with fast-bleu 0.0.90; 0 if the
    texts have no word in common.

    Texts are lower-cased and split at blanks, a full stop is a word, and an n-gram order without a match
    counts as 0.1 matches.
    """
    split_texts = (text.lower().replace(".", " .").split(" ") for text in (reference, candidate))
    target_words, output_words = ([word for word in words if word] for words in split_texts)
    if not target_words or not set(target_words) & set(output_words):
        return 0.0
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    smooth = SmoothingFunction(epsilon=0.1).method1
    return float(sentence_bleu([target_words], output_words, weights=(0.5, 0.5), smoothing_function=smooth))
