"""The part of a failure that may be reported while restricted data are readable: where, not what.

An exception of Python or of a library repeats the value that it is about (``could not convert string to
float: '<a report>'``), and a cell may have printed anything before the guard could read it. So nothing that
such a run put out is kept or shown, but the errors of `errors` and `data.errors`, which hold no text of data.
What a metric or a judge says of a text that it cannot score is withheld too.
"""

from __future__ import annotations

import nbformat

from radeval_lib import errors
from radeval_lib.data import errors as data_errors

WITHHELD = "Withheld: restricted data were within reach of this run."


def is_ours(name: str) -> bool:
    """Return whether ``name`` is a class of `errors` or `data.errors`."""
    kinds = [getattr(module, name, None) for module in (errors, data_errors)]
    return any(isinstance(kind, type) and issubclass(kind, errors.RadevalError) for kind in kinds)


def message(name: str, said: str) -> str:
    """Return what an exception of class ``name`` said where restricted data were in reach, or that it is
    withheld."""
    return said if is_ours(name) else WITHHELD


def without_outputs(notebook: nbformat.NotebookNode) -> None:
    """Put the word that it is withheld in the place of everything that a notebook's cells gave out; the
    notebook is changed in place."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.outputs:
            cell.outputs = [nbformat.v4.new_output("stream", name="stderr", text=WITHHELD)]
