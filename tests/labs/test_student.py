"""A submission's cells run as in Jupyter: magics and shell lines work, or leave a remark and are skipped."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

CELLS = {
    "%%time\na = 1": "",
    "%%capture said\nb = 2": "",
    "%time c = 3\n%timeit -n1 -r1 c\nplace = %pwd\nlisted = !ls": "",
    "%matplotlib inline\nd = 4": "",
    "%config InlineBackend.figure_format = 'retina'\n?d": "",
    "%load_ext autoreload\n%autoreload 2\ne = 5": "",
    "%%bash\nls": "",
    "%%writefile notes.txt\nwords": "",
    "if True:\n    %matplotlib inline\n    f = 6": "",
    "%pip install numpy\ng = 7": "%pip was skipped",
    "!false\nh = 8": "!false failed",
    "%matplotlib no_such_backend\ni = 9": "%matplotlib was skipped",
    "%load_ext no_such_extension\nj = 10": "%load_ext was skipped",
    "%no_such_magic\nk = 11": "%no_such_magic was skipped",
    "%%no_such_magic\nl = 12": "a cell of %%no_such_magic was skipped",
    "import sys\nsys.exit(1)": "",
    "exit()": "",
    "m = 13": "",
    "import matplotlib\nmatplotlib.use('TkAgg')\nn = 14": "matplotlib.use was skipped",
    "import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\no = 15": "",
}
RUN = """
import json, sys
from radeval_lib.labs.shell import kernel_shell
shell, remarks = kernel_shell(), []
for cell in json.loads(sys.argv[1]):
    shell.run_cell(cell, store_history=False, silent=False)
    remarks.append(list(shell.remarks))
    shell.remarks.clear()
names = {name: shell.user_ns.get(name) for name in "abcdefghijklmno"}
print(json.dumps({"names": names, "remarks": remarks, "listed": list(shell.user_ns["listed"])}))
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(list(CELLS))],
        cwd=tmp_path_factory.mktemp("own"),
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def test_cells_go_on_after_magics_and_exits(ran: dict[str, object]) -> None:
    wanted = {name: number for number, name in enumerate("abcdefghijklmno", start=1)}
    assert ran["names"] == wanted | {"l": None}  # the text below an unknown cell magic is no Python


@pytest.mark.parametrize("number", range(len(CELLS)))
def test_what_was_skipped_is_remarked(number: int, ran: dict[str, list[list[str]]]) -> None:
    said, wanted = ran["remarks"][number], list(CELLS.values())[number]
    assert len(said) == bool(wanted)
    assert all(one.startswith(wanted) for one in said)
