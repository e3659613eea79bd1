"""Time and memory of `radbook score --explain --report` with six metrics, from start to finished page.

    python benchmarks/explained_scores.py --input indiana_reports.csv --graph-model DIR --ner-model DIR

Pairs: the findings of each Open-i report, and those of the next one; where more are asked for than there are
reports, of the one after that, and so on. Each number of pairs is scored by a process of its own, whose
processor time and peak memory the operating system tells, the latter of the largest of those that it begins.
Encoders are `packaged-minilm`. On a busy machine set OMP_NUM_THREADS=1 and read the processor time, which is
then about what one free core takes.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from radeval_lib import data
from radeval_lib.data import openi

_METRICS = ("bleu", "rouge_l", "bertscore", "f1_radgraph", "ratescore", "green_rules_errors")
_SCORE = """
import resource, sys
from radeval_lib.cli import main
try:
    main(sys.argv[1:])
finally:
    processes = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    print(max(resource.getrusage(who).ru_maxrss for who in processes))
"""


def write_pairs(texts: list[str], number: int, path: Path) -> None:
    """Write a file of so many distinct pairs of the texts."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["reference", "candidate"])
        for place in range(number):
            step, first = divmod(place, len(texts))
            writer.writerow([texts[first], texts[(first + step + 1) % len(texts)]])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--graph-model", required=True)
    parser.add_argument("--ner-model", required=True)
    parser.add_argument("--metrics", nargs="+", default=_METRICS, choices=_METRICS)
    parser.add_argument("--pairs", type=int, nargs="+", default=[834, 3_337])
    given = parser.parse_args()
    settings = {
        "bertscore.encoder": "packaged-minilm",
        "bertscore.layer": "none",
        "f1_radgraph.graph_model": given.graph_model,
        "ratescore.ner_model": given.ner_model,
        "ratescore.encoder": "packaged-minilm",
    }
    options = [part for name in given.metrics for part in ("--metric", name)]
    for name, value in settings.items():
        if name.partition(".")[0] in given.metrics:
            options += ["--set", f"{name}={value}"]
    texts = [text for one in openi.load(given.input) if (text := data.reveal(one.findings)).strip()]
    with tempfile.TemporaryDirectory() as folder:
        source, target, page = (Path(folder) / name for name in ("pairs.csv", "scores.csv", "page.html"))
        for number in given.pairs:
            write_pairs(texts, number, source)
            files = ["--input", source, "--output", target, "--report", page]
            command = [sys.executable, "-c", _SCORE, "score", "--explain", *options, *map(str, files)]
            before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            spent, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
            processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            row = {
                "pairs": number,
                "seconds": round(spent, 1),
                "processor_s": round(processor, 1),
                "peak_mib": round(int(done.stdout.split()[-1]) / 1024),
                "page_mib": round(page.stat().st_size / 2**20, 1),
            }
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
