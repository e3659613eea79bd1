"""The drawing of the pipeline says what the explanation holds, and nothing runs out of its boxes."""

import matplotlib as mpl
import numpy as np
import pytest

from radeval_lib.metrics.base import MetricError
from radeval_lib.metrics.ratescore import Scorer
from radeval_lib.pages.ratescore.how_it_works import WIDTH, pipeline

mpl.use("Agg")
LONG = "moderate pulmonary vascular congestion of both lungs with a very long name"
REFERENCE = [("pleural fluid", "NON-ABNORMALITY"), ("heart", "ANATOMY")]
CANDIDATE = [("pleural effusion", "ABNORMALITY"), (LONG, "ABNORMALITY"), ("heart", "ANATOMY")]
COSINES = np.array([[0.71, 0.3, 0.1], [0.2, 0.1, 1.0]])


@pytest.fixture
def drawn():
    import matplotlib.pyplot as plt

    explanation = Scorer("long").score(REFERENCE, CANDIDATE, COSINES)
    figure = pipeline(explanation, "No pleural fluid. " * 6, "Pleural effusion.")
    yield explanation, figure
    plt.close(figure)


def words(figure):
    return [text.get_text() for text in figure.axes[0].texts if text.get_text()]


def test_it_names_every_entity_in_both_directions(drawn):
    _, figure = drawn
    assert words(figure).count("heart") == 4  # on both sides of both directions
    assert words(figure).count("pleural fluid") == 2


def test_it_states_the_cosines_the_sums_and_the_score(drawn):
    explanation, figure = drawn
    found = " ".join(words(figure))
    for match in (*explanation.precision.matches, *explanation.recall.matches):
        assert f"{match.weight:.3f} × {match.penalty:.2f} × {match.cosine:.2f}" in found
    for way in (explanation.precision, explanation.recall):
        assert f"{way.numerator:.3f} / sum of weights {way.denominator:.3f} = {way.value:.3f}" in found
    assert f"= {explanation.score:.3f}" in found


def test_an_arrow_leads_from_each_entity_to_its_match(drawn):
    explanation, figure = drawn
    arrows = [text for text in figure.axes[0].texts if getattr(text, "arrow_patch", None) is not None]
    assert len(arrows) == len(CANDIDATE) + len(REFERENCE)
    heights = [round(arrow.xy[1] - arrow.xyann[1], 6) for arrow in arrows]
    matches = (*explanation.precision.matches, *explanation.recall.matches)
    assert [np.sign(height) for height in heights] == [np.sign(m.query - m.match) for m in matches]


def test_long_names_stay_inside_the_figure(drawn):
    _, figure = drawn
    figure.canvas.draw()
    assert figure.get_size_inches()[0] == WIDTH
    width, height = figure.canvas.get_width_height()
    for text in figure.axes[0].texts:
        box = text.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= width + 1
        assert box.y0 >= 0
        assert box.y1 <= height + 1


def test_a_side_without_entities_cannot_be_drawn():
    explanation = Scorer("long").score([], CANDIDATE, None)
    with pytest.raises(MetricError, match="no entity"):
        pipeline(explanation, "", "Pleural effusion.")


@pytest.mark.parametrize("name", ["stable cardiomediastinal silhouette", "minimal vascular congestio", LONG])
def test_a_name_does_not_run_into_the_sign_of_its_type(name):
    import matplotlib.pyplot as plt

    sides = [(name, "NON-ABNORMALITY")]
    figure = pipeline(Scorer("long").score(sides, sides, np.ones((1, 1))), name, name)
    figure.canvas.draw()
    boxes = {text.get_text(): text.get_window_extent() for text in figure.axes[0].texts}
    inside = [
        box for text, box in boxes.items() if text.replace("\n", " ")[:10] == name[:10] and box.y1 < 250
    ]
    right_ends = [text.get_window_extent() for text in figure.axes[0].texts if text.get_text() == "no ABN"]
    assert inside
    assert all(box.x1 < min(end.x0 for end in right_ends if end.x0 > box.x0) for box in inside)
    plt.close(figure)
