"""The pairs that a metric scores for its card, and the file that carries them to another program."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from radeval_lib import checksums
from radeval_lib.data.records import Report
from radeval_lib.data.report_edits import EDITS, LAYOUTS, REPORTS, edited, texts
from radeval_lib.data.restricted import reveal
from radeval_lib.rules.generator import generate

RATED = ("radpref", "mts_dialog")
"""Stored sets with people's ratings, which are scored if a data root holds their texts."""
AGAIN = 40
"""Pairs that are scored twice, the second time last and in reverse order."""
FILES = ("MLRG", "MoERad", "CvT2DistilGPT2", "AAMN")
"""Committed outputs of real systems on Open-i's test split."""
SHUFFLED = ("MLRG", "MoERad", "CvT2DistilGPT2")
"""Those with more than one text, whose outputs are also given to other studies."""
CONSTANT = "one text for all"
"""The commonest findings section of Open-i outside the test split and its texts."""
_QUICK_REPORTS = 30  # that a quick card edits
_SEED = 0  # of the generated reports, and of which study's output another gets: the same for every card
_POOL = 320  # generated reports, of which those with six sentences are edited
COLUMNS = ["id", "part", "reference", "candidate", "row", "kind"]
_Row = tuple[str, str, str, int, str]


def build(
    root: Path | None, *, quick: bool = False, systems: bool = False, rated: Sequence[str] = RATED
) -> pd.DataFrame:
    """Return every pair of a card.

    Parameters
    ----------
    root : the data root; without one, there are no rated pairs, and generated reports are edited.
    quick : whether fewer reports are edited.
    systems : whether committed outputs of real systems are among the pairs.
    rated : the rated sets whose texts are wanted.

    Returns
    -------
    DataFrame
        ``id``; ``part``: a rated set, ``systems``, ``edits``, ``empty`` or ``again``; ``reference``,
        ``candidate``; ``row``: the row of the rated set, the study, the edited report, or of ``again`` the
        row of this table that it repeats; ``kind``: the file of outputs, the edit, or which side is empty.
        ``attrs["source"]`` says where the edited reports come from.
    """
    rows: list[_Row] = []
    if root is not None:
        from radeval_lib.study import recordings  # not above: a card without data needs no model's packages

        for name in rated:
            rows += [(name, *pair, row, "") for row, pair in enumerate(recordings.texts(name, root))]
        rows += _of_systems(root) if systems else []
    source, reports = edited_reports(root)
    frame = edited(reports[: _QUICK_REPORTS if quick else REPORTS], EDITS | LAYOUTS)
    columns = ["reference", "candidate", "report", "edit"]
    rows += [("edits", *row) for row in frame[columns].itertuples(index=False, name=None)]
    text = frame["reference"].iloc[0]
    sides = {"both texts": ("", ""), "the candidate": (text, ""), "the reference": ("", text)}
    scored = len(rows)
    rows += [("empty", *pair, row, kind) for row, (kind, pair) in enumerate(sides.items())]
    step = max(1, scored // AGAIN)
    rows += [("again", *rows[at][1:3], at, "") for at in range(scored)[::-step][:AGAIN]]
    # The digest tells the same number of another text apart.
    digests = [checksums.of_text(json.dumps(row[1:3]))[:8] for row in rows]
    ids = [f"{row[0]}/{at}/{digest}" for at, (row, digest) in enumerate(zip(rows, digests, strict=True))]
    table = pd.DataFrame([(name, *row) for name, row in zip(ids, rows, strict=True)], columns=COLUMNS)
    table.attrs["source"] = source
    return table


def edited_reports(root: Path | None) -> tuple[str, list[list[str]]]:
    """Return the source of the edited reports, and the sentences of each."""
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


def _of_systems(root: Path) -> list[_Row]:
    """Return part, reference, candidate, the study's place and the file of committed outputs; a file followed
    by ``, shuffled`` has the outputs of other studies. Empty if the data root does not hold them."""
    from radeval_lib.data import iu_systems, openi, readers

    held = readers.load("iu_systems", root)
    if not held:
        return []
    by_file: dict[str, dict[str, str]] = {}
    for record in held:
        by_file.setdefault(record.system, {})[record.id] = reveal(record.text)
    studies = list(by_file[iu_systems.REFERENCE])
    outputs = {name: [by_file[name][study] for study in studies] for name in FILES}
    others = openi.to_develop_on(readers.load("openi", root), set(studies))
    common = Counter(text for report in others if (text := reveal(report.findings).strip()))
    if common:
        outputs[CONSTANT] = [min(common, key=lambda text: (-common[text], text))] * len(studies)
    # Whose output each study gets: never its own, round a random circle of all.
    circle = np.random.default_rng(_SEED).permutation(len(studies))
    dealt = np.empty(len(studies), dtype=np.intp)
    dealt[circle] = np.roll(circle, 1)
    for name in SHUFFLED:
        outputs[f"{name}, shuffled"] = [outputs[name][study] for study in dealt]
    references = [by_file[iu_systems.REFERENCE][study] for study in studies]
    return [
        ("systems", reference, output, study, name)
        for name, of_studies in outputs.items()
        for study, (reference, output) in enumerate(zip(references, of_studies, strict=True))
    ]


def as_lines(frame: pd.DataFrame) -> str:
    """Return the pairs as JSON lines: ``id``, ``reference``, ``candidate``. Lone surrogates, which UTF-8
    cannot hold, are escaped."""
    rows = frame[["id", "reference", "candidate"]].to_dict("records")
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    return text.encode("utf-8", "backslashreplace").decode()
