"""Reports with full gold per second on one core, and peak memory of a stream. Run by hand::

    python benchmarks/generate_reports.py --seconds 30 --stream 100000

The reports are the default mix of styles and examinations; their gold (spans, RadGraph, roles, CheXpert,
impression) is built with them, so nothing is left to be computed later. ``--stream 1000000`` shows the
memory of a million.
"""

from __future__ import annotations

import argparse
import resource
import time

from radeval_lib.rules.generator import error_pairs, generate


def rate(seconds: float) -> tuple[int, float]:
    """Return how many reports were made in about ``seconds``, and how many that is per second."""
    count, start = 0, time.perf_counter()
    for report in generate(10**9, seed=1):
        count += bool(report.chexpert)
        if count % 100 == 0 and time.perf_counter() - start > seconds:
            break
    return count, count / (time.perf_counter() - start)


def peak_megabytes() -> float:
    """Return the most memory that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=20.0, help="time for each rate")
    parser.add_argument("--stream", type=int, default=50_000, help="reports for the memory figure")
    options = parser.parse_args()

    for _ in generate(200, seed=0):  # load the lexicon and fill the caches
        pass
    count, per_second = rate(options.seconds)
    print(f"reports with full gold: {per_second:,.0f} per second ({count:,} reports, one core)")

    start = time.perf_counter()
    pairs = sum(1 for _ in error_pairs(500, seed=3))
    print(f"error pairs: {pairs / (time.perf_counter() - start):,.0f} per second")

    before = peak_megabytes()
    quarter = max(1, options.stream // 4)
    marks = []
    for index, _ in enumerate(generate(options.stream, seed=4), start=1):
        if index % quarter == 0:
            marks.append(f"{peak_megabytes():.1f}")
    print(
        f"peak memory before {before:.1f} MB; after each quarter of {options.stream:,}: {', '.join(marks)} MB"
    )


if __name__ == "__main__":
    main()
