"""The pairs that a metric scores for its card, and the file that carries them to another program."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import pandas as pd

from radeval_lib import atomic, checksums
from radeval_lib.data.records import Report
from radeval_lib.data.report_edits import EDITS, LAYOUTS, REPORTS, edited, texts
from radeval_lib.errors import ParameterError
from radeval_lib.metric_cards import systems
from radeval_lib.metrics.pair_files import check_target
from radeval_lib.rules.generator import generate

MOST = 7_500
"""No card asks for more pairs."""
RATED = ("radpref", "mts_dialog")
"""Recorded sets with people's ratings, which are scored where a data root holds their texts."""
AGAIN = 40
"""Pairs that are scored twice, the second time last and in reverse order."""
_QUICK_REPORTS = 30  # that a quick card edits
_SEED = 0  # of the generated reports: the same for every card
_POOL = 320  # generated reports, of which those with six sentences are edited
COLUMNS = ("id", "part", "reference", "candidate", "row", "kind")


def build(root: Path | None, *, quick: bool = False, rated: Sequence[str] = RATED) -> pd.DataFrame:
    """Every pair of a card.

    Parameters
    ----------
    root : the data root; without one, there are no rated pairs, and generated reports are edited.
    quick : fewer reports are edited, and outputs of real systems are left out.
    rated : the rated sets whose texts are wanted.

    Returns
    -------
    DataFrame
        ``id``; ``part``: a rated set, ``systems``, ``edits``, ``empty`` or ``again``; ``reference``,
        ``candidate``; ``row``: the row of the rated set, the study, the edited report, or of ``again`` the
        row of this table that it repeats; ``kind``: the file of outputs, the edit, or which side is empty.
    """
    rows: list[tuple[str, str, str, int, str]] = []
    if root is not None:
        from radeval_lib.study import recordings  # not above: a card without data needs no model's packages

        for name in rated:
            rows += [(name, *pair, place, "") for place, pair in enumerate(recordings.texts(name, root))]
        rows += systems.rows(root) if not quick else []
    source, reports = edited_reports(root)
    chosen = reports[: _QUICK_REPORTS if quick else REPORTS]
    if len(chosen) < 2:
        raise ParameterError(
            f"{len(chosen)} reports with six sentences or more to edit", source, "Two at least are needed."
        )
    frame = edited(chosen, EDITS | LAYOUTS)
    columns = ("reference", "candidate", "report", "edit")
    rows += [("edits", *one) for one in frame[list(columns)].itertuples(index=False, name=None)]
    text = frame["reference"].iloc[0]
    sides = {"both texts": ("", ""), "the candidate": (text, ""), "the reference": ("", text)}
    rows += [("empty", *pair, place, kind) for place, (kind, pair) in enumerate(sides.items())]
    scored = [place for place, row in enumerate(rows) if row[0] != "empty"]
    step = max(1, len(scored) // AGAIN)
    rows += [("again", *rows[place][1:3], place, "") for place in scored[::-step][:AGAIN]]
    ids = [f"{part}/{place}/{_digest(*pair)}" for place, (part, *pair, _, _) in enumerate(rows)]
    table = pd.DataFrame([(one, *row) for one, row in zip(ids, rows, strict=True)], columns=list(COLUMNS))
    table.attrs["source"] = source
    if len(table) > MOST:
        raise ParameterError(f"{len(table):,} pairs, more than {MOST:,}", "the pairs of a card")
    return table


def edited_reports(root: Path | None) -> tuple[str, list[list[str]]]:
    """Where the reports come from that are edited, and the sentences of each."""
    if root is not None:
        from radeval_lib.data import openi, readers

        if held := readers.load("openi", root):
            tested = {report.id for report in readers.load("iu_systems", root)}
            return "Open-i, the half for development", texts(openi.to_develop_on(held, tested))
    return "generated reports", _generated()


@lru_cache(maxsize=1)
def _generated() -> list[list[str]]:
    made = generate(_POOL, _SEED)
    return texts([Report(report.report_id, report.findings.text, report.impression.text) for report in made])


def _digest(reference: str, candidate: str) -> str:
    """Tells the same number of another text apart."""
    return checksums.of_text(json.dumps([reference, candidate]))[:8]


def counts(frame: pd.DataFrame) -> dict[str, int]:
    """How many pairs each part has."""
    return {str(part): int(count) for part, count in frame["part"].value_counts(sort=False).items()}


def as_lines(frame: pd.DataFrame) -> str:
    """The pairs as JSON lines: ``id``, ``reference``, ``candidate``; half of a surrogate pair, which UTF-8
    cannot hold, is escaped."""
    rows: Sequence[Mapping[str, str]] = frame[["id", "reference", "candidate"]].to_dict("records")
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    return text.encode("utf-8", "backslashreplace").decode()


def write(frame: pd.DataFrame, path: Path) -> None:
    """Write the pairs to a file that another program scores."""
    check_target(path, [])
    atomic.write_text(path, as_lines(frame))
