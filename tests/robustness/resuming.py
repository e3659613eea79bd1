"""Work that is killed, again and again: it goes on, and leaves the bytes of work that was never disturbed."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from radeval_lib import roles
from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.models import checkpoints
from radeval_lib.paths import RUNS
from radeval_lib.pipeline import execute
from radeval_lib.pipeline.parameters import parse_parameters
from radeval_lib.roles import generated
from radeval_lib.study import cells

MODEL = "packaged-minilm-2"
KEPT, LEFT, WENT_ON = "kept", "left", "went_on"
LIMIT = 600  # seconds that one piece of work may take
# Loaded once, by the process that the workers are forked from.
_LIBRARIES = [
    *(
        "transformers.optimization",
        "transformers.models.bert.modeling_bert",
        "transformers.generation",
        "peft",
    ),
    *("optuna", "torch.optim", "notebooks.rales.fitting", __name__),
]

Work = Callable[[Path], None]
"""Leaves files in ``left`` of the folder that it is given, and what it needs to go on in ``kept``."""


def _train(folder: Path, task: Any, records: Sequence[Any], dev: Sequence[Any], **settings: Any) -> None:
    from safetensors.torch import save_model

    from radeval_lib.models.training import TrainingSettings, train

    given = {"learning_rate": 1e-3, "batch_size": 4, "epochs": 4, **settings}
    trained = train(task, records, dev, TrainingSettings(**given, device="cpu"), folder=folder / KEPT / "one")
    (folder / LEFT / "history.json").write_text(json.dumps(trained.history))
    save_model(task.module, str(folder / LEFT / "weights.safetensors"))
    if hasattr(task, "save"):
        task.save(folder / LEFT)


def _sentences(number: int) -> tuple[list[Any], list[Any]]:
    rows = list(generated.ner_corpus(number, 1))
    return [row for row in rows if row.split == "train"], [row for row in rows if row.split == "dev"]


def ner_model(folder: Path, scheme: Any = "iob", **settings: Any) -> None:
    from radeval_lib.models.ner.training import scheme_of

    learned, dev = _sentences(16)
    _train(folder, scheme_of(scheme, MODEL, seed=1), learned[:60], dev[:20], **settings)


def graphs(folder: Path) -> None:
    from radeval_lib.models.graph.training import new_model, unit_records

    rows = list(generated.graph_corpus(20, 1))
    model = new_model(MODEL, rows, seed=1, frozen_layers=1)
    records = unit_records(rows[:12], model.settings.unit)
    _train(folder, model, records, rows[12:16], by_length=True)


def encoder(folder: Path) -> None:
    import torch

    from radeval_lib.models.masked_language import MaskedLanguageModel

    torch.manual_seed(1)
    texts = [reveal(text) for one in _reports(14) for text in (one.findings, one.impression)]
    task = MaskedLanguageModel(MODEL, seed=1)
    _train(folder, task, texts[:24], texts[24:], measure="score", by_length=True)


def _reports(number: int) -> list[ReportPair]:
    return list(generated.summaries(number, 3))


def pointer(folder: Path) -> None:
    from radeval_lib.models.summarizers.pointer import PointerSettings, PointerSummarizer

    pairs = _reports(70)
    sizes = PointerSettings(vocabulary=120, embedding=24, hidden=24, longest_target=12)
    task = PointerSummarizer(pairs[:60], sizes, seed=1)
    _train(folder, task, pairs[:60], pairs[60:64], measure="rouge_l")


def encoder_decoder(folder: Path) -> None:
    from radeval_lib.models.summarizers import seq2seq

    pairs = _reports(34)
    texts = [reveal(text) for one in pairs for text in (one.findings, one.impression)]
    module, tokenizer = seq2seq.encoder_decoder(MODEL, layers=1, keep=texts, seed=1)
    settings = seq2seq.Seq2SeqSettings(longest_source=64, longest_target=12, beams=1)
    task = seq2seq.Seq2SeqSummarizer(module, tokenizer, settings, device="cpu")
    _train(folder, task, pairs[:30], pairs[30:], measure="rouge_l", accumulate=2)


def _small_judge() -> tuple[Any, Any, list[Any]]:
    import torch

    from radeval_lib.models.judges.tuning import small_model

    torch.manual_seed(1)
    pairs = list(generated.judged_pairs(8, 5))
    return *small_model([reveal(one.prompt) for one in pairs], vocabulary=600, width=32, layers=1), pairs


def judge(folder: Path) -> None:
    from radeval_lib.models.judges.tuning import JudgeTuning

    module, tokenizer, pairs = _small_judge()
    task = JudgeTuning(module, tokenizer, longest=300, lora=4)
    _train(folder, task, pairs[4:], pairs[:4], measure="likelihood")


def search(folder: Path) -> None:
    from notebooks.rales import fitting
    from radeval_lib.study.profiles import profile

    smoke = profile("smoke")
    own = fitting.RalesSettings.model_validate(smoke.experiments["rales"])
    own = own.model_copy(update={"trials": {"procedures/all": 3}, "draws": {**own.draws, "all": 2}})
    task = fitting.task_of("procedures", own.rare_class)
    parts = task.parts(roles.load("procedures", roles.SYNTHETIC, size=400, seed=1, root=None))

    def rng(stream: str) -> np.random.Generator:
        return np.random.default_rng(len(stream))

    plan = fitting.Plan(task, parts, own, "all", 1, "cpu", rng, lambda draw: MODEL, folder / KEPT)
    for name, table in fitting.fit_regime(plan, {}).items():
        table.drop(columns="seconds", errors="ignore").to_csv(folder / LEFT / f"{name}.csv", index=False)


def judging(folder: Path) -> None:
    from radeval_lib.models.judges.language_model import CausalJudge
    from radeval_lib.models.judges.opening import CachedJudge
    from radeval_lib.models.judges.tuning import JudgeTuning

    class Noting(CausalJudge):
        def judge(self, pairs: Any, keep: Any = None) -> list[str]:
            if len(pairs) < len(texts):
                (folder / WENT_ON).touch()
            return super().judge(pairs, keep)

    module, tokenizer, _ = _small_judge()
    JudgeTuning(module, tokenizer).save(folder / KEPT)
    reports = [reveal(one.findings) for one in _reports(121)]
    texts = list(pairwise(reports))
    asked = Noting(folder / KEPT, max_new_tokens=24, batch_size=4, device="cpu")
    (folder / LEFT / "answers.json").write_text(json.dumps(CachedJudge(asked, folder / KEPT).judge(texts)))


def cell(folder: Path) -> None:
    """A whole cell by the command, whose kernel ends with it."""
    name, own = "summarization/graph_training", {"init_model": MODEL, "reports": "32"}
    output_dir = RUNS / f"resuming-{folder.name}"
    parameters = parse_parameters(name, {"profile": "smoke", "output_dir": str(output_dir), **own})
    place = execute.place_of(name, parameters)
    begun = cells.unfinished(output_dir, cells.Cell.of(name, **own))
    if list(begun.glob("*/about.json")):
        (folder / WENT_ON).touch()
    execute.run_notebook(name, parameters, place, progress=False)
    assert not begun.exists()
    shutil.copytree(place.left, folder / LEFT / "cell")
    shutil.rmtree(output_dir)


KINDS: dict[str, Work] = {
    "an NER model (IOB)": ner_model,
    "an NER model (spans)": partial(ner_model, scheme="span", head_learning_rate=2e-3),
    "a model of graphs": graphs,
    "an encoder's masked words": encoder,
    "a pointer-generator": pointer,
    "an encoder-decoder": encoder_decoder,
    "adapters of a judge": judge,
    "a search and its draws": search,
    "a judging": judging,
    "a cell": cell,
}


def _child(kind: str, folder: Path, ready: Connection) -> None:
    """Do a piece of work in this process, with checkpoints as often as their cost allows."""
    import torch

    torch.set_num_threads(1)
    os.environ[checkpoints.SECONDS] = "0"
    logging.disable()
    read = checkpoints.Checkpoint.read

    def noted(self: checkpoints.Checkpoint) -> Any:
        found = read(self)
        if found is not None:
            (folder / WENT_ON).touch()
        return found

    checkpoints.Checkpoint.read = noted  # type: ignore[method-assign]
    shutil.rmtree(folder / LEFT, ignore_errors=True)
    for name in (LEFT, KEPT):
        (folder / name).mkdir(exist_ok=True)
    ready.send("ready")
    KINDS[kind](folder)
    ready.send("done")


def _begin(kind: str, folder: Path) -> tuple[Any, Connection]:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_LIBRARIES)
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(kind, folder, theirs))
    process.start()
    theirs.close()
    assert ours.poll(LIMIT)
    ours.recv()
    return process, ours


def _end(process: Any, ours: Connection) -> str:
    """Wait until it has ended; what is wrong with it."""
    done = ours.poll(LIMIT)
    try:
        done = done and ours.recv() == "done"
    except EOFError:
        done = False
    process.join(LIMIT)
    return "" if done and process.exitcode == 0 else f"ended with status {process.exitcode}"


def _bytes(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in (folder / LEFT).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def tries(
    folder: Path, moments: int = 10, kinds: Sequence[str] = tuple(KINDS), seed: int = 0
) -> Iterator[tuple[str, str]]:
    """(kind, what was wrong) of work that is killed at random moments, two and two, until it is whole."""
    for kind in kinds:
        rng = Random(f"{seed} {kind}")
        undisturbed = folder / "undisturbed"
        undisturbed.mkdir()
        process, ours = _begin(kind, undisturbed)
        begun = time.monotonic()
        if fault := _end(process, ours):
            yield kind, fault
            continue
        longest, whole = time.monotonic() - begun, _bytes(undisturbed)
        went_on = 0
        for number in range(moments // 2):
            own = folder / f"killed-{number}"
            own.mkdir()
            for _ in range(2):
                process, _ours = _begin(kind, own)
                time.sleep(rng.random() * longest)
                process.kill()
                process.join()
            fault = _end(*_begin(kind, own))
            if not fault and _bytes(own) != whole:
                fault = "other bytes than those of undisturbed work"
            went_on += (own / WENT_ON).exists()
            shutil.rmtree(own)
            yield kind, fault
        shutil.rmtree(undisturbed)
        if not went_on:
            yield kind, "started over each time"
