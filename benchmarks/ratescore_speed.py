"""Pairs a second of this library's RaTEScore and of the package's, in one run, on the same models and cores.

    python benchmarks/ratescore_speed.py --input indiana_reports.csv --ner-model DIR --encoder DIR \
        --package-python ratescore-env/bin/python [--package-pairs 300] [--output speed.json]

Pairs: all Open-i findings of more than three words; the candidates are a fixed shuffle of the references.
The package runs in its own environment (tests/reference/README.md) at its default settings but for the
device, on the first --package-pairs pairs, which its time per pair does not depend on; this library scores
all pairs, then only the package's pairs, whose scores are compared.
Each side loads its models before the clock starts. The package's sentence splitter logs every token; the
log goes to no one, and ``--quiet-package`` turns it off altogether. On a busy machine,
set OMP_NUM_THREADS=1 (both sides obey) and read the ratio of the processor times: threads that wait spin.

``least_cpu_s`` is what the matrix products of the two networks would take by themselves: their operations,
counted in a run, by the best speed at which this processor multiplies matrices of the encoder's size. The
same networks in float32 cannot take less, so ``most_times_the_package`` bounds any speed at equal scores.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_PACKAGE = """
import json, sys, time
from loguru import logger
if sys.argv[4] == "quiet":
    logger.remove()
import torch
from RaTEScore import RaTEScore
references, candidates = json.load(open(sys.argv[1]))
metric = RaTEScore(bert_model=sys.argv[2], eval_model=sys.argv[3], use_gpu=False)
metric.compute_score(candidates[:3], references[:3])
wall, cpu = time.perf_counter(), time.process_time()
scores = metric.compute_score(candidates, references)
spent = [time.perf_counter() - wall, time.process_time() - cpu]
print("\\n" + json.dumps([*spent, torch.get_num_threads(), [float(score) for score in scores]]))
"""


def read_pairs(path: Path, least_words: int = 4) -> tuple[list[str], list[str]]:
    """Return references and candidates: findings of at least so many words, and a fixed shuffle of them."""
    with path.open(newline="", encoding="utf-8") as stream:
        texts = [
            row["findings"] for row in csv.DictReader(stream) if len(row["findings"].split()) >= least_words
        ]
    order = list(range(len(texts)))
    random.Random(0).shuffle(order)
    return texts, [texts[index] for index in order]


def package(
    python: str, pairs: tuple[list[str], list[str]], ner: str, encoder: str, quiet: bool
) -> dict[str, Any]:
    """Time of the package on these pairs, and its scores."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "pairs.json"
        source.write_text(json.dumps(pairs), encoding="utf-8")
        command = [python, "-c", _PACKAGE, str(source), ner, encoder, "quiet" if quiet else "default"]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True
        )
    wall, cpu, threads, scores = json.loads(done.stdout.strip().splitlines()[-1])
    return {"pairs": len(scores), "wall_s": wall, "cpu_s": cpu, "threads": threads, "scores": scores}


def ours(
    pairs: tuple[list[str], list[str]],
    ner: str,
    encoder: str,
    device: str,
    precision: str = "auto",
) -> tuple[dict[str, Any], Any]:
    """Time of this library on these pairs, and its scores."""
    import torch

    from radeval_lib.metrics import create

    models = {"ner_model": ner, "encoder": encoder}
    metric: Any = create("ratescore", device=device, precision=precision, **models)
    metric.tagger.tag(["No effusion."])
    metric.entity_encoder.encode(["effusion"])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, cpu = time.perf_counter(), time.process_time()
    scores = metric.score(*pairs)
    spent = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    size = {"pairs": len(scores), "threads": torch.get_num_threads(), "memory_grown_mib": round(grown, 1)}
    return size | spent, scores.values


def least(pairs: tuple[list[str], list[str]], ner: str, encoder: str) -> dict[str, float]:
    """Return operations of the networks' matrix products on these pairs, one core's best speed at such
    products, and the processor time that follows."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from radeval_lib.metrics import create

    metric: Any = create("ratescore", ner_model=ner, encoder=encoder, device="cpu")
    with FlopCounterMode(display=False) as counter:
        metric.score(*pairs)
    config = metric.entity_encoder.model.config
    layer = torch.nn.Linear(config.hidden_size, config.intermediate_size)
    rows, speeds = torch.randn(1024, config.hidden_size), []
    with torch.inference_mode():
        for _ in range(100):
            started = time.process_time()
            for _ in range(10):
                layer(rows)
            operations = 20 * rows.numel() * config.intermediate_size
            speeds.append(operations / (time.process_time() - started) / 1e9)
    needed = counter.get_total_flops() / 1e9
    return {"operations_1e9": needed, "best_speed_1e9": max(speeds), "least_cpu_s": needed / max(speeds)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--ner-model", required=True)
    parser.add_argument("--encoder", required=True)
    parser.add_argument(
        "--package-python", help="interpreter of the package's environment; without it, ours alone"
    )
    parser.add_argument("--package-pairs", type=int, default=300)
    parser.add_argument("--pairs", type=int, help="only the first so many pairs")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--quiet-package", action="store_true")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    references, candidates = read_pairs(given.input)
    pairs = references[: given.pairs], candidates[: given.pairs]
    few = references[: given.package_pairs], candidates[: given.package_pairs]
    report: dict[str, Any] = {
        "processor": platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "load_before": os.getloadavg(),
    }
    report["ours"], _ = ours(pairs, given.ner_model, given.encoder, given.device)
    own_scores = ours(few, given.ner_model, given.encoder, given.device)[1]
    if given.package_python:
        other = package(given.package_python, few, given.ner_model, given.encoder, given.quiet_package)
        differences = [abs(a - b) for a, b in zip(own_scores, other.pop("scores"), strict=True)]
        report["package"] = other
        report["largest_difference"] = max(differences)
    for name in ("ours", "package"):
        if name in report:
            report[name]["pairs_per_s"] = report[name]["pairs"] / report[name]["wall_s"]
    if "package" in report:
        slow, fast = report["package"], report["ours"]
        report["times_the_package"] = fast["pairs_per_s"] / slow["pairs_per_s"]
        per_pair = [side["cpu_s"] / side["pairs"] for side in (slow, fast)]
        report["times_the_package_by_cpu_time"] = per_pair[0] / per_pair[1]
        report |= least(pairs, given.ner_model, given.encoder)
        report["most_times_the_package"] = per_pair[0] / (report["least_cpu_s"] / len(pairs[0]))
    report["load_after"] = os.getloadavg()
    text = json.dumps(report, indent=1)
    print(text)
    if given.output:
        given.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
