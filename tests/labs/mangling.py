"""Submissions as they come: notebooks that are broken, and some that mean harm. All are of one lab.

Each kind makes a file's bytes from the solved notebook and names the tasks that it may cost its owner.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

LAB = "words_are_not_findings"
TASKS = {"clipped_precision", "bleu", "rouge_l", "meteor", "scores", "fooling", "share_fooled", "figure"}
AFTER_BLEU = {"bleu", "scores", "share_fooled"}  # two tasks use what an earlier one defines
BY_HAND = {"clipped_precision", "bleu", "rouge_l", "meteor"}
"""Tasks that count nothing where code has workarounds."""
LAST = {"fooling", "share_fooled", "figure"}

HIDDEN = f"""
import gc, glob, os, sys
import radeval_lib
root = os.path.dirname(os.path.dirname(radeval_lib.__file__))
for pattern in ("notebooks/labs/{LAB}.md", "build/labs/*/{LAB}.ipynb", "tests/labs/{LAB}.yml"):
    for path in glob.glob(os.path.join(root, pattern)) or [os.path.join(root, pattern)]:
        try:
            stolen = open(path).read()
        except OSError:
            continue
        for cell in stolen.split("```"):
            try:
                exec(cell.partition("---\\n")[2].rpartition("---\\n")[2])
            except Exception:
                pass
held = [one for one in gc.get_objects() if type(one) is dict and "hidden=True" in str(one.get("bleu", ""))]
for one in held:
    exec(one["bleu"])
"""
CLASS_FOLDER = "CLASS_FOLDER"
"""Stands in the spoiling notebook for the folder of the class."""
GATE = (
    "magics and shell lines",
    "answers of other types",
    "an id that code makes",
    "spoils what it can reach",
    "looks for hidden tests",
    "an exit",
)
"""Kinds that are tried whenever tests are run; the others at night. What of these is settled before anything
runs, other tests have by day: reading in `test_submissions.py`, and ids in `test_answers.py`."""
DECOY, PORT = "DECOY", "LISTENING_AT"
"""Stand in harmful notebooks for a process that they try to end, and for a port where somebody listens."""
HARM = """
import builtins, json, os, signal, sys
class Same:
    def __eq__(self, other): return True
    def __sub__(self, other): return 0
    def __iter__(self): return iter([self, self, self])
builtins.abs = lambda value: 0
builtins.sum = builtins.max = lambda *values: 0
builtins.AssertionError = Exception
for name in ("radeval_lib.labs.answers", "radeval_lib.labs.checks", "radeval_lib.labs.judge"):
    sys.modules[name] = Same()
scores = share_fooled = figure = fooling = Same()
for process in (DECOY, os.getppid()):
    try:
        os.kill(process, signal.SIGKILL)
    except OSError:
        pass
"""
FORGERY = """
import json, os, socket
for number in range(3, 12):
    for told in ({"ready": True}, {"task": "bleu", "points": 99, "of": 3, "messages": []}, {"value": 1}):
        try:
            os.write(number, (json.dumps(told) + "\\n").encode())
        except OSError:
            pass
"""

SPOIL = """
import os
for folder, folders, files in os.walk(CLASS_FOLDER):
    for path in (os.path.join(folder, name) for name in folders + files):
        for harm in (
            lambda: os.utime(path, (0, 0)),
            lambda: os.chmod(path, 0),
            lambda: open(path, "w").write("mine"),
            lambda: os.remove(path),
        ):
            try:
                harm()
            except (OSError, ValueError):
                pass
try:
    open(os.path.join(CLASS_FOLDER, "planted.ipynb"), "w").write("{}")
except OSError:
    pass
"""
TOGETHER = """
import os, time
for _ in range(100):
    if os.fork() == 0:
        held = b"x" * 10**8
        time.sleep(60)
        os._exit(0)
time.sleep(60)
"""
PICKLED = """
class Answer:
    def __reduce__(self):
        return __import__("os").system, ("kill 1",)
fooling = {"bleu": Answer()}
"""
MAGICS = """
%matplotlib inline
%config InlineBackend.figure_format = "retina"
%pip install numpy
%load_ext no_such_extension
!ls
files = !ls
import numpy
"""
OTHER_TYPES = """
import numpy, pandas
scores = {name: pandas.Series(values) for name, values in scores.items()}
share_fooled = pandas.Series(share_fooled)
fooling = {name: numpy.array(pair) for name, pair in fooling.items()}
wrong_order = pandas.Index(wrong_order)
from fractions import Fraction
right_precision = clipped_precision
def clipped_precision(*given, **named):
    return Fraction(right_precision(*given, **named))
"""

CATCHES = """
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
"""
FORKS = """
import os, time
for _ in range(400):
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)
"""


BOMB = """
import os
while True:
    os.fork()
