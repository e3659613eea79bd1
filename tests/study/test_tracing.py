"""What one statement of a page rests on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from radeval_lib.study import code
from radeval_lib.study.notebook_statements import rests_on, statements
from radeval_lib.study.tracing import TracedReading


def _lines(*cells: str) -> list[tuple[int, int]]:
    """Return where the statements stand that the last line of the last cell rests on."""
    numbered = dict(enumerate(cells, start=1))
    here = (len(cells), len(cells[-1].splitlines()))
    return sorted((one.cell, one.first) for one in rests_on(numbered, here))


def test_a_statement_rests_on_what_gave_its_names_their_values() -> None:
    assert _lines("a = one()\nb = two()", "c = a + 1", "show(b)\nwith x() as e:\n    e.add(c)") == [
        (1, 1),
        (2, 1),
        (3, 2),
    ]


@pytest.mark.parametrize(
    ("before", "used", "lines"),
    [
        ("a = 1\na = 2", "f(a)", [2]),  # the first value is gone
        ("a = 1\na = a + 1", "f(a)", [1, 2]),
        ("a = 1\na += 1", "f(a)", [1, 2]),
        ("a = []\na.append(b)", "f(a)", [1, 2]),
        ("a = {}\na['x'] = b", "f(a)", [1, 2]),
        ("a = 1\nif b:\n    a = 2", "f(a)", [1, 2]),  # either
        ("a = 1\nif b:\n    a = 2\nelse:\n    a = 3", "f(a)", [2]),
        ("a = 1\ng = [a for a in b]", "f(a)", [1]),  # a comprehension's names are its own
        ("a = 1\ng = lambda a: a", "f(a)", [1]),
        ("a = 1\ndef g(x):\n    return x + a", "g(2)", [1, 2]),
        ("a = 1\nfor a in b:\n    pass", "f(a)", [1, 2]),  # b may be empty
        ("a = 1\nwhile b:\n    a = 2\nelse:\n    c = 3", "f(a, c)", [1, 2]),
        ("a = 1\nmatch b:\n    case 2:\n        a = 3", "f(a)", [1, 2]),
        ("a = 1\nmatch b:\n    case [c, *a]:\n        pass", "f(a)", [1, 2]),
        ("a = 1\nclass A:\n    a = 2", "f(a)", [1]),  # a class's names are its own
        ("a = 1\nclass A(a):\n    pass", "f(A)", [1, 2]),
        ("a = 1\ntry:\n    b = 2\nexcept a:\n    b = 3", "f(b)", [1, 2]),
        ("a = 1\ntry:\n    a = 2\nexcept E:\n    pass", "f(a)", [1, 2]),
        ("def g():\n    return a\na = 1", "g()", [1, 3]),  # what is looked up when g is called
        ("g = lambda: a\na = 1\na = 2", "g()", [1, 3]),
        ("a = 1\nx, (y, *z) = g(a)", "f(z)", [1, 2]),
        ("a, b = one(), two()", "f(a)", [1]),
        ("a = 1", "a = 2; f(a)", []),
        ("a = 1", "for a in b: f(a)", []),
        ("import m\na = 1\nm.show(a)", "m.f(2)", [1]),  # a module is not changed by what it shows
        ("run = begin()\na = 1\nrun.headline(a)", "run.f(2)", [1]),
        ("a = 1\nb = 2\nwith x() as e:\n    c = e.add(a)", "f(c)", [1, 3]),
    ],
)
def test_values_that_are_replaced_changed_or_only_of_that_name(
    before: str, used: str, lines: list[int]
) -> None:
    found = rests_on({1: before, 2: used}, (2, 1))
    assert sorted(one.first for one in found if one.cell == 1) == lines


def test_a_statement_that_is_nowhere_in_what_ran_may_rest_on_all_of_it() -> None:
    assert len(rests_on({1: "a = 1\nb = 2"}, (7, 1))) == 2


def test_a_block_is_one_statement() -> None:
    block = "@wraps\ndef f():\n    pass\nwith g() as x:\n    x.y()\n    z = 1"
    assert [(one.first, one.last) for one in statements(1, block)] == [(1, 3), (4, 6)]


class _Shell(InteractiveShell):
    """A shell that counts as a kernel's."""

    kernel = True


def test_an_exhibit_names_what_its_own_statements_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # which a shell replaces
    shell = _Shell(config=Config(HistoryManager={"hist_file": ":memory:"}))
    monkeypatch.setattr(code, "running_shell", lambda: shell)
    reading = TracedReading()
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(name, encoding="utf-8")

    def read(name: str) -> str:
        reading.note_file("set", tmp_path / name, name)
        return name

    def use(role: str) -> str:
        reading.note_model(role, role, "0" * 64)
        return role

    shell.user_ns.update(read=read, use=use, reading=reading, found={})
    reading.note_file("set", tmp_path / "c", "c")  # by no statement
    for cell in (
        "first = read('a')\nsecond = [read('b')]",
        "encoder = use('encoder')\njudge = use('judge')",
        "if True:\n    found['first'] = first, encoder, reading.reached()",
        "found['second'] = second, reading.reached()",
        "found['both'] = first, second, judge, reading.reached()",
    ):
        shell.run_cell(cell, store_history=True).raise_error()
    found = shell.user_ns["found"]
    assert found["first"][-1] == {"a", "c", "encoder"}
    assert found["second"][-1] == {"b", "c", "a", "encoder"}  # of the same dictionary
    assert found["both"][-1] == {"a", "b", "c", "encoder", "judge"}
    monkeypatch.setattr(code, "running_shell", lambda: None)
    assert reading.reached() is None
