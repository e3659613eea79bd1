"""GREEN's score and the weighted errors as metrics."""

import numpy as np

from radeval_lib import metrics


def test_scores_by_hand():
    references = ["Left effusion. No pneumothorax."] * 3
    candidates = ["Left effusion. No pneumothorax.", "No pneumothorax.", "Left effusion. Right pneumothorax."]
    green = metrics.create("green_rules").score(references, candidates)
    np.testing.assert_allclose(green.values, [1.0, 0.5, 0.5])
    errors = metrics.create("green_rules_errors").score(references, candidates)
    # Missing an actionable effusion counts 0.5, a false pneumothorax 1.
    np.testing.assert_allclose(errors.values, [0.0, 0.5, 1.0])
    assert errors.details[1].errors[0].category == "b"
    assert not metrics.get("green_rules_errors").higher_is_better


def test_nothing_matched_scores_zero():
    assert metrics.create("green_rules").score([""], [""]).values.tolist() == [0.0]