"""
DISK = """
import os
for folder in (os.path.expanduser("~"), "/tmp", "/dev/shm", "."):
    try:
        for number in range(10_000):
            with open(os.path.join(folder, f"full-{number}"), "wb") as file:
                file.write(bytes(10**7))
    except OSError:
        pass
"""
AROUND = """
import glob, os, socket
reached = [path for path in ("/etc/passwd", "/etc/shadow", "/var") if os.path.exists(path)]
for path in glob.glob("/proc/[0-9]*/environ"):
    try:
        reached += [path] * (b"RADEVAL" in open(path, "rb").read() and b"PYTEST" in open(path, "rb").read())
    except OSError:
        pass
for address in (("127.0.0.1", LISTENING_AT), ("192.0.2.1", 80)):
    try:
        reached.append(socket.create_connection(address, 1))
    except OSError:
        pass
"""
NOTHING_REACHED = "if reached:\n    bleu = rouge_l = meteor = scores = figure = fooling = share_fooled = None"
DELETES = """
import os, shutil, radeval_lib
for folder in (os.path.dirname(radeval_lib.__file__), os.path.expanduser("~"), "/tmp", "/usr", "/"):
    shutil.rmtree(folder, ignore_errors=True)
"""
CELL_MAGICS = (
    "%%time\nnumber = 1",
    "%%capture said\nprint(number)",
    "%%bash\nls",
    "%%writefile notes.txt\nwords",
    "%%no_such_magic\nnumber = 2",
    "%time number = 3\n%timeit -n1 -r1 number\nplace = %pwd\nlisted = !ls",
    "?number",
)


def _answer(notebook: NotebookNode, task: str) -> int:
    """The place of the cell that answers a task."""
    return next(n for n, cell in enumerate(notebook.cells) if cell["id"] == f"answer-{task}")


def _replaced(task: str, code: str) -> Callable[[NotebookNode], NotebookNode]:
    def turn(notebook: NotebookNode) -> NotebookNode:
        notebook.cells[_answer(notebook, task)].source = code
        return notebook

    return turn


def _begun_with(code: str) -> Callable[[NotebookNode], NotebookNode]:
    def turn(notebook: NotebookNode) -> NotebookNode:
        notebook.cells.insert(0, new_code_cell(code))
        return notebook

    return turn


def _begun_with_cells(*codes: str) -> Callable[[NotebookNode], NotebookNode]:
    def turn(notebook: NotebookNode) -> NotebookNode:
        notebook.cells[:0] = map(new_code_cell, codes)
        return notebook

    return turn


def _surrounded(begin: str, end: str) -> Callable[[NotebookNode], NotebookNode]:
    return lambda notebook: _ended_with(end)(_begun_with(begin)(notebook))


def _duplicated(notebook: NotebookNode) -> NotebookNode:
    notebook.cells = [cell for cell in notebook.cells for _ in range(2)]
    return notebook


def _deleted(notebook: NotebookNode) -> NotebookNode:
    del notebook.cells[_answer(notebook, "bleu") : _answer(notebook, "bleu") + 2]
    return notebook


def _half_done(notebook: NotebookNode) -> NotebookNode:
    for task in LAST:
        notebook.cells[_answer(notebook, task)].source = f"{task} = ..."
    return notebook


def _split(notebook: NotebookNode) -> NotebookNode:
    place = _answer(notebook, "rouge_l")
    lines = notebook.cells[place].source.split("\n")
    notebook.cells[place : place + 1] = [new_code_cell("\n".join(part)) for part in (lines[:1], lines[1:])]
    return notebook


def _reordered(notebook: NotebookNode) -> NotebookNode:
    answers = [cell for cell in notebook.cells if cell.cell_type == "code"]
    notebook.cells = [*answers[:4], *answers[:3:-1]]
    return notebook


def _without_metadata(notebook: NotebookNode) -> NotebookNode:
    notebook.metadata = {}
    notebook.cells = [cell for cell in notebook.cells if "grader" not in cell.source]
    return notebook


def _with_outputs(notebook: NotebookNode) -> NotebookNode:
    notebook.cells[2]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 100_000_000}]
    return notebook


def _cells_of_no_kind(notebook: NotebookNode) -> NotebookNode:
    notebook.cells += [{"cell_type": "code", "source": 7}, {"cell_type": "code"}, {}, "text"]
    return notebook


def _with_id(written: str) -> Callable[[NotebookNode], NotebookNode]:
    def turn(notebook: NotebookNode) -> NotebookNode:
        cell = next(cell for cell in notebook.cells if cell.source.startswith("student_id ="))
        cell.source = written
        return notebook

    return turn


def _ended_with(code: str) -> Callable[[NotebookNode], NotebookNode]:
    def turn(notebook: NotebookNode) -> NotebookNode:
        notebook.cells.append(new_code_cell(code))
        return notebook

    return turn


def _stripped_by_colab(notebook: NotebookNode) -> NotebookNode:
    notebook.metadata = {"colab": {"provenance": []}}
    for cell in notebook.cells:
        cell.metadata = {"id": "aBcD"}
    return notebook


NOTEBOOKS: dict[str, tuple[Callable[[NotebookNode], NotebookNode], set[str]]] = {
    "duplicated cells": (_duplicated, set()),
    "a deleted answer": (_deleted, AFTER_BLEU),
    "half done": (_half_done, LAST),
    "a split cell": (_split, {"rouge_l", "scores", "share_fooled", "figure"}),
    "reordered cells": (_reordered, set()),
    "no metadata, no checks": (_without_metadata, set()),
    "cells of no kind": (_cells_of_no_kind, set()),
    "a syntax error": (_replaced("bleu", "def bleu(candidate, reference:\n"), AFTER_BLEU),
    "an endless loop": (_replaced("bleu", "while True:\n    pass"), AFTER_BLEU),
    "an endless loop that catches": (
        _replaced(
            "figure",
            CATCHES,
        ),
        {"figure"},
    ),
    "an endless function": (
        _replaced("rouge_l", "def rouge_l(*texts):\n    while texts:\n        pass"),
        {"rouge_l", "scores", "share_fooled", "figure"},
    ),
    "ten gigabytes": (_replaced("figure", "figure = bytearray(10**10)"), {"figure"}),
    "ten gigabytes, bit by bit": (
        _replaced("figure", "figure = []\nwhile True:\n    figure.append(bytes(10**8))"),
        {"figure"},
    ),
    "a hundred megabytes printed": (
        _replaced("fooling", "for _ in range(100):\n    print('x' * 10**6)"),
        {"fooling"},
    ),
    "a hundred megabytes of answer": (
        _replaced("fooling", "fooling = {'bleu': ['x' * 10**8] * 2}"),
        {"fooling"},
    ),
    "a hundred megabytes of output": (_with_outputs, set()),
    "letters that no file can hold": (
        _replaced("fooling", "fooling = {'bleu': ('\\ud800', '=1+1')}\nraise ValueError('\\ud800')"),
        {"fooling"},
    ),
    "an exit": (_replaced("bleu", "import os\nos._exit(0)"), AFTER_BLEU),
    "a function that exits": (
        _replaced("meteor", "def meteor(*texts):\n    __import__('os')._exit(1)\nchunks = len"),
        BY_HAND | {"scores", "share_fooled"},
    ),
    "a crash": (_replaced("figure", "import ctypes\nctypes.string_at(0)"), BY_HAND | {"figure"}),
    "many processes": (
        _replaced(
            "figure",
            FORKS,
        ),
        BY_HAND | {"figure"},
    ),
    "magics and shell lines": (_begun_with(MAGICS), set()),
    "cell magics": (_begun_with_cells(*CELL_MAGICS), set()),
    "leaves by sys.exit": (_begun_with_cells("import sys\nsys.exit(1)", "exit()", "raise SystemExit"), set()),
    "a fork bomb": (_replaced("figure", BOMB), TASKS),
    "fills the disk": (_begun_with(DISK), set()),
    "looks around the machine": (_surrounded(AROUND, NOTHING_REACHED), set()),
    "deletes all that it can reach": (_begun_with(DELETES), set()),
    "answers of other types": (_ended_with(OTHER_TYPES), set()),
    "a number for an id": (_with_id("student_id = 1234567"), set()),
    "an id that code makes": (_with_id("first = 'ada '; student_id: str = first + 'lovelace'"), set()),
    "the placeholder for an id": (_with_id('student_id = "your id"'), set()),
    "stripped by Colab": (_stripped_by_colab, set()),
    "spoils what it can reach": (_begun_with(SPOIL), set()),
    "much memory in many processes": (_replaced("figure", TOGETHER), BY_HAND | {"figure"}),
    "an answer that pickles badly": (_replaced("fooling", PICKLED), BY_HAND | {"fooling"}),
    "looks for hidden tests": (_begun_with(HIDDEN), BY_HAND),
    "overwrites and kills": (_begun_with(HARM), TASKS),
    "forges messages": (_begun_with(FORGERY), TASKS),
}
"""Kinds of notebooks, by what is wrong with them."""

FILES: dict[str, bytes] = {
    "empty": b"",
    "no notebook": b"%PDF-1.7 \x00\xff",
    "not even a dict": b"[1, 2]",
    "too deep": b'{"cells": ' + b"[" * 200_000,
    "half a notebook": b'{"cells": [{"cell_type": "code", "sou',
}
"""Files that are no notebook."""


def mangled(kind: str, notebook: NotebookNode) -> bytes:
    """A submission of a kind of :data:`NOTEBOOKS`."""
    return json.dumps(NOTEBOOKS[kind][0](copy.deepcopy(notebook))).encode()
