"""Pairs that the rules judge scores in a second, reading every report again.

    python benchmarks/rules_judge_speed.py

Processor time is what is measured, so that other work on the machine does not count.
"""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor

from radeval_lib import metrics
from radeval_lib.rules.generator import error_pairs

_PAIRS, _PROCESSES = 2000, 2


def judge(seed: int) -> tuple[int, float]:
    """Score pairs of one process's own; returns their number and the processor seconds of scoring alone."""
    pairs = list(error_pairs(_PAIRS, seed=seed, modality_anatomy=("X-Ray", "CHEST")))
    references = [pair.reference.findings.text for pair in pairs]
    candidates = [pair.candidate.findings.text for pair in pairs]
    metric = metrics.create("green_rules_errors")
    metric.score(references[:1], candidates[:1])  # reading the lexicon is not part of the speed
    start = time.process_time()
    metric.score(references, candidates)
    return len(pairs), time.process_time() - start


def main() -> None:
    """Print pairs per second for one process, and for two at once."""
    number, seconds = judge(1)
    print(f"one process: {number / seconds:.0f} pairs per processor second")
    with ProcessPoolExecutor(_PROCESSES) as pool:
        results = list(pool.map(judge, range(2, 2 + _PROCESSES)))
    total = sum(number / seconds for number, seconds in results)
    print(f"{_PROCESSES} processes: {total:.0f} pairs per second, given a core each")


if __name__ == "__main__":
    main()
