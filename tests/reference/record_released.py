"""What released packages give for the examples of the page on papers and code; see README.md.

    ratescore-env/bin/python tests/reference/record_released.py RaTEScore TINY_NER ENCODER
    python tests/reference/record_released.py green-score SOURCE
    python tests/reference/record_released.py radgraph SOURCE

The sources are the unpacked source distributions of both packages, of which the functions that need no model
are run. RaTEScore's own models are on a hub: its score of given entities and vectors takes none, and how many
scores it returns does not depend on them, so that a small NER model and any encoder do.

Each call replaces the rows of its package in ``data_manifests/released/packages.csv``.
"""

from __future__ import annotations

import csv
import datetime
import re
import runpy
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "data_manifests" / "released" / "packages.csv"
COLUMNS = ("difference", "value", "package", "version", "date")

GIVEN = {
    "mismatch_penalty": ([("pneumonia", "DISEASE")], [("consolidation", "ABNORMALITY")], [[0.8]], "short"),
    "empty_report": ([("pneumonia", "DISEASE")], [], [[]], "long"),
    "orientation": (
        [("pneumonia", "DISEASE"), ("right base", "ANATOMY")],
        [("opacity", "ABNORMALITY"), ("infiltrate", "DISEASE")],
        [[0.7, 0.9], [0.4, 0.3]],
        "short",
    ),
    "example_a1": (
        [("Foley catheter", "ANATOMY"), ("in situ", "NON-ABNORMALITY")],
        [("Foley catheter", "ANATOMY"), ("not in place", "ABNORMALITY")],
        [[1.0, 0.0], [0.0, 0.83]],
        "long",
    ),
}
"""Entities of a reference and of a candidate, their cosines, and the weights."""
FIVE = ["Heart is normal.", "Small effusion.", "No acute process.", "Right basal opacity.", "Lines in place."]
"""Five references; the second candidate, "OK", keeps no sentence."""


def ratescore(tiny_ner: str, encoder: str) -> dict[str, float]:
    """Return RaTEScore of :data:`GIVEN`, and how many scores it returns for :data:`FIVE`."""
    import torch

    scorer = import_module("RaTEScore.scorer")
    values = {}
    metrics = {
        weights: scorer.RaTEScore(tiny_ner, encoder, use_gpu=False, affinity_matrix=weights)
        for weights in ("long", "short")
    }
    candidates = ["OK" if text == FIVE[1] else text for text in FIVE]
    values["shifted_pairs"] = len(metrics["long"].compute_score(candidates, FIVE))
    for name, (reference, candidate, cosines, weights) in GIVEN.items():
        ours = torch.eye(len(reference), len(reference) + len(candidate), dtype=torch.float64)
        theirs = torch.zeros(len(candidate), ours.shape[1], dtype=torch.float64)
        for number in range(len(candidate)):  # a unit vector with these cosines to the reference's
            cosines_of_it = [row[number] for row in cosines]
            theirs[number, : len(reference)] = torch.tensor(cosines_of_it, dtype=torch.float64)
            theirs[number, len(reference) + number] = (1 - (theirs[number] ** 2).sum()).sqrt()
        vectors = iter([(ours, [kind for _, kind in reference]), (theirs, [kind for _, kind in candidate])])
        entities = iter([[reference], [candidate]])
        scorer.run_ner = lambda *_, entities=entities: next(entities)
        scorer.process_embedding = lambda *_, vectors=vectors: next(vectors)
        (values[name],) = metrics[weights].compute_score([""], [""])
    return values


def green_score(source: str) -> dict[str, float]:
    """Return GREEN of an answer without the periods after its counts, by the released parser."""
    from notebooks.across.paper_versus_code import IRREGULAR
    from tests.reference.record_green_parser import released

    parser, clean = released(Path(source))
    return {"irregular_answers": parser.compute_green(clean(IRREGULAR))}


def radgraph(source: str) -> dict[str, float]:
    """Return the reward at the level *complete* of the example of MIMIC-RRS, A.2, with one candidate."""
    from notebooks.across.paper_versus_code import levels_example
    from tests.reference.make_radgraph_pairs import annotated

    reward = runpy.run_path(f"{source}/radgraph/rewards.py")["compute_reward"]
    reference, candidate = (annotated(*example) for example in levels_example())
    return {"radgraph_levels": reward(candidate, reference, "complete")}


def main(package: str, *given: str) -> None:
    """Replace the rows of a package."""
    if package == "RaTEScore":
        values, number = ratescore(*given), version("RaTEScore")
    else:
        sys.path.insert(0, str(ROOT))
        values = {"green-score": green_score, "radgraph": radgraph}[package](*given)
        (number,) = re.findall(r"(?m)^Version: (.+)$", Path(given[0], "PKG-INFO").read_text("utf-8"))
    rows = []
    if TARGET.is_file():
        with TARGET.open(encoding="utf-8") as file:
            rows = [tuple(row.values()) for row in csv.DictReader(file) if row["package"] != package]
    today = datetime.date.today().isoformat()
    rows += [(name, f"{float(value):.9g}", package, number, today) for name, value in values.items()]
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *sorted(rows)])


if __name__ == "__main__":
    main(*sys.argv[1:])
