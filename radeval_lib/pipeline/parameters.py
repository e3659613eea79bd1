"""A notebook as a command names it, and the parameters that a run of it gets, checked before it starts."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

from radeval_lib.errors import NotebookError, ParameterError, listed, plain
from radeval_lib.paths import NOTEBOOKS, display_path, notebooks
from radeval_lib.study.sources import read_source

COMMON = ("profile", "seed", "output_dir", "data_root")
"""Parameters that every notebook has; what a notebook has beyond them makes it a cell."""


def notebook_name(given: str) -> str:
    """Return the notebook that ``given`` names: ``rales/datasets``, or a path to its source.

    Raises
    ------
    NotebookError
        For any other name, with those near it.
    """
    bare = given.removesuffix(".md").removeprefix(f"{NOTEBOOKS}/")
    bare = bare.removeprefix("./").removeprefix("notebooks/")
    if bare not in notebooks():
        close = get_close_matches(bare, notebooks(), n=5, cutoff=0.4) or list(notebooks())
        raise NotebookError(
            f"unknown notebook {plain(given, 60)!r}", display_path(NOTEBOOKS), f"Notebooks: {listed(close)}."
        )
    return bare


def parse_parameters(notebook: str, given: Mapping[str, str]) -> dict[str, Any]:
    """Return every parameter of a notebook: its own defaults, and the values of ``given``, texts as Python
    writes values, in the same types.

    Raises
    ------
    ParameterError
        For a parameter that the notebook does not have, a value of another type than its default, or a
        notebook whose defaults are not plain values.
    """
    every = read_source(NOTEBOOKS / f"{notebook}.md").cells
    source = "\n".join(cell.source for cell in every if "parameters" in cell.metadata.get("tags", []))
    try:
        assigned = [node for node in ast.parse(source).body if isinstance(node, ast.Assign)]
        values = {ast.unparse(node.targets[0]): ast.literal_eval(node.value) for node in assigned}
    except (SyntaxError, ValueError):
        raise ParameterError(
            "its parameters are not given as plain values", notebook, "Assign a number, text or bool to each."
        ) from None
    for name, text in given.items():
        if name not in values:
            raise ParameterError(f"unknown parameter {name!r}", notebook, f"Parameters: {', '.join(values)}.")
        if (value := _of_type(text, type(values[name]))) is None:
            wanted = type(values[name]).__name__
            remedy = f"Its default is {values[name]!r}."
            raise ParameterError(f"parameter {name} must be of type {wanted}, not {text!r}", notebook, remedy)
        values[name] = value
    return values


def _of_type(text: str, wanted: type) -> Any:
    """Return the value that a text states, of the wanted type, of which a whole number may be a float; else
    None."""
    if wanted is str:
        return text
    with suppress(SyntaxError, ValueError):
        value = ast.literal_eval(text)
        if type(value) is wanted or (wanted is float and type(value) is int):
            return value
    return None
