"""What a GPU gives: one job of each kind on CPU and GPU compared.

    python benchmarks/gpu.py [--profile embedded] [--output F]

Jobs: the first that the profile plans of each notebook, by `radbook run`, which is papermill's run, once
where no GPU is seen and once where it is. It prints the seconds of each, and what pages make of the tables
that they left on either.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from radeval_lib.paths import BUILD
from radeval_lib.pipeline import steps
from radeval_lib.study import jobs


def list_first_jobs(profile: str) -> list[jobs.Job]:
    """Return the first planned job of each notebook, those whose models others use before them."""
    graph = steps.graph(profile)
    first = {job.notebook: job for job in reversed(graph.jobs.values())}
    done: list[str] = []

    def visit(name: str) -> None:
        for before in graph.jobs_before(name):
            if (notebook := graph.jobs[before].notebook) != name:
                visit(notebook)
        if name not in done:
            done.append(name)

    for name in first:
        visit(name)
    return [first[name] for name in done]


def run(job: jobs.Job, profile: str, output_dir: Path, visible: bool) -> float:
    """Return seconds that a job takes."""
    hidden = {} if visible else {"CUDA_VISIBLE_DEVICES": ""}
    given = {"profile": profile, "output_dir": str(output_dir), **dict(job.parameters)}
    options = [text for name, value in given.items() for text in ("-p", name, str(value))]
    began = time.perf_counter()
    command = [sys.executable, "-m", "radeval_lib.cli", "run", job.notebook, "--quiet", *options]
    subprocess.run(command, env={**os.environ, **hidden}, check=True)
    return time.perf_counter() - began


def differences(first: Path, second: Path) -> list[dict[str, Any]]:
    """Return what pages make of a job's tables, on either device: F1 over all cases where a table counts,
    else the mean of each column of numbers; and the share of rows that are equal in that. Seconds are left
    out."""
    rows = []
    for path in sorted(first.glob("*.csv")):
        tables = [pd.read_csv(folder / path.name) for folder in (first, second)]
        if len(tables[0]) != len(tables[1]):
            rows.append({"table": path.name, "rows": [len(table) for table in tables]})
            continue
        if {"matched", "predicted", "gold"} <= set(tables[0]):
            counted = [table[["matched", "predicted", "gold"]] for table in tables]
            sums = [table.sum() for table in counted]
            f1 = [float(2 * total.matched / (total.predicted + total.gold)) for total in sums]
            equal = float((counted[0] == counted[1]).all(axis=1).mean())
            rows.append({"table": path.name, "what": "F1", "cpu": f1[0], "gpu": f1[1], "equal": equal})
            continue
        for column in tables[0].select_dtypes("number").columns.difference(["seconds", "seed", "draw"]):
            values = [table[column].to_numpy(float) for table in tables]
            equal = float(np.isclose(*values, rtol=1e-5, atol=1e-8, equal_nan=True).mean())
            means = [float(np.nanmean(value)) for value in values]
            rows.append(
                {"table": path.name, "what": column, "cpu": means[0], "gpu": means[1], "equal": equal}
            )
    return rows


def compare_jobs(profile: str) -> list[dict[str, Any]]:
    """Return one row per kind of job. Those without a GPU run side by side where there are processors
    enough, since each has the profile's threads alone; those with it run one after another."""
    folders = {"cpu": BUILD / "gpu" / "cpu", "gpu": BUILD / "gpu" / "gpu"}
    shutil.rmtree(BUILD / "gpu", ignore_errors=True)
    planned, graph = list_first_jobs(profile), steps.graph(profile)
    spent: dict[tuple[str, str], Future[float]] = {}

    def after_others(job: jobs.Job, name: str) -> float:
        for before in graph.jobs_before(job.notebook):
            if (needed := graph.jobs[before].notebook) != job.notebook:
                spent[name, needed].result()
        return run(job, profile, folders[name], name == "gpu")

    rows = []
    workers = max(1, (os.cpu_count() or 2) // 2 - 1)
    with ThreadPoolExecutor(workers) as without, ThreadPoolExecutor(1) as visible:
        for name, pool in (("cpu", without), ("gpu", visible)):
            for job in planned:
                spent[name, job.notebook] = pool.submit(after_others, job, name)
        for job in planned:
            seconds = {name: spent[name, job.notebook].result() for name in folders}
            left = [jobs.job_folder(folder, job) for folder in folders.values()]
            row = {"job": f"{job.notebook}/{job.slug}", **seconds, "tables": differences(*left)}
            rows.append(row)
            print(json.dumps(row), flush=True)
    return rows


def main() -> None:
    """Measure, and write it all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--profile", default="embedded")
    parser.add_argument("--output", type=Path, default=BUILD / "gpu.json")
    given = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("gpu.py: no GPU is seen")
    measured: dict[str, Any] = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    measured["jobs"] = compare_jobs(given.profile)
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
