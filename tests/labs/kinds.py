"""Sixteen ways in which honest students hand in a solved lab, each a change of its notebook."""

from __future__ import annotations

import copy
from collections.abc import Callable

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output

MAGICS = """%matplotlib inline
%config InlineBackend.figure_format = "retina"
%load_ext autoreload
%autoreload 2
%time number = 1
%timeit -n1 -r1 number
!ls
files = !ls"""
BASH = "%%bash\necho hello\nls -la && pwd"
JOBLIB = """from joblib import Parallel, delayed
def square(x):
    return x * x
print(Parallel(n_jobs=2)(delayed(square)(n) for n in range(4)))"""
COLAB = """try:
    from google.colab import drive
    drive.mount("/content/drive")
except ImportError:
    print("not on Colab")"""
HELPER = "%%writefile helper.py\ndef twice(x):\n    return 2 * x"
CLASSES = """from collections import namedtuple
from dataclasses import dataclass
from functools import lru_cache
@dataclass
class Settings:
    order: int = 2
Pair = namedtuple("Pair", "one other")
@lru_cache(maxsize=None)
def cached(n: int) -> int:
    return n
print(getattr(Settings(), "order"), Pair("a", "b")._asdict(), f"{cached(1)=}", "x" in globals())"""
PANDAS = """import pandas as pd
import seaborn as sns
from tqdm.auto import tqdm
pd.set_option("display.max_rows", 5); sns.set_theme()
frame = pd.DataFrame({"a": [1, 2]})
print(frame.query("a > 1"), frame.eval("a + 1"), [one for one in tqdm(range(3))])"""
FILES = """import json, os, pickle, tempfile
from pathlib import Path
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "a.json").write_text(json.dumps([1]))
with open("notes.pkl", "wb") as file:
    pickle.dump({"a": 1}, file)
os.remove("notes.pkl")"""
WARNINGS = """import gc, logging, random, sys, warnings
warnings.filterwarnings("ignore"); logging.basicConfig(level=logging.INFO)
random.seed(0); gc.collect(); sys.setrecursionlimit(5000)
print(sys.version, get_ipython().__class__.__name__)"""


def _behind_the_id(*codes: str) -> Callable[[NotebookNode], None]:
    def change(notebook: NotebookNode) -> None:
        position = next(n for n, cell in enumerate(notebook.cells) if cell.source.startswith("student_id"))
        notebook.cells[position + 1 : position + 1] = map(new_code_cell, codes)

    return change


def _between_all(notebook: NotebookNode) -> None:
    values = [new_code_cell("print('so far', len(dir()))") for _ in notebook.cells]
    notebook.cells = [cell for pair in zip(notebook.cells, values, strict=True) for cell in pair]


def _from_colab(notebook: NotebookNode) -> None:
    notebook.metadata = {"colab": {"provenance": []}}
    for cell in notebook.cells:
        cell.metadata = {"id": "aBcD"}
    _behind_the_id(COLAB)(notebook)


def _with_outputs(notebook: NotebookNode) -> None:
    for number, cell in enumerate(cell for cell in notebook.cells if cell.cell_type == "code"):
        cell.execution_count = number
        cell.outputs = [new_output("stream", name="stdout", text="earlier\n" * 1000)]


def _without_checks(notebook: NotebookNode) -> None:
    notebook.cells = [cell for cell in notebook.cells if "grader.check(" not in cell.source]


def _run_twice(notebook: NotebookNode) -> None:
    notebook.cells = [cell for cell in notebook.cells for _ in range(2)]
    for number, cell in enumerate(notebook.cells):
        notebook.cells[number] = copy.deepcopy(cell)
        notebook.cells[number]["id"] = f"twice-{number}"


def _of_an_old_editor(notebook: NotebookNode) -> None:
    notebook.nbformat_minor = 4
    notebook.metadata = {
        "kernelspec": {"name": "conda-env-ml-py", "display_name": "ml", "language": "python"}
    }
    for cell in notebook.cells:
        del cell["id"]


def _timed_without_text(notebook: NotebookNode) -> None:
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in notebook.cells:
        if not cell.source.startswith(("student_id", "import otter")):
            cell.source = f"%%time\n{cell.source}"


def _with_failures(notebook: NotebookNode) -> None:
    notebook.cells += map(new_code_cell, ("1 / 0", "this is no Python", "input('name')", "no_such_name"))


KINDS: dict[str, Callable[[NotebookNode], None]] = {
    "saved without running": lambda notebook: None,
    "saved with outputs": _with_outputs,
    "magics": _behind_the_id(MAGICS),
    "a bash cell": _behind_the_id(BASH),
    "joblib": _behind_the_id(JOBLIB),
    "an added cell behind each": _between_all,
    "from Colab": _from_colab,
    "checks deleted": _without_checks,
    "every cell twice": _run_twice,
    "another editor and kernel": _of_an_old_editor,
    "a helper module": _behind_the_id(HELPER, "from helper import twice\nprint(twice(2))"),
    "classes and caches": _behind_the_id(CLASSES),
    "pandas, seaborn and tqdm": _behind_the_id(PANDAS),
    "files": _behind_the_id(FILES, WARNINGS),
    "timed cells without text": _timed_without_text,
    "failures behind the end": _with_failures,
}
"""What each kind does to the solved notebook."""
