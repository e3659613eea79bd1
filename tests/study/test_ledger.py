"""What the ledger says of exhibits that were not checked: implementations, and what is left over."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from pathlib import Path

import pytest

from radeval_lib.errors import LedgerError
from radeval_lib.papers import exhibits
from radeval_lib.papers.exhibits import Exhibit, _read, description, ledger
from radeval_lib.paths import ROOT
from radeval_lib.study import begin, read_all
from radeval_lib.study.exhibit_html import exhibit_html

IMPLEMENTED = [entry for entry in ledger().values() if entry.implemented]


@pytest.mark.parametrize("entry", IMPLEMENTED, ids=lambda entry: entry.id)
def test_what_is_implemented_names_a_function_and_a_test_of_it(entry: Exhibit) -> None:
    assert entry.implemented is not None
    file, _, test = entry.implemented.test.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert test in functions
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(functions[test]) if isinstance(node, ast.Attribute)}
    for function in entry.implemented.functions:
        module, _, path = function.partition(":")
        found = import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
        assert callable(found) or isinstance(found, property)
        assert inspect.getdoc(found)
        assert names & set(path.split(".")), "the test's file never names the function"
    compares = [node for node in ast.walk(functions[test]) if isinstance(node, ast.Assert)]
    assert compares or "assert_allclose" in ast.dump(functions[test])


def test_implemented_is_for_legible_definitions_guidelines_and_examples() -> None:
    assert IMPLEMENTED
    for entry in IMPLEMENTED:
        assert entry.kind in ("definition", "guideline", "worked_example")
        assert entry.legible in ("full", "partial")


@pytest.mark.parametrize("change", [{"kind": "table"}, {"legible": "no"}])
def test_anything_else_is_refused(change: dict[str, str]) -> None:
    (row,) = (row for row in description("rales")["exhibits"] if row["id"] == "rales.eq_ece")
    assert _read("rales", [row])["rales.eq_ece"].implemented
    with pytest.raises(LedgerError, match="is not implemented, nor what our copy lacks"):
        _read("rales", [row | change])


def test_an_exhibit_stands_with_its_own_paper() -> None:
    row = description("rales")["exhibits"][0]
    with pytest.raises(LedgerError, match=r"green/paper\.yml, exhibit 1 \(rales.*names another paper"):
        _read("green", [row])


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"legibel": "full"}, r"table1\): unknown key 'legibel'\. Did you mean 'legible'\? Keys: id"),
        ({"implemented": {"function": "a:b", "tset": "c"}}, r"implemented: unknown key 'tset'\. .*'test'"),
        ({"legible": "fully"}, "unknown `legible` 'fully'"),
        ({"needs": "RadGraph"}, "`needs` is a text"),
        ({"remaining": {"prnt": "The rest."}}, "unknown level 'prnt'"),
        ({"unchecked": {"prnt": ["one"]}}, "unknown level 'prnt'"),
    ],
)
def test_a_misspelt_ledger_is_refused(change: dict[str, object], fault: str) -> None:
    row = description("rales")["exhibits"][0]
    with pytest.raises(LedgerError, match=fault):
        _read("rales", [row | change])
    spelt = {"legibel" if key == "legible" else key: value for key, value in row.items()}
    with pytest.raises(LedgerError, match=r"unknown key 'legibel'\. Did you mean 'legible'\?"):
        _read("rales", [spelt])
    with pytest.raises(LedgerError, match="exhibit 2: not a mapping"):
        _read("rales", [row, "rales.table1"])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("name: GREEN\n", "", r"no key 'name'\. Add it\."),
        ("order: 3\n", "", r"no key 'order'"),
        ("venue:", "veneu:", r"unknown key 'veneu'\. Did you mean 'venue'\?"),
        ("citation:", "citatoin:", r"unknown key 'citatoin'\. Did you mean 'citation'\?"),
        ("citation: ostmeier2024green\n", "", r"no key 'citation'\. Add it\."),
        (
            "citation: ostmeier2024green",
            "citation: ostmeier2024gren",
            r"citation: no source 'ostmeier2024gren'\. Did you mean 'ostmeier2024green'\?",
        ),
    ],
)
def test_a_paper_is_described_whole(
    old: str, new: str, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = exhibits.file_of("green").read_text(encoding="utf-8")
    assert text.count(f"\n{old}") == 1
    (tmp_path / "green").mkdir()
    (tmp_path / "green" / "paper.yml").write_text(text.replace(f"\n{old}", f"\n{new}"), encoding="utf-8")
    monkeypatch.setattr(exhibits, "_FOLDER", tmp_path)
    monkeypatch.setattr(exhibits, "description", exhibits.description.__wrapped__)
    with pytest.raises(LedgerError, match=f"paper.yml.*{fault}"):
        exhibits._names()


def test_the_box_names_both(tmp_path: Path) -> None:
    run = begin("facts/fact_counting", profile="smoke", seed=0, output_dir=str(tmp_path))
    run.implemented("facts.def_recall")
    (result,) = read_all(tmp_path)
    assert (result.verdict, result.evidence, result.coverage) == ("implemented", "definition", None)
    html = exhibit_html(result)
    assert "radeval_lib.stats.measures:FactCounts.recall" in html
    assert "tests/stats/test_fact_counts.py::test_figure_3" in html


def test_what_an_implementation_leaves_out_is_said(tmp_path: Path) -> None:
    run = begin("ratescore/how_it_works", profile="smoke", seed=0, output_dir=str(tmp_path))
    run.implemented("ratescore.eq_entities", "ratescore.eq_match")
    left = {result.exhibit: result.remaining for result in read_all(tmp_path)}
    assert "a set" in left["ratescore.eq_entities"]
    assert left["ratescore.eq_match"] == ""


def test_what_is_unchecked_is_reported() -> None:
    for entry in ledger().values():
        for level, named in entry.unchecked.items():
            assert entry.unchecked_on(level) == len(set(named)) == len(named) > 0
            assert all(isinstance(one, str) and one.strip() for one in named)
            assert entry.remaining.get(level), f"{entry.id}, {level}: nothing says why of {named}"
