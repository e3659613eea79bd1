"""Nothing that a failed run put out is shown where restricted data were in its reach."""

from __future__ import annotations

import json

import nbformat

from radeval_lib.data import withholding

SECRET = "faint nodular opacity beneath the seventh left rib"


def test_messages_of_this_library_are_reported_and_others_withheld() -> None:
    assert withholding.message("FormatError", "a.csv, line 3: missing key") == "a.csv, line 3: missing key"
    assert withholding.message("RoleError", "fills no role") == "fills no role"
    assert withholding.message("ModelError", "no folder") == "no folder"
    assert withholding.message("ValueError", SECRET) == withholding.WITHHELD
    assert withholding.message("MetricError", SECRET) == withholding.WITHHELD


def test_a_failed_notebook_keeps_its_code_and_none_of_its_outputs() -> None:
    cells = [
        nbformat.v4.new_markdown_cell("# Title"),
        nbformat.v4.new_code_cell(
            "print(report)", outputs=[nbformat.v4.new_output("stream", text=SECRET)], execution_count=1
        ),
        nbformat.v4.new_code_cell(
            "float(report)",
            outputs=[nbformat.v4.new_output("error", ename="ValueError", evalue=SECRET, traceback=[SECRET])],
        ),
        nbformat.v4.new_code_cell("never_reached()"),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    withholding.without_outputs(notebook)
    nbformat.validate(notebook)
    assert SECRET not in json.dumps(notebook)
    assert [cell.source for cell in notebook.cells] == [cell.source for cell in cells]
    assert notebook.cells[2].outputs[0].text == withholding.WITHHELD
    assert not notebook.cells[3].outputs
