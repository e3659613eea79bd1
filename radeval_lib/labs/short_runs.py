"""Runs a short notebook as papermill would, but in this process: a lab's grader allows it no other."""

from __future__ import annotations

from typing import Any

import jupytext

from radeval_lib.study.sources import with_parameters


def run(source: str, **parameters: Any) -> dict[str, Any]:
    """The names that a short notebook defines.

    Parameters
    ----------
    source : jupytext's percent format; each cell begins with ``# %%``, that of the parameters with
        ``# %% tags=["parameters"]``.
    parameters : papermill's injected cell sets these after the notebook's own.
    """
    injected = with_parameters(jupytext.reads(source, fmt="py:percent"), **parameters)
    names: dict[str, Any] = {}
    for cell in injected.cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, "short notebook", "exec"), names)
    return names
