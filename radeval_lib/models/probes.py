"""Linear probes: logistic regressions on features of an encoder that is not trained."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radeval_lib.errors import ModelError
from radeval_lib.models.frozen import Features

_SMALLEST = np.nextafter(0.0, 1.0)
"""The least probability of a class that training saw, where arithmetic would round it to 0."""


@dataclass(frozen=True)
class Probe:
    """A logistic regression on standardised features, for the classes ``labels``."""

    labels: tuple[str, ...]
    pipeline: Any

    def logits(self, features: Features) -> NDArray[np.float64]:
        """Return logarithms of the probabilities, shape (n, classes); -infinity for a class that training
        never saw, and for no other."""
        known = np.log(np.maximum(self.pipeline.predict_proba(features), _SMALLEST))
        result = np.full((len(features), len(self.labels)), -np.inf)
        result[:, [self.labels.index(name) for name in self.pipeline.classes_]] = known
        return result

    def predict(self, features: Features) -> list[str]:
        """Return the likeliest class of each row."""
        return [self.labels[index] for index in self.logits(features).argmax(axis=1)]


def fit_probe(features: Features, targets: Sequence[str], labels: Sequence[str], penalty: float) -> Probe:
    """Fit a probe.

    Parameters
    ----------
    features : shape (n, h), finite.
    targets : the class of each row.
    labels : all classes, each once; ``targets`` may lack some.
    penalty : what half of the weights' squared norm is multiplied with in the loss; above 0.

    Raises
    ------
    ModelError
        If these are not so, or ``targets`` has fewer than two classes.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    wrong = ""
    if len(features) != len(targets):
        wrong = f"{len(features)} rows of features and {len(targets)} classes of rows"
    elif not np.isfinite(features).all():
        wrong = "features that are not finite"
    elif not 0 < penalty < np.inf:
        wrong = f"a penalty of {penalty}, where it has to be above 0 and finite"
    elif len(set(labels)) < len(labels):
        wrong = "a class is named twice"
    elif odd := sorted(set(targets) - set(labels)):
        wrong = f"the label {odd[0]!r} is none of the {len(labels)} classes"
    elif len(set(targets)) < 2:
        wrong = f"{len(targets)} training rows of {len(set(targets))} class, where it takes two"
    if wrong:
        raise ModelError(wrong, "linear probe")
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=1 / penalty, max_iter=300))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # near its optimum after 300 steps
        pipeline.fit(features, list(targets))
    return Probe(tuple(labels), pipeline)
