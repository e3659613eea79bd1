"""Pairs a second of F1-RadGraph over a corpus and of the same model run one report at a time, and memory.

    python benchmarks/radgraph_speed.py --input indiana_reports.csv --graph-model DIR [--output speed.json]

Pairs: all Open-i findings of more than three words; the candidates are a fixed shuffle of the references. One
report at a time means: each text is given to the model by itself, with nothing kept from the texts before, on
the first --single-pairs pairs, which the time per pair does not depend on. The model is loaded before the
clock starts. Memory is the peak of a process of its own that scores so many distinct pairs of 2,000 generated
reports from a file. On a busy machine set OMP_NUM_THREADS=1 and read the ratio of the processor times.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_SCORE = """
import csv, resource, sys
from radeval_lib.metrics import create
metric = create("f1_radgraph", graph_model=sys.argv[1], device="cpu")
total = count = 0
with open(sys.argv[2], newline="", encoding="utf-8") as stream:
    rows, chunk = csv.reader(stream), []
    next(rows)
    for row in rows:
        chunk.append(row)
        if len(chunk) == 2000:
            total += metric.score(*map(list, zip(*chunk))).values.sum()
            count += len(chunk)
            chunk = []
    if chunk:
        total += metric.score(*map(list, zip(*chunk))).values.sum()
        count += len(chunk)
print(count, total / count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def read_pairs(path: Path, least_words: int = 4) -> tuple[list[str], list[str]]:
    """Return references and candidates: findings of at least so many words, and a fixed shuffle of them."""
    with path.open(newline="", encoding="utf-8") as stream:
        texts = [row["findings"] for row in csv.DictReader(stream)]
    texts = [text for text in texts if len(text.split()) >= least_words]
    order = list(range(len(texts)))
    random.Random(0).shuffle(order)
    return texts, [texts[index] for index in order]


def speed(pairs: tuple[list[str], list[str]], model: str, single: int) -> dict[str, Any]:
    """Return both ways' times, and the largest difference of their scores."""
    from radeval_lib.metrics import create
    from radeval_lib.models.graph.extraction import ModelExtractor

    def fresh() -> Any:
        metric: Any = create("f1_radgraph", graph_model=model, device="cpu")
        metric.extractor.annotate(["No effusion."])
        return metric

    metric = fresh()
    wall, cpu = time.perf_counter(), time.process_time()
    whole = metric.score(*pairs).values
    found: dict[str, Any] = {"corpus": _spent(len(whole), wall, cpu)}
    metric = fresh()
    extractor: ModelExtractor = metric.extractor
    alone = []
    wall, cpu = time.perf_counter(), time.process_time()
    for reference, candidate in zip(*(side[:single] for side in pairs), strict=True):
        graphs = []
        for text in (reference, candidate):
            extractor.forget()
            graphs.append(extractor.annotate([text])[0])
        alone.append(metric.compare(*graphs))
    found["one_at_a_time"] = _spent(len(alone), wall, cpu)
    found["times"] = found["corpus"]["pairs_per_s"] / found["one_at_a_time"]["pairs_per_s"]
    found["times_by_cpu_time"] = found["one_at_a_time"]["cpu_s_per_pair"] / found["corpus"]["cpu_s_per_pair"]
    found["largest_difference"] = max(abs(a - b) for a, b in zip(alone, whole, strict=False))
    return found


def _spent(pairs: int, wall: float, cpu: float) -> dict[str, float]:
    seconds, processor = time.perf_counter() - wall, time.process_time() - cpu
    return {"pairs": pairs, "pairs_per_s": pairs / seconds, "cpu_s_per_pair": processor / pairs}


def memory(sizes: list[int], model: str) -> list[dict[str, float]]:
    """Return peak memory of scoring so many distinct pairs of 2,000 generated reports."""
    from radeval_lib.rules.generator.generator import generate

    texts = [report.findings.text for report in generate(2_000, 1)]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            path = Path(folder) / "pairs.csv"
            with path.open("w", newline="", encoding="utf-8") as stream:
                writer = csv.writer(stream)
                writer.writerow(["reference", "candidate"])
                for number in range(size):
                    step = 1 + number // len(texts)
                    first = number % len(texts)
                    writer.writerow([texts[first], texts[(first + step) % len(texts)]])
            started = time.perf_counter()
            command = [sys.executable, "-c", _SCORE, model, str(path)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            peak = float(done.stdout.split()[-1])
            spent = time.perf_counter() - started
            rows.append({"pairs": size, "peak_mib": round(peak), "seconds": round(spent, 1)})
            print(json.dumps(rows[-1]), flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--graph-model", required=True)
    parser.add_argument("--single-pairs", type=int, default=100)
    parser.add_argument("--sizes", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    report: dict[str, Any] = {
        "processor": platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "load_before": os.getloadavg(),
        **speed(read_pairs(given.input), given.graph_model, given.single_pairs),
    }
    report["memory"] = memory(given.sizes, given.graph_model)
    text = json.dumps(report, indent=1)
    print(text)
    if given.output:
        given.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
