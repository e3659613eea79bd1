"""F1-RadGraph from annotations: MIMIC-RRS A.2, hand-computed pairs, and values of the reference code.

The values marked "rewards.py" come from running radgraph 0.1.18's rewards.py (as vendored in RadEval 2.2.0)
on the same annotations, those marked "compute_f1" from CXR-Report-Metric 9c9ecad.
"""

from __future__ import annotations

import pytest

from radeval_lib.metrics import radgraph

# Appendix A.2: V with labels in V's order, E as (source, type, target); E's types are not printed.
A2_ENTITIES = [
    ("mild", "obs-dp"),
    ("fluid", "obs-dp"),
    ("overload", "obs-dp"),
    ("overt", "obs-da"),
    ("pulmonary", "anat-dp"),
    ("edema", "obs-da"),
]
A2 = radgraph.build_graph(A2_ENTITIES, [(0, "modify", 2), (2, "modify", 1), (5, "located_at", 4)])


def test_reference_code_value() -> None:
    reference = radgraph.build_graph(
        [("Mild", "OBS-DP"), ("edema", "OBS-DP"), ("Edema", "OBS-DA")], [(2, "located_at", 2)]
    )
    candidate = radgraph.build_graph(
        [("edema", "OBS-DP"), ("mild", "ANAT-DP"), ("edema", "OBS-DA")],
        [(0, "suggestive_of", 2), (0, "located_at", 0)],
    )
    values = [radgraph.compare(reference, candidate, level).f1 for level in ("simple", "partial", "complete")]
    assert values == pytest.approx([1 / 3, 0, 0])  # rewards.py
    assert radgraph.radgraph_combined(reference, candidate) == pytest.approx(1 / 6)  # compute_f1


@pytest.mark.parametrize("level", ["simple", "partial", "complete"])
def test_empty_sides(level: radgraph.Level) -> None:
    empty = radgraph.build_graph([])
    assert radgraph.compare(empty, empty, level).f1 == 0  # the reference code's convention
    assert radgraph.compare(empty, empty, level, both_empty="one").f1 == 1
    for pair in ((A2, empty), (empty, A2)):
        assert radgraph.compare(*pair, level, both_empty="one").f1 == 0


def test_combined_of_identical_reports_without_relations() -> None:
    graph = radgraph.build_graph([("clear", "OBS-DP"), ("lungs", "ANAT-DP")])
    assert radgraph.radgraph_combined(graph, graph) == 0.5  # compute_f1: F1 of two empty sets is 0
    assert radgraph.radgraph_combined(graph, graph, both_empty="one") == 1
    assert radgraph.radgraph_combined(A2, A2) == 1
