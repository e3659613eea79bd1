"""When a printed number and a computed one agree."""

from __future__ import annotations

import ast
import re

import pandas as pd
import pytest

from radeval_lib.paths import NOTEBOOKS, ROOT
from radeval_lib.study import Estimate, above, below, f1, parse
from radeval_lib.study.checks import (
    by_reading,
    check_bounds,
    check_groups,
    check_one_sided,
    check_setting,
    check_value,
)
from radeval_lib.study.results import judge, statement_outcome
from radeval_lib.study.sources import code_of
from radeval_lib.study.verdicts import FAILS, HOLDS


@pytest.mark.parametrize(
    ("printed", "computed", "agrees"),
    [
        ("0.57", 0.5651, True),  # rounds to 0.57
        ("0.57", 0.575, True),  # the very edge: rounding half up or down, both are seen in print
        ("0.57", 0.5761, False),
        ("0.57", Estimate(0.58, 0.574, 0.586), True),  # what the inputs' rounding allows meets 0.565 .. 0.575
        ("0.57", Estimate(0.58, 0.5755, 0.586), False),
        ("207,782", 207782, True),
        ("79,779", 79790, False),  # counts are exact
        ("36%", 36.4, True),
    ],
)
def test_agreement_is_a_matter_of_rounding(printed: str, computed: float | Estimate, agrees: bool) -> None:
    assert check_value("name", printed, computed).agrees is agrees


@pytest.mark.parametrize(
    ("printed", "low", "high", "possible", "outcome"),
    [
        ("0.25", -0.22, 0.87, (-1, 1), "inconclusive"),  # would accept half of all correlations
        ("0.25", 0.00, 0.49, (-1, 1), "holds"),  # just below a quarter
        ("0.25", 0.00, 0.51, (-1, 1), "inconclusive"),
        ("-0.80", -0.22, 0.87, (-1, 1), "fails"),  # wide, and still misses
        ("0.60", 0.30, 1.40, (0, 1), "inconclusive"),  # what is impossible does not count
        ("4.0", 3.6, 4.4, None, "holds"),  # no range given: half of the printed value is too wide
        ("4.0", 2.9, 5.1, None, "inconclusive"),
        ("-4.0", -5.1, -2.9, None, "inconclusive"),
        ("0", -0.4, 0.4, None, "holds"),
    ],
)
def test_an_interval_that_accepts_too_much_tells_nothing(
    printed: str, low: float, high: float, possible: tuple[float, float] | None, outcome: str
) -> None:
    estimate = Estimate((low + high) / 2, low, high)
    assert check_value("n", printed, estimate, possible=possible).outcome == outcome


@pytest.mark.parametrize(
    ("readings", "outcome"),
    [
        ({"a": 0.25, "b": 0.251}, "holds"),
        ({"a": 0.35, "b": 0.36}, "fails"),
        ({"a": 0.25, "b": 0.35}, "inconclusive"),
        # An interval that accepts too much decides nothing, so it fails under no reading.
        ({"a": Estimate(0.3, 0.0, 0.6), "b": Estimate(0.3, 0.1, 0.5)}, "inconclusive"),
        ({"a": Estimate(0.3, 0.0, 0.6), "b": 0.36}, "inconclusive"),
        ({"a": Estimate(0.3, 0.0, 0.6), "b": 0.25}, "holds"),
    ],
)
def test_a_number_of_open_readings_holds_or_fails_under_all(
    readings: dict[str, Estimate | float], outcome: str
) -> None:
    rows = by_reading({name: check_value("n", parse("0.25"), value) for name, value in readings.items()})
    assert [row.reading for row in rows] == ["a", "b"]
    assert statement_outcome(rows) == outcome
    if {row.outcome for row in rows} == {"holds", "fails"}:
        assert judge("numbers", rows, {}) == "inconclusive: depends on the reading"


