"""What a GPU gives: one cell of each kind on CPU and GPU compared, and the speed of every model path.

    python benchmarks/gpu.py [--part all] [--profile embedded] [--layers 12 32] [--device cuda] [--output F]

Cells: the first that the profile plans of each notebook, by `radbook run`, which is papermill's run, once
where no GPU is seen and once where it is; it prints the seconds of each, and what pages make of the tables
that they left on either. Models: encoder, NER model, its training, and a language judge, of the sizes of
BERT base and of Llama with 7 billion weights, with random weights, as the library runs them; it prints
tokens per second, peak memory, and the share of what the device can do: of its multiplications for reading
and training, of its memory's speed for writing. With `--device cpu --layers 1 1` it runs anywhere, and
shows nothing but that.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
import transformers

from radeval_lib.data.generated import ner_corpus
from radeval_lib.models.encoders import Encoder
from radeval_lib.models.judges.language_model import CausalJudge
from radeval_lib.models.names import packaged_minilm
from radeval_lib.models.ner.models import IobNerModel
from radeval_lib.models.ner.schemes import IobScheme
from radeval_lib.models.training import TrainingSettings, train
from radeval_lib.paths import BUILD
from radeval_lib.pipeline import steps
from radeval_lib.rules.generator.generator import generate
from radeval_lib.study import cells

PAIRS, NEW_TOKENS = 32, 64
TYPES = ("Anatomy", "Abnormality", "Disease")


def first_cells(profile: str) -> list[cells.Cell]:
    """Return the first planned cell of each notebook, those whose models others use before them."""
    graph = steps.graph(profile)
    first = {cell.notebook: cell for cell in reversed(graph.cells.values())}
    done: list[str] = []

    def visit(name: str) -> None:
        for before in graph.cells_before(name):
            if (notebook := graph.cells[before].notebook) != name:
                visit(notebook)
        if name not in done:
            done.append(name)

    for name in first:
        visit(name)
    return [first[name] for name in done]


def run(cell: cells.Cell, profile: str, output_dir: Path, visible: bool) -> float:
    """Return seconds that a cell takes."""
    hidden = {} if visible else {"CUDA_VISIBLE_DEVICES": ""}
    given = {"profile": profile, "output_dir": str(output_dir), **dict(cell.parameters)}
    options = [text for name, value in given.items() for text in ("-p", name, str(value))]
    began = time.perf_counter()
    command = [sys.executable, "-m", "radeval_lib.cli", "run", cell.notebook, "--quiet", *options]
    subprocess.run(command, env={**os.environ, **hidden}, check=True)
    return time.perf_counter() - began


def differences(first: Path, second: Path) -> list[dict[str, Any]]:
    """Return what pages make of a cell's tables, on either device: F1 over all cases where a table counts,
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


