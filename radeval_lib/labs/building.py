"""Makes the versions of a lab with Otter: the student's notebook, the solved one and the autograder."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import nbformat

from radeval_lib.labs.checks import SOLUTION_FILE
from radeval_lib.labs.sources import Lab, otter_notebook, solution
from radeval_lib.paths import BUILD, ROOT

OUTPUT = BUILD / "labs"
WORK = ROOT / "my_labs"
"""Where a student's own copies are, which nothing here overwrites or removes."""


def build(lab: Lab, output: Path = OUTPUT) -> None:
    """Write ``student/<lab>.ipynb``, ``solution/<lab>.ipynb`` and ``autograder/<lab>.zip``."""
    from otter.assign import main as otter_assign

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, made = folder / f"{lab.name}.ipynb", folder / "made"
        nbformat.write(otter_notebook(lab), source)
        (folder / SOLUTION_FILE).write_text(solution(lab), encoding="utf-8")
        otter_assign(str(source), str(made), no_pdfs=True, no_run_tests=True)
        student = nbformat.read(made / "student" / source.name, as_version=4)
        for cell in student.cells:
            if cell.cell_type == "code":  # what fails does not stop Run All
                cell.metadata["tags"] = [*cell.metadata.get("tags", []), "raises-exception"]
        nbformat.write(student, made / "student" / source.name)
        (archive,) = (made / "autograder").glob("*.zip")
        for made_file, path in (
            (made / "student" / source.name, output / "student" / source.name),
            (made / "autograder" / source.name, output / "solution" / source.name),
            (archive, output / "autograder" / f"{lab.name}.zip"),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(made_file, path)
