"""Memory of `radbook score --metric ratescore` as the number of pairs grows.

    python benchmarks/ratescore_memory.py --ner-model DIR [--encoder DIR] [--pairs 2000 8000 32000]

Pairs are generated reports and candidates with errors, all different. Each size runs in a process of its
own; its peak memory is what the operating system reports.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from radeval_lib.rules.generator import error_pairs

_SCORE = """
import json, resource, sys
from pathlib import Path
from radeval_lib.metrics import score_file
settings = json.loads(sys.argv[1])
score_file({"ratescore": settings}, Path(sys.argv[2]), Path(sys.argv[3]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ner-model", required=True)
    parser.add_argument("--encoder", default="packaged-minilm")
    parser.add_argument("--pairs", type=int, nargs="+", default=[2_000, 8_000, 32_000])
    given = parser.parse_args()
    settings = json.dumps({"ner_model": given.ner_model, "encoder": given.encoder})
    report = []
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "pairs.csv", Path(folder) / "scores.csv"
        for size in given.pairs:
            with source.open("w", newline="", encoding="utf-8") as stream:
                writer = csv.writer(stream)
                writer.writerow(["reference", "candidate"])
                for pair in islice(error_pairs(size, seed=1), size):
                    writer.writerow([pair.reference.findings.text, pair.candidate.findings.text])
            started = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-c", _SCORE, settings, str(source), str(target)],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            peak = int(done.stdout.strip().splitlines()[-1]) / 1024
            spent = time.perf_counter() - started
            report.append({"pairs": size, "peak_mib": round(peak), "pairs_per_s": round(size / spent, 1)})
            print(json.dumps(report[-1]), flush=True)


if __name__ == "__main__":
    main()
