"""Writes ``metric_values.json``: what each metric gives, so that a change of code that should change no score
shows one that did.

The judge by rules and what reads findings are left out, because their scores change with their rules:

    python -m tests.reference.record_metric_values
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from radeval_lib.metrics import create
from tests.reference.record import HERE, read, read_pairs, write

TINY_NER = str(HERE / "ratescore" / "tiny_ner")
MODELS: dict[str, dict[str, Any]] = {
    "ratescore": {"ner_model": TINY_NER, "encoder": "packaged-minilm", "device": "cpu"},
    "bertscore": {"encoder": "packaged-minilm", "layer": None, "device": "cpu"},
    "radcliq": {"encoder": "packaged-minilm", "layer": None, "device": "cpu"},
}
TEXTS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in ("bleu", "rouge_1", "rouge_2", "rouge_l", "meteor", "bertscore", "ratescore")),
    ("bleu", {"order": 2}),
    ("rouge_l", {"stem": False}),
    ("ratescore", {"preset": "paper", "weights": "short"}),
    ("ratescore", {"preset": "paper", "penalty": "cross_polarity", "empty": "zero"}),
]
GRAPHS: list[tuple[str, dict[str, Any]]] = [
    *(("f1_radgraph", {"level": level, "case": "fold"}) for level in ("simple", "partial", "complete")),
    ("f1_radgraph", {"both_empty": "one"}),
    ("radgraph_combined", {}),
    ("radcliq", {"version": "v0"}),
    ("radcliq", {"version": "v1"}),
]


def pairs_of_texts() -> tuple[list[str], list[str]]:
    """Return forty generated pairs, and some that a metric may stumble over."""
    references, candidates = read_pairs("ratescore/pairs.json")
    odd = ["", "No effusion.", "No effusion.", "Left\neffusion."]
    odd_candidates = ["", "", "No effusion.", "Left effusion."]
    return references[:40] + odd, candidates[:40] + odd_candidates


def pairs_of_graphs(folder: Path) -> tuple[Path, tuple[list[str], list[str]]]:
    """Return a file of annotations, and the pairs of their texts."""
    pairs = read("radgraph/pairs.json")
    graphs = {}
    for pair in pairs:
        for side in ("reference", "candidate"):
            graphs.setdefault(pair[side]["text"], pair[side])
    path = folder / "graphs.json"
    path.write_text(json.dumps({str(n): name for n, name in enumerate(graphs.values())}), encoding="utf-8")
    references, candidates = ([pair[side]["text"] for pair in pairs] for side in ("reference", "candidate"))
    return path, (references, candidates)


def values(folder: Path) -> dict[str, list[float]]:
    """Return scores by metric and settings; ``folder`` takes a file."""
    made = {}
    graphs, of_graphs = pairs_of_graphs(folder)
    for (name, settings), texts, more in (
        *((name, pairs_of_texts(), {}) for name in TEXTS),
        *((name, of_graphs, {"graph_model": str(graphs)}) for name in GRAPHS),
    ):
        metric = create(name, **{**MODELS.get(name, {}), **more, **settings})
        made[f"{name} {json.dumps(settings)}"] = metric.score(*texts).values.tolist()
    return made


if __name__ == "__main__":
    import tempfile

    import torch

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        write("metric_values.json", values(Path(folder)))
