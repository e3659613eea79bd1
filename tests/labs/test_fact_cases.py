"""Summaries with known facts: what is common, left out and invented, and how systems differ."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from radeval_lib.labs.fact_cases import SYSTEMS, fact_cases, facts, wordings
from radeval_lib.rules.generator import Denial, Normal, PlannedFinding, Remark, Statement


def test_facts_by_hand() -> None:
    plan = (
        Statement(0, PlannedFinding("effusion", side="left", severity=1, change="new"), 0),
        Statement(1, Denial(("pneumothorax", "consolidation")), 0),
        Statement(2, Normal("heart"), 0),
        Statement(3, Remark("technique"), 0),
    )
    assert facts(plan) == {
        ("finding", "effusion", "present"),
        ("place", "effusion", None, "left"),
        ("degree", "effusion", 1, None),
        ("change", "effusion", "new"),
        ("absent", "pneumothorax"),
        ("absent", "consolidation"),
        ("normal", "heart"),
    }


def test_names_of_one_finding_stand_together() -> None:
    plan = (
        Statement(0, PlannedFinding("osteopenia"), 0),
        Statement(1, Denial(("consolidation", "edema")), 0),
        Statement(2, Normal("heart"), 0),
    )
    result = wordings([plan, plan])
    for wanted in ({"bony demineralization", "osteopenia"}, {"airspace consolidation", "consolidation"}):
        assert sum(wanted <= {*names} for names in result) == 1
    assert all(len(names) > 1 for names in result)


def test_parts_of_a_summary() -> None:
    invented = defaultdict(list)
    for case in fact_cases(30, seed=1):
        assert tuple(item.system for item in case) == SYSTEMS
        assert len({item.reference.findings.text for item in case}) == 1
        for item in case:
            reference, candidate = facts(item.reference.plan), facts(item.candidate.plan)
            assert reference
            assert item.common | item.omitted == reference
            assert not item.invented & (facts(item.source.plan) | reference)
            assert item.common | item.invented <= candidate
            invented[item.system].append(len(item.invented))
    # What only selects cannot invent; what alters does.
    assert sum(invented["first statements"]) == sum(invented["selection"]) == 0
    assert np.mean(invented["altered reference"]) > 0.5


def test_a_case_depends_on_seed_and_number_alone() -> None:
    assert list(fact_cases(3, seed=4)) == list(fact_cases(4, seed=4))[:3] != list(fact_cases(3, seed=5))
