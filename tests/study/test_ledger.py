"""What the ledger says of exhibits that were not checked: implementations, and what is left over."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from pathlib import Path

import pytest

from radeval_lib.papers.exhibits import PAPERS, Exhibit, ledger, load_paper
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
        named_object = import_module(module)
        for name in path.split("."):
            named_object = getattr(named_object, name)
        assert callable(named_object) or isinstance(named_object, property)
        assert inspect.getdoc(named_object)
        assert names & set(path.split(".")), "the test's file never names the function"
    compares = [node for node in ast.walk(functions[test]) if isinstance(node, ast.Assert)]
    assert compares or "assert_allclose" in ast.dump(functions[test])


@pytest.mark.parametrize("paper", PAPERS)
def test_an_exhibit_has_an_id_of_its_own_paper(paper: str) -> None:
    ids = [entry.id for entry in load_paper(paper)["exhibits"]]
    assert len(set(ids)) == len(ids)
    assert all(name.startswith(f"{paper}.") for name in ids)


def test_the_box_names_both(tmp_path: Path) -> None:
    run = begin("facts/fact_counting", profile="smoke", seed=0, output_dir=str(tmp_path))
    run.implemented("facts.def_recall")
    (result,) = read_all(tmp_path)
    assert (result.verdict, result.evidence, result.coverage) == ("implemented", "definition", None)
    assert "tests/stats/test_fact_counts.py::test_figure_3" in exhibit_html(result)


def test_what_is_unchecked_is_reported() -> None:
    for entry in ledger().values():
        for level, named in entry.unchecked.items():
            assert entry.unchecked_on(level) == len(set(named)) == len(named) > 0
            assert all(isinstance(statement, str) and statement.strip() for statement in named)
            assert entry.remaining.get(level), f"{entry.id}, {level}: nothing says why of {named}"
