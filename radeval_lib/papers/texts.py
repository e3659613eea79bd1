"""Wording that the papers print and the study uses as data: example reports, lists of names.

Source: ``texts`` in ``data_manifests/papers/<paper>/paper.yml``; for numbers see
:mod:`radeval_lib.papers.printed_numbers`.
"""

from __future__ import annotations

import pandas as pd

from radeval_lib.errors import PrintedError
from radeval_lib.origin import note_use
from radeval_lib.papers.printed_numbers import paper
from radeval_lib.paths import PAPERS, display_path


def texts(name: str) -> pd.DataFrame:
    """A paper's wording as a frame, one piece of text a row.

    Parameters
    ----------
    name : ``<paper>.<suffix>`` as in ``paper.yml``, e.g. ``ratescore.reports``.

    Returns
    -------
    DataFrame
        The columns that ``paper.yml`` names, all str.

    Raises
    ------
    PrintedError
        Where there is no such text, or its columns are not those of ``paper.yml``.
    """
    key = name.partition(".")[0]
    known = paper(key).get("texts") or {}
    if name not in known:
        remedy = f"Texts: {', '.join(known) or 'none'}."
        raise PrintedError(f"no text {name!r}", display_path(PAPERS / key / "paper.yml"), remedy)
    path = PAPERS / key / str(known[name]["file"])
    note_use(path)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    if list(frame.columns) != list(known[name]["columns"]):
        raise PrintedError(
            f"columns {', '.join(frame.columns)}", display_path(path), "Name them as paper.yml does."
        )
    return frame