def compare_cells(profile: str) -> list[dict[str, Any]]:
    """Return one row per kind of cell. Those without a GPU run side by side where there are processors
    enough, since each has the profile's threads alone; those with it run one after another."""
    folders = {"cpu": BUILD / "gpu" / "cpu", "gpu": BUILD / "gpu" / "gpu"}
    shutil.rmtree(BUILD / "gpu", ignore_errors=True)
    planned, graph = first_cells(profile), steps.graph(profile)
    spent: dict[tuple[str, str], Future[float]] = {}

    def after_others(cell: cells.Cell, name: str) -> float:
        for before in graph.cells_before(cell.notebook):
            if (needed := graph.cells[before].notebook) != cell.notebook:
                spent[name, needed].result()
        return run(cell, profile, folders[name], name == "gpu")

    rows = []
    workers = max(1, (os.cpu_count() or 2) // 2 - 1)
    with ThreadPoolExecutor(workers) as without, ThreadPoolExecutor(1) as visible:
        for name, pool in (("cpu", without), ("gpu", visible)):
            for cell in planned:
                spent[name, cell.notebook] = pool.submit(after_others, cell, name)
        for cell in planned:
            seconds = {name: spent[name, cell.notebook].result() for name in folders}
            left = [cells.folder(folder, cell) for folder in folders.values()]
            row = {"cell": f"{cell.notebook}/{cell.slug}", **seconds, "tables": differences(*left)}
            rows.append(row)
            print(json.dumps(row), flush=True)
    return rows


def timed(work: Callable[[], object], device: str) -> tuple[float, float]:
    """Return seconds of the second of two runs, and the peak of the device's memory in GiB."""
    work()
    if device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
    began = time.perf_counter()
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    memory = torch.cuda.max_memory_allocated() / 2**30 if device == "cuda" else 0.0
    return time.perf_counter() - began, memory


def peaks(device: str) -> tuple[float, float]:
    """Return operations per second of a large product in bf16, and bytes per second of a copy."""
    size = 8192 if device == "cuda" else 1024
    matrix = torch.randn(size, size, device=device, dtype=torch.bfloat16)
    seconds, _ = timed(lambda: matrix @ matrix, device)
    copied, _ = timed(matrix.clone, device)
    return 2 * size**3 / seconds, 2 * matrix.nbytes / copied


def save(folder: Path, config: Any, kind: Any, tokenizer: Any) -> None:
    """Return a model with random weights, bf16 where it is large."""
    torch.manual_seed(0)
    large = isinstance(config, transformers.LlamaConfig)
    with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
        model = kind.from_config(config, dtype=torch.bfloat16 if large else torch.float32)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def measure_training(folder: Path, device: str, count: float) -> dict[str, Any]:
    """Return the training of an NER model: two epochs of 1,000 sentences, a second time after one that warms
    up."""
    sentences = list(ner_corpus(1000 if device == "cuda" else 20, 0))
    settings = TrainingSettings(epochs=2, device=device, seed=0)
    kept: list[Any] = []

    def fit() -> None:
        kept[:] = [IobScheme(folder)]
        train(kept[0], sentences, sentences[:20], settings)

    seconds, memory = timed(fit, device)
    tokens = settings.epochs * sum(len(kept[0].example(sentence)["input_ids"]) for sentence in sentences)
    module = kept[0].module
    matrices = sum(weight.numel() for weight in module.parameters() if weight.ndim == 2)
    matrices -= module.get_input_embeddings().weight.numel()
    return {
        "path": "NER training", "tokens_a_second": tokens / seconds, "peak_gib": memory,
        "texts_a_second": settings.epochs * len(sentences) / seconds,
        "of_peak": 6 * matrices * tokens / seconds / count,
    }  # fmt: skip


def measure_models(device: str, layers: tuple[int, int]) -> list[dict[str, Any]]:
    """Return one row per path of a model."""
    reports = [report.findings.text for report in generate(2 * PAIRS * 8, seed=0)]
    sentences = [sentence for report in reports for sentence in report.split(". ")]
    tokenizer = transformers.AutoTokenizer.from_pretrained(packaged_minilm("packaged-minilm"))
    count, moved = peaks(device)
    labels = ["O", *(f"{mark}-{kind}" for kind in TYPES for mark in "BI")]
    base = transformers.BertConfig(
        num_hidden_layers=layers[0], num_labels=len(labels), id2label=dict(enumerate(labels))
    )
    large = transformers.LlamaConfig(num_hidden_layers=layers[1], vocab_size=len(tokenizer))
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as temporary:
        paths = {name: Path(temporary) / name for name in ("encoder", "ner_model", "judge")}
        save(paths["encoder"], base, transformers.AutoModel, tokenizer)
        save(paths["ner_model"], base, transformers.AutoModelForTokenClassification, tokenizer)
        save(paths["judge"], large, transformers.AutoModelForCausalLM, tokenizer)
        works: dict[str, tuple[Any, Callable[[Any], object], list[str]]] = {
            "encoder": (
                Encoder(str(paths["encoder"]), device=device),
                lambda m: m.encode(sentences),
                sentences,
            ),
            "NER model": (
                IobNerModel(paths["ner_model"], device=device),
                lambda m: m.tag(sentences),
                sentences,
            ),
        }
        for name, (model, work, texts) in works.items():
            distinct = {tuple(ids) for ids in tokenizer(texts)["input_ids"]}
            tokens = sum(map(len, distinct))
            seconds, memory = timed(lambda work=work, model=model: work(model), device)
            matrices = sum(weight.numel() for weight in model.model.parameters() if weight.ndim == 2)
            matrices -= model.model.get_input_embeddings().weight.numel()
            rate = {"tokens_a_second": tokens / seconds, "texts_a_second": len(texts) / seconds}
            rows.append(
                {"path": name, **rate, "peak_gib": memory, "of_peak": 2 * matrices * tokens / seconds / count}
            )
        rows.append(measure_training(paths["encoder"], device, count))
        pairs = list(zip(reports[:PAIRS], reports[PAIRS : 2 * PAIRS], strict=True))
        judge = CausalJudge(paths["judge"], device=device, max_new_tokens=NEW_TOKENS, batch_size=8)
        seconds, memory = timed(lambda: judge.judge(pairs), device)
        size = sum(weight.nbytes for weight in judge.model.parameters())
        read = (
            PAIRS / 8 * NEW_TOKENS * size / seconds
        )  # bytes of weights a second, once for each token of a batch
        rows.append(
            {
                "path": "judge", "pairs_a_second": PAIRS / seconds, "peak_gib": memory,
                "tokens_a_second": PAIRS * NEW_TOKENS / seconds, "of_memory_speed": read / moved,
            }
        )  # fmt: skip
    for row in rows:
        print(json.dumps(row), flush=True)
    return rows


def main() -> None:
    """Measure, and write it all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--part", choices=("all", "models", "cells"), default="all")
    parser.add_argument("--profile", default="embedded")
    parser.add_argument("--layers", type=int, nargs=2, default=(12, 32), metavar=("BASE", "LARGE"))
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--output", type=Path, default=BUILD / "gpu.json")
    given = parser.parse_args()
    if given.device == "cuda" and not torch.cuda.is_available():
        sys.exit(
            "gpu.py: no GPU is seen; with --device cpu --layers 1 1 the program can be tried without one"
        )
    name = torch.cuda.get_device_name() if given.device == "cuda" else "cpu"
    measured: dict[str, Any] = {"device": name, "torch": torch.__version__}
    if given.part != "cells":
        measured["models"] = measure_models(given.device, tuple(given.layers))
    if given.part != "models":
        measured["cells"] = compare_cells(given.profile)
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
