"""RadCliQ: errors that a radiologist is expected to count, predicted from four metrics of a candidate report.

Lower is better, and negative values are possible: a perfect candidate scores -0.242 (v0) or -1.441 (v1).
Average the values of the pairs; a reciprocal of that mean, as some packages report it, has a pole at 0 and
changes order there.

Source: Yu et al. 2023, Patterns 4(9); constants of the released models, CXR-Report-Metric repository at
9c9ecad.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

COMPONENTS = ("radgraph_combined", "bertscore", "semb", "bleu2")


@dataclass(frozen=True)
class LinearModel:
    """A linear model of standardised components, each in the order of :data:`COMPONENTS`.

    ``means`` and ``scales`` standardise a component; ``weights`` and ``intercept`` give the predicted errors.
    """

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


def radcliq(components: ArrayLike, version: str = "v1") -> NDArray[np.float64]:
    """Predicted error count of each pair.

    Parameters
    ----------
    components : shape (n, 4), float: RadGraph F1 (mean of entity and relation F1), BERTScore F1, cosine of
        CheXbert embeddings, BLEU-2; in this order, computed as the released code does it.
    version : ``"v0"`` or ``"v1"``.

    Returns
    -------
    ndarray
        float64 of shape (n,); lower is better, no bounds.

    Raises
    ------
    ValueError
        Where the shape is another, a component is not finite, or the version is unknown.
    """
    if version not in MODELS:
        raise ValueError(f"unknown version {version!r}; versions: {', '.join(MODELS)}")
    values = np.asarray(components, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(COMPONENTS):
        raise ValueError(f"components has shape {values.shape}; give (n, 4): {', '.join(COMPONENTS)}")
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise ValueError(f"row {row} of components holds a value that is not finite: {values[row].tolist()}")
    model = MODELS[version]
    standardised = (values - np.array(model.means)) / np.array(model.scales)
    result: NDArray[np.float64] = standardised @ np.array(model.weights) + model.intercept
    return result
