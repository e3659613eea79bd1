"""Workarounds in a submission are found unrun, and ordinary code is left alone."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from nbformat import NotebookNode

from radeval_lib.labs import lab_sources, workarounds
from radeval_lib.labs.grades import Grade, TaskMark
from radeval_lib.labs.grading_one import withhold_points
from radeval_lib.labs.notebook_files import read
from radeval_lib.labs.workarounds import Workaround, find_workarounds
from tests.labs.mangling import BY_HAND, LAB, NOTEBOOKS, mangled
from tests.labs.ordinary_code import HONEST
from tests.labs.test_labs import LABS, known, versions, with_answer, with_id

GIVEN = [
    "from radeval_lib import labs\nfrom radeval_lib.labs import pictures",
    "from radeval_lib.labs.checks import Checks",
]
WORKAROUNDS = {
    "import radeval_lib.labs.answers as a\na.by_hand = lambda _: nullcontext()": "radeval_lib.labs.answers",
    "labs.answers.normal = 1": "radeval_lib.labs.answers.normal",
    "from radeval_lib.labs import *": "radeval_lib.labs.*",
    "from radeval_lib.labs.checks import callable_answer": "radeval_lib.labs.checks.callable_answer",
    "import radeval_lib.cli.labs": "radeval_lib.cli",
    "mine = labs\nmine.x": "radeval_lib.labs as a value",
    "pictures.labs.answers.by_hand = 1": "by_hand",
    "def f(x):\n    import sys\n    w = sys.getprofile()\n    sys.setprofile(None)": "sys.getprofile",
    "import sys as s\ns.modules['json']": "sys.modules",
    "from sys import modules as m": "sys.modules",
    "import os\nos.sys.path": "sys",
    "from os import sys": "sys",
    "import sys\nt = sys": "sys as a value",
    "import threading": "threading",
    "from concurrent.futures import ThreadPoolExecutor": "concurrent.futures",
    "import inspect\ninspect.currentframe()": "inspect.currentframe",
    "from IPython.core.interactiveshell import InteractiveShell\nInteractiveShell.instance().ex(text)": (
        "get_ipython().ex"
    ),
    "from IPython.core import magic": "IPython.core.magic",
    "exec('x = 1')": "exec",
    "def f():\n    return eval('1')": "eval",
    "e = eval\ne('1')\neval = 3": "eval",
    "c = compile('1', '', 'eval')": "compile",
    "__import__('csv')": "__import__",
    "nltk.x.__dict__['__name__'] = 'mine'": "__dict__",
    "import nltk\nnltk.__name__ = 'mine'": "nltk.__name__ =",
    "import nltk\nvars(nltk)": "vars(nltk)",
    "f.__globals__": "__globals__",
    "globals()['__builtins__']": "__builtins__",
    "getattr(f, '__code__')": "__code__",
    "getattr(x, 'by' + '_hand')": "getattr(x, ...)",
    "def f(x, name):\n    return getattr(x, name)": "getattr(x, name)",
    "map(getattr, [1], ['a'])": "getattr",
    "getattr(*pair)": "getattr",
    "from operator import attrgetter as a": "operator.attrgetter",
    "from unittest.mock import patch\npatch('radeval_lib.labs.answers.by_hand')": "unittest.mock",
    "match f:\n    case object(__globals__=g):\n        pass": "__globals__",
    "%time exec('1')": "exec",
    "%timeit -n1 -r1 exec('1')": "exec",
    "%%time\nimport ctypes": "ctypes",
    "%%capture said\n%time import ctypes": "ctypes",
    "%%writefile mine.py\nimport ctypes": "ctypes",
    "import timeit\ntimeit.timeit('import ctypes; ctypes.pythonapi', number=1)": "ctypes",
    "import timeit\ntimeit.timeit(chr(105) + 'mport ctypes')": "timeit",
    "shell = get_ipython()\nshell.ex(text)": "get_ipython().ex",
    "from IPython import get_ipython as g\ng().run_cell(text)": "run_cell",
    "import collections\ncollections._sys.modules['json']": "collections._sys",
    "import collections\nmine = collections\nmine._sys": "_sys",
    "globals()['__buil' + 'tins__']": "globals()",
    "name = '__buil' + 'tins__'\nglobals()[name]": "globals()",
    "[value for value in globals().values()]": "globals()",
    "import pickle\npickle.load(file)": "pickle.load",
    "from pickle import *\nload(file)": "pickle.load",
    "import pandas as pd\npd.read_pickle(file)": "read_pickle",
    "import numpy as np\nnp.load(file, allow_pickle=True)": "allow_pickle",
    "import numpy as np\nnp.testing.runstring(text, {})": "runstring",
    "import asyncio": "asyncio",
    "import joblib": "joblib",
    "from joblib import Parallel, delayed": "joblib.Parallel",
    "from logging.handlers import QueueListener": "logging.handlers",
    "import _operator": "_operator",
    "from traitlets.utils.importstring import import_item": "traitlets.utils",
    "from radeval_lib import registry": "radeval_lib.registry",
    "%alias_magic mine time": "%alias_magic",
    "%%mine\nimport ctypes": "ctypes",
    "%%python\nimport ctypes": "ctypes",
    "%config IPCompleter.greedy = __import__('csv')": "__import__",
    "!echo {__import__('csv')}": "__import__",
    "!python server.py &": "!python server.py &",
    "%%bash\nnohup ./serve": "!nohup ./serve",
    "!bash serve.sh": "!bash serve.sh",
    "!python -c 'print(1)'": "!python -c 'print(1)'",
    "%run answers.txt": "%run answers.txt",
    "import os\nos.system('python mine.txt')": "!python mine.txt",
    "import os\nos.system(text)": "a command that is not written out",
    "import os\nos.fork()": "os.fork",
    "from pathlib import Path\nPath('mine').with_suffix('.py').write_text(text)\nimport mine": "mine",
    "import shutil\nshutil.copy(place, 'mi' + 'ne.py')\nimport mine": "mine",
    "import sys\nsys.path.insert(0, 'mine.zip')\nimport mine": "mine",
    "import string\nstring.Formatter().get_field('0.x', [f], {})": "string.Formatter",
    "import pytest\npytest.MonkeyPatch().setattr(text, 1)": "pytest.MonkeyPatch",
    "import typing\ntyping.get_type_hints(f)": "typing.get_type_hints",
    "import pandas as pd\npd.eval('@f.__globals__')": "__globals__",
    "table.query('@f.' + 'x')": ".query(...)",
    "def f():\n    '" + "''\n    >>> import ctypes\n    '" + "''": "ctypes",
    "import matplotlib\nmatplotlib.use('module://mine')": "module://",
    "pool = make()\npool.__enter__()": "__enter__",
    "get_ipython().ex('1')": "get_ipython().ex",
    "open('mine.py', 'w').write(text)\nimport mine": "mine",
}
ORDINARY = [
    "import re, sys\nre.compile('a'); sys.exit; print(sys.version, sys.path, file=sys.stderr)",
    "eval = 0.5\nprint(eval)\ndata.eval('a > b'); model.eval()",
    "def f(eval, compile=3):\n    return eval + compile",
    "types = ['a']\ntypes.append('b'); table.dtypes",
    "import pandas as pd\npd.api.types.is_numeric_dtype(1); pd.options.display.max_rows = 9",
    "labs.rng(student_id, 'mine'); labs.seed(3); pictures.bootstrap()",
    "for name in ('a', 'b'):\n    print(getattr(x, name))\n[getattr(x, k) for k in ['a']]",
    "kinds = ('a', 'b')\n[getattr(one, kind) for kind in kinds]",
    "import os, pickle, unittest, operator\nos.getcwd(); pickle.dump(1, f); operator.itemgetter(1)",
    "print(f.__name__, type(x).__name__, __name__); vars(args); globals()['x']; x.__class__",
    "get_ipython().run_line_magic('matplotlib', 'inline')\n%matplotlib inline\n!ls\nfiles = !ls",
    "%%time\nx = 1",
    "%timeit f({1: 2})",
    "from IPython.display import display\nimport IPython",
    "from IPython.core.interactiveshell import InteractiveShell as S\nS.ast_node_interactivity = 'all'",
    "from IPython.core.display import HTML, display\nfrom matplotlib_inline.backend_inline import config",
    "import inspect\nprint(inspect.getsource(labs.rng))",
    "%%bash\nexec ls",
    "exec(",
    "import helper\nfrom helper import words",
    "%%writefile mine.py\ndef f():\n    return 1",
]


def sources(notebook: NotebookNode) -> list[str]:
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def found_in(cells: Sequence[str], files: Mapping[str, bytes], given: Sequence[str]) -> list[Workaround]:
    return find_workarounds(cells, files, given, seconds=60)


@pytest.mark.parametrize("code", WORKAROUNDS)
def test_a_workaround_is_named_with_its_cell(code: str) -> None:
    found = found_in(["x = 1", code], {}, GIVEN)
    assert found, code
    assert found[0].where == "Code cell 2"
    assert WORKAROUNDS[code] in {one.what for one in found}


@pytest.mark.parametrize("code", ORDINARY)
def test_ordinary_code_is_left_alone(code: str) -> None:
    assert found_in([code], {"helper.py": b"words = str.split", "data.csv": b"exec"}, GIVEN) == []


def test_a_module_that_this_process_imported_from_elsewhere_is_no_installed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("mine")
    code = "open('mine.py', 'w').write(text)\nimport mine"
    assert [one.what for one in found_in([code], {}, GIVEN)] == ["mine"]
    assert found_in(["open('numpy.py')\nimport numpy"], {}, GIVEN) == []
    monkeypatch.delitem(sys.modules, "mine")


@pytest.mark.parametrize("lab", HONEST)
def test_ordinary_code_of_many_styles_is_left_alone(lab: str) -> None:
    """Imports, files beside the notebook, classes, texts with values, attributes by name and magics."""
    given = sources(versions(lab)["student"])
    for cells, files in HONEST[lab]:
        assert found_in([*given, *cells], files, given) == [], cells


def test_files_that_came_along_are_read() -> None:
    assert found_in(["import helper"], {"a/helper.py": b"import ctypes"}, GIVEN) == [
        Workaround("ctypes", "The file a/helper.py")
    ]
    hidden = b"# coding: unicode_escape\n# \\u000aimport ctypes\n"
    assert [one.what for one in found_in([], {"helper.py": hidden}, GIVEN)] == ["ctypes"]
    unknown = {"helper.py": b"# coding: no_such_code"}
    assert found_in([], unknown, GIVEN) == [Workaround("helper.py", "A file")]
    assert found_in(["import helper"], {"helper.so": b""}, GIVEN) == [Workaround("helper.so", "A file")]


def test_code_that_cannot_be_read_in_time_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "characters" in found_in(["x = 1\n" * 500_000], {}, GIVEN)[0].what
    deep = "x = " + "-" * 200_000 + "1"
    assert found_in([deep], {}, GIVEN) in ([], [Workaround("code that cannot be read", "The notebook")])

    def never(*_: object, **__: object) -> None:
        while True:
            pass

    monkeypatch.setattr(workarounds, "parse", lambda sources: [] if "0" in sources else never())
    (found,) = find_workarounds(["x"], {}, GIVEN, seconds=1)
    assert found == Workaround("code that cannot be read", "The notebook")


@pytest.mark.parametrize("lab", LABS)
def test_no_honest_submission_is_found(lab: str) -> None:
    """Solutions, mistakes, other styles, and answers made up or taken from packages without a trick."""
    given, solved = sources(versions(lab)["student"]), versions(lab)["instructor"]
    assert found_in(sources(solved), {}, given) == []
    handed_in = [{one["task"]: one["code"]} for one in known(lab)["wrong"]]
    handed_in += [one["answers"] for one in known(lab)["styles"]]
    handed_in += [known(lab)["cheat"], known(lab).get("packages", {})]
    for answers in handed_in:
        notebook = solved
        for task, code in answers.items():
            notebook = with_answer(notebook, task, code)
        assert found_in(sources(notebook), {}, given) == []


@pytest.mark.parametrize("kind", NOTEBOOKS)
def test_of_strange_notebooks_those_are_found_that_reach(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(mangled(kind, with_id(versions(LAB)["instructor"], "ada")))
    found = found_in(read(path).cells, {}, sources(versions(LAB)["student"]))
    assert bool(found) == (kind in REACH), found


REACH = {
    "a function that exits",
    "a crash",
    "an answer that pickles badly",
    "looks for hidden tests",
    "many processes",
    "a fork bomb",
    "much memory in many processes",
    "overwrites and kills",
}


def test_tasks_to_be_written_by_hand_count_nothing_and_the_others_as_before() -> None:
    tasks = {name: TaskMark(2.0, 3.0, ["old"]) for name in ("bleu", "figure")}
    grade = Grade("a", "ada", "lab", tasks)
    withhold_points(grade, [], {"bleu"})
    assert (grade.points, grade.notes) == (4, [])
    found = [Workaround("sys.setprofile", "Code cell 3"), Workaround("gc", "Code cell 4")]
    withhold_points(grade, found, {"bleu"})
    assert {name: mark.points for name, mark in grade.tasks.items()} == {"bleu": 0, "figure": 2}
    assert grade.tasks["bleu"].messages[0] == (
        "Code cell 3 uses `sys.setprofile`, and a task that you are to write yourself takes ordinary code "
        "alone: it counts 0 unless your instructor decides otherwise."
    )
    assert grade.tasks["figure"].messages == ["old"]
    (note,) = grade.notes
    assert "Code cell 3 uses `sys.setprofile`; Code cell 4 uses `gc`" in note
    assert "bleu (2 points)" in note


def test_the_lab_of_strange_notebooks_has_tasks_to_be_written_by_hand() -> None:
    assert {task.name for task in lab_sources.tasks(lab_sources.find(LAB)) if task.without} == BY_HAND
