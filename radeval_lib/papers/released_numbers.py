"""Numbers that the papers' released code prints, as far as they settle what a paper's own numbers mean.

Source: ``data_manifests/released/``; its README names repository, commit and file of each.
"""

from __future__ import annotations

import pandas as pd

from radeval_lib.errors import PrintedError
from radeval_lib.origin import note_use
from radeval_lib.paths import MANIFESTS, display_path


def released(name: str) -> pd.DataFrame:
    """A table of released numbers, e.g. ``mimic_rrs_counts``.

    Raises
    ------
    PrintedError
        Where there is no such table.
    """
    folder = MANIFESTS / "released"
    path = folder / f"{name}.csv"
    if not path.is_file():
        known = ", ".join(sorted(entry.stem for entry in folder.glob("*.csv")))
        raise PrintedError(f"no released numbers {name!r}", display_path(folder), f"Tables: {known}.")
    note_use(path)
    return pd.read_csv(path, encoding="utf-8")
