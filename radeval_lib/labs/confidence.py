"""Classifiers whose calibration is known, because their documents' classes are drawn from probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from radeval_lib import labs
from radeval_lib.stats.calibration_draws import known_classifier

_TEMPERATURES = (0.35, 0.45, 0.55, 1.8, 2.2, 2.6)  # too sure below 1, not sure enough above


def classifier(
    student_id: str, name: str, documents: int, divided_by: float | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A classifier's logits over 46 classes, and the true classes of its documents.

    Parameters
    ----------
    name : what is drawn; another name gives other documents.
    documents : how many.
    divided_by : what calibrated logits are divided by, above 0. 1 leaves the classifier calibrated, less
        makes it too sure, more not sure enough; None takes the student's own. Its reciprocal undoes it.

    Returns
    -------
    arrays of shapes (documents, 46) and (documents,)
    """
    logits, truth = known_classifier(labs.rng(student_id, f"documents {name}"), documents)
    own = labs.rng(student_id, "temperature").choice(_TEMPERATURES)
    return logits / (own if divided_by is None else divided_by), truth