@pytest.mark.parametrize(("number", "outcome"), [("0.40", "inconclusive"), ("0.60", "fails")])
def test_a_bound_can_only_contradict(number: str, outcome: str) -> None:
    exact = check_value("exact", "5", 5)
    bound = check_bounds("bound", "c", [(parse("0.40"), 0.0, 0.5), (parse(number), 0.3, 0.5)])
    assert (bound.outcome, bound.needed) == (outcome, outcome == "fails")
    assert judge("numbers", [bound], {}) == {"fails": "inconsistent"}.get(outcome, "inconclusive")
    assert judge("numbers", [exact, bound], {}) == {"fails": "inconsistent"}.get(outcome, "consistent")
    wide = check_value("wide", "0.40", Estimate(0.4, 0.0, 0.8))
    assert judge("numbers", [exact, wide], {}) == "consistent"
    idle = check_one_sided("n", "c", "nothing against it", fails=False)
    assert statement_outcome(by_reading({"a": idle, "b": exact})) == "holds"


def _table(f1_of_b: str) -> pd.DataFrame:
    cells = f"a P 0.50, a R 0.50, a F 0.50, b P 0.20, b R 0.80, b F {f1_of_b}, c P 0.20, c F 0.3"
    frame = pd.DataFrame([cell.split() for cell in cells.split(", ")], columns=["model", "metric", "printed"])
    numbers = list(map(parse, frame["printed"]))
    widths = [number.half_width for number in numbers]
    return frame.assign(value=[number.value for number in numbers], half_width=widths)


@pytest.mark.parametrize(("printed", "agrees"), [("0.32", True), ("0.40", False)])
def test_groups_are_checked_one_by_one(printed: str, agrees: bool) -> None:
    # Harmonic mean of 0.20 and 0.80: 0.32. Group c lacks its recall and is left out.
    checks = check_groups(
        _table(printed),
        by="model",
        target={"metric": "F"},
        inputs={"metric": ["P", "R"]},
        function=lambda pair: f1(*pair),
        what="F1",
    )
    assert [check.name for check in checks] == ["F1, a", "F1, b"]
    assert [check.agrees for check in checks] == [True, agrees]


@pytest.mark.parametrize(
    ("interval", "outcome"),
    [((0.1, 0.3), True), ((-0.3, -0.1), False), ((-0.1, 0.1), None), ((0.0, 0.1), None)],
)
def test_an_interval_that_holds_the_edge_decides_nothing(
    interval: tuple[float, float], outcome: bool | None
) -> None:
    assert above(*interval) is outcome
    assert above(interval[0] + 0.5, interval[1] + 0.5, 0.5) is outcome
    assert below(-interval[1] + 0.5, -interval[0] + 0.5, 0.5) is outcome


def test_a_setting_is_checked_against_the_released_code(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_setting("GREEN", "epochs of fine-tuning").outcome == FAILS
    assert check_setting("RaLEs", "epochs (entities)").outcome == HOLDS
    rows = pd.DataFrame([("P", "rate", "2e-5", "0.00002"), ("P", "batch", "2,048", "2,049")])
    rows.columns = ["paper", "setting", "paper_says", "code_has"]
    monkeypatch.setattr("radeval_lib.study.checks.released", lambda name: rows)
    assert [check_setting("P", name).outcome for name in rows["setting"]] == [HOLDS, FAILS]
    with pytest.raises(ValueError):
        check_setting("P", "epochs")


def typed_outcomes(program: str) -> list[str]:
    """Return claims in words whose outcome is a constant, apart from those under a computed condition."""
    tree = ast.parse(program)
    conditions = [node for node in ast.walk(tree) if isinstance(node, ast.If)]
    decided = {part for node in conditions for part in ast.walk(node)}
    typed = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node not in decided:
            name = ast.unparse(node.func).rpartition(".")[2]
            given = node.args[3:4] + [word.value for word in node.keywords if word.arg == "holds"]
            if name in ("states", "check_statement") and any(isinstance(x, ast.Constant) for x in given):
                typed.append(ast.unparse(node))
    return typed


def test_no_outcome_is_typed() -> None:
    assert typed_outcomes("page.states('what', 'claim', f'{made}', None)")
    programs = {path: path.read_text("utf-8") for path in (ROOT / "radeval_lib").rglob("*.py")}
    programs |= {path: code_of(path.read_text("utf-8")) for path in NOTEBOOKS.rglob("*.md")}
    claims = re.compile(r"\b(states|check_statement)\(")
    assert not [typed for text in programs.values() if claims.search(text) for typed in typed_outcomes(text)]
