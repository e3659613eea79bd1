"""Time and memory of `radbook score` by the number of pairs, CSV in and out.

    python benchmarks/score_curve.py --input indiana_reports.csv --pairs 1000 10000 --metric bleu

Pairs: the findings of an Open-i report and those of the next, then of the one after that, and so on. Each
sentence of either text also gets a number of its own, `(image 48213)`: no two texts and no two sentences of
a file are the same, so nothing that is kept of one pair spares work for another. Real reports repeat their
sentences, and take less. Each file is scored by a run of its own. Told are its time from start to end, the
processor time of all its processes, and the largest peak of memory of one, which is looked up twice a second.
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
from collections.abc import Iterator
from contextlib import suppress
from itertools import count, islice
from pathlib import Path

import joblib
import psutil

from radeval_lib import data
from radeval_lib.data import openi
from radeval_lib.rules.report_text import statements


def pairs_of(texts: list[list[str]]) -> Iterator[dict[str, str]]:
    """Yield pairs without end."""
    numbers = count()

    def own(text: list[str]) -> str:
        return " ".join(f"{sentence.rstrip(' .')} (image {next(numbers)})." for sentence in text)

    for step in count(1):
        for place, text in enumerate(texts):
            yield {"reference": own(text), "candidate": own(texts[(place + step) % len(texts)])}


def write_pairs(texts: list[list[str]], number: int, path: Path) -> None:
    """Write a file of so many pairs."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, ["reference", "candidate"])
        writer.writeheader()
        writer.writerows(islice(pairs_of(texts), number))


def peaks(process: subprocess.Popen[bytes]) -> list[float]:
    """Return the most memory that it and each process which it began had resident, in MiB, once it has
    ended."""
    by_process: dict[int, float] = {}
    while process.poll() is None:
        with suppress(psutil.NoSuchProcess):
            parent = psutil.Process(process.pid)
            for each in (parent, *parent.children(recursive=True)):
                by_process[each.pid] = max(by_process.get(each.pid, 0), each.memory_info().rss / 2**20)
        time.sleep(0.5)
    return list(by_process.values())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--pairs", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--workers", type=int, default=joblib.cpu_count())
    given, options = parser.parse_known_args()  # the options are those of `radbook score`
    texts = [
        [statement.text for statement in statements(text)]
        for report in openi.load(given.input)
        if (text := data.reveal(report.findings)).strip()
    ]
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "pairs.csv", Path(folder) / "scores.csv"
        files = ["--input", str(source), "--output", str(target), "--workers", str(given.workers)]
        for number in given.pairs:
            write_pairs(texts, number, source)
            before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            process = subprocess.Popen([sys.executable, "-m", "radeval_lib.cli", "score", *options, *files])
            of_processes = peaks(process)
            spent = time.perf_counter() - started
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            if process.returncode:
                sys.exit(f"status {process.returncode}")
            row = {"pairs": number, "workers": given.workers, "seconds": round(spent, 1)}
            row |= {"processor_s": round(processor, 1), "pairs_per_s": round(number / spent)}
            row |= {"pairs_per_processor_s": round(number / processor), "peak_mib": round(max(of_processes))}
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
