"""The one trainer: any task that can make examples, collate them and measure itself on dev is trained by
transformers' Trainer, which stops early and leaves the weights of the best epoch."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import shutil
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from radeval_lib import atomic
from radeval_lib.models import soundness
from radeval_lib.models.batching import unpadded
from radeval_lib.models.loading import ModelError, device_of, fill, quiet

if TYPE_CHECKING:
    import torch

_LOG = logging.getLogger(__name__)
_WEIGHTS = "model.safetensors"
_DONE = "finished.json"
_WHAT = "training.json"

Record = TypeVar("Record", contravariant=True)
T = TypeVar("T", bound="Task[Any]")


class Task(Protocol[Record]):
    """What the trainer must know of a model and of its data."""

    module: torch.nn.Module

    @property
    def new_layers(self) -> tuple[str, ...]: ...

    def example(self, record: Record) -> dict[str, Any]:
        """A record as the numbers that the module takes, labels included."""
        ...

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """A padded batch."""
        ...

    def measure(self, records: Sequence[Record]) -> dict[str, float]:
        """Measures of the module as it is, by name; higher is better for the one that chooses the epoch."""
        ...

    def save(self, folder: str | Path) -> None:
        """Write safetensors weights, configuration and tokenizer."""
        ...


@dataclass(frozen=True)
class TrainingSettings:
    """How a model is trained. The defaults are A.9's (Zhao et al. 2024) for the IOB scheme.

    Attributes
    ----------
    learning_rate : of the pretrained layers; A.9 has 1e-5 for IOB and 6e-6 for spans.
    head_learning_rate : of the layers that are new; None takes the same.
    batch_size : examples a forward pass.
    accumulate : forward passes a step, whose gradients are averaged.
    by_length : whether batches hold examples of like length (of their ``input_ids``), so that little is
        padded; which examples meet is still drawn.
    epochs : the most passes over the training data.
    patience : epochs without a better measure on dev before it stops.
    warmup : share of the steps over which the rate rises; it falls linearly afterwards.
    weight_decay : AdamW's.
    measure : which measure of the task chooses the epoch.
    seed : of the order of examples and of dropout; what is new in the module is drawn before.
    device : ``auto``, ``cpu`` or ``cuda``; on a GPU it computes in bfloat16 where that is precise enough.
    """

    learning_rate: float = 1e-5
    head_learning_rate: float | None = None
    batch_size: int = 96
    accumulate: int = 1
    by_length: bool = False
    epochs: int = 10
    patience: int = 3
    warmup: float = 0.1
    weight_decay: float = 0.0
    measure: str = "f1"
    seed: int = 0
    device: str = "auto"


@dataclass
class Trained(Generic[T]):
    """What training gave."""

    task: T
    best: dict[str, float]
    history: list[dict[str, float]]


def train(
    task: T,
    records: Sequence[Any],
    dev: Sequence[Any],
    settings: TrainingSettings | None = None,
    *,
    folder: str | Path | None = None,
) -> Trained[T]:
    """Train ``task.module`` in place and leave it with the weights of the epoch that was best on dev.

    Parameters
    ----------
    task : what to train.
    records, dev : what it learns from, and what chooses the epoch.
    folder : where the training writes a checkpoint after every epoch. Called again with the same task, data
        and settings, it goes on from the last one, and a training that was finished is read back. Without a
        folder nothing is kept.

    Raises
    ------
    ModelError
        If there is nothing to train or to choose the epoch on, the task has no measure of the name that the
        settings give, or ``folder`` holds another training.
    """
    for name, rows in (("training", records), ("dev", dev)):
        if not rows:
            raise ModelError(f"no {name} examples", "training", "Give at least one record of each part.")
    chosen = settings or TrainingSettings()
    examples = [task.example(record) for record in records]
    if folder is None:
        with tempfile.TemporaryDirectory() as temporary:
            history = _run(task, examples, dev, chosen, Path(temporary), resumable=False)
    else:
        history = _resumable(task, examples, dev, chosen, Path(folder))
    return Trained(task, _best(history, chosen.measure), history)


def _resumable(
    task: Task[Any], examples: list[dict[str, Any]], dev: Sequence[Any], s: TrainingSettings, where: Path
) -> list[dict[str, float]]:
    from safetensors.torch import save_model

    what = {"settings": asdict(replace(s, device="auto")), "examples": _digest(examples), "dev": len(dev)}
    noted = where / _WHAT
    if noted.is_file() and json.loads(noted.read_text(encoding="utf-8")) != what:
        raise ModelError(
            "this folder holds a training with other data or settings", where.name, "Give an empty folder."
        )
    where.mkdir(parents=True, exist_ok=True)
    atomic.write_text(noted, json.dumps(what, indent=1, sort_keys=True) + "\n")
    done = where / _DONE
    if done.is_file():
        fill(task.module, where / _WEIGHTS)
        rows: list[dict[str, float]] = json.loads(done.read_text(encoding="utf-8"))
        return rows
    history = _run(task, examples, dev, s, where, resumable=True)
    save_model(task.module, str(where / _WEIGHTS))
    atomic.write_text(done, json.dumps(history, indent=1) + "\n")
    for checkpoint in where.glob("checkpoint-*"):
        shutil.rmtree(checkpoint)
    return history


def _digest(examples: Iterable[dict[str, Any]]) -> str:
    """Names the examples and their order."""
    digest = hashlib.sha256()
    for example in examples:
        digest.update(repr(sorted(example.items())).encode())
    return digest.hexdigest()


def _run(
    task: Task[Any],
    examples: list[dict[str, Any]],
    dev: Sequence[Any],
    s: TrainingSettings,
    where: Path,
    *,
    resumable: bool,
) -> list[dict[str, float]]:
    from transformers import EarlyStoppingCallback, PrinterCallback, Trainer, TrainingArguments
    from transformers.trainer_utils import get_last_checkpoint

    class TaskTrainer(Trainer):
        """Chooses the epoch by the task's own measure, which may need decoding rather than logits."""

        control: Any
        optimizer: Any

        def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
            found = {f"eval_{name}": float(value) for name, value in task.measure(dev).items()}
            if f"eval_{s.measure}" not in found:
                known = ", ".join(name.removeprefix("eval_") for name in found)
                raise ModelError(f"no measure {s.measure!r}", type(task).__name__, f"Measures: {known}.")
            self.log(found)
            self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, found)
            return found

        def create_optimizer(self, *_: Any, **__: Any) -> Any:
            if self.optimizer is None:
                self.optimizer = _optimizer(task, s)
            return self.optimizer

    device = device_of(s.device)
    steps = -(-len(examples) // (s.batch_size * s.accumulate)) * s.epochs
    arguments = TrainingArguments(
        output_dir=str(where),
        num_train_epochs=s.epochs,
        per_device_train_batch_size=s.batch_size,
        gradient_accumulation_steps=s.accumulate,
        train_sampling_strategy="group_by_length" if s.by_length else "random",
        learning_rate=s.learning_rate,
        warmup_steps=int(s.warmup * steps),
        lr_scheduler_type="linear",
        eval_strategy="epoch",
        save_strategy="epoch" if resumable else "no",
        logging_strategy="epoch",
        save_total_limit=1,
        restore_callback_states_from_checkpoint=resumable,
        load_best_model_at_end=resumable,
        metric_for_best_model=f"eval_{s.measure}",
        greater_is_better=True,
        seed=s.seed,
        bf16=device.type == "cuda",
        use_cpu=device.type == "cpu",
        disable_tqdm=True,
        report_to=[],
        remove_unused_columns=False,
        dataloader_pin_memory=False,
    )
    trainer = TaskTrainer(
        model=task.module,
        args=arguments,
        train_dataset=examples,
        eval_dataset=examples[:1],  # Trainer wants one; evaluate() reads dev itself
        data_collator=task.collate,
        callbacks=[EarlyStoppingCallback(early_stopping_patience=s.patience), _progress()],
    )
    trainer.remove_callback(PrinterCallback)
    if not resumable:
        trainer.add_callback(_keep_best(s.measure))
    last = get_last_checkpoint(str(where)) if resumable else None
    if last is not None:
        _check_checkpoint(task.module, Path(last))
    with quiet(), unpadded(task.module):
        trainer.train(resume_from_checkpoint=last)
    return _history(trainer.state.log_history, s.measure)


def _check_checkpoint(module: torch.nn.Module, folder: Path) -> None:
    """Check that a checkpoint has all weights that are trained and no others: transformers' Trainer takes
    what it finds.
    """
    from peft import PeftModel, get_peft_model_state_dict
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    adapted = isinstance(module, PeftModel)
    wanted = get_peft_model_state_dict(module) if adapted else module.state_dict()
    try:
        held = load_file(folder / ("adapter_model.safetensors" if adapted else _WEIGHTS))
        shared = {value.data_ptr() for key, value in wanted.items() if key in held}
        missing = [key for key, one in wanted.items() if key not in held and one.data_ptr() not in shared]
        soundness.check_names(missing, held.keys() - wanted.keys(), folder.name)
        soundness.check_values(held, folder.name)
    except (OSError, SafetensorError, ModelError) as error:
        raise ModelError(
            f"damaged checkpoint: {error.what if isinstance(error, ModelError) else error}",
            folder.name,
            "Delete the folder: the training goes on from an earlier checkpoint, or starts over.",
        ) from None


def _optimizer(task: Task[Any], s: TrainingSettings) -> torch.optim.Optimizer:
    from torch.optim import AdamW

    rate = s.learning_rate if s.head_learning_rate is None else s.head_learning_rate
    named = list(task.module.named_parameters())
    new = [value for key, value in named if key.startswith(task.new_layers)]
    old = [value for key, value in named if not key.startswith(task.new_layers)]
    groups = [{"params": old, "lr": s.learning_rate}, {"params": new, "lr": rate}]
    return AdamW(groups, weight_decay=s.weight_decay, fused=True)


def _progress() -> Any:
    """Logs one line an epoch: where the training stands, and how long it will take at most."""
    from transformers import TrainerCallback

    class Progress(TrainerCallback):
        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.began, self.first = time.monotonic(), state.global_step

        def on_evaluate(self, args: Any, state: Any, control: Any, **given: Any) -> None:
            taken, made = time.monotonic() - self.began, state.global_step - self.first
            left = taken / max(1, made) * (state.max_steps - state.global_step)
            shown = ", ".join(
                f"{name.removeprefix('eval_')} {value:.3f}" for name, value in given["metrics"].items()
            )
            epoch, whole = round(state.epoch), round(args.num_train_epochs)
            _LOG.info("epoch %d of %d on dev: %s; at most %.0f s left", epoch, whole, shown, left)

    return Progress()


def _keep_best(measure: str) -> Any:
    """Holds the weights of the best epoch in memory and puts them back at the end.

    A training that nobody can resume would otherwise write its whole model to disk after every epoch.
    """
    from transformers import TrainerCallback

    class KeepBest(TrainerCallback):
        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.value = -math.inf
            self.weights: dict[str, torch.Tensor] = {}

        def on_evaluate(self, args: Any, state: Any, control: Any, **given: Any) -> None:
            value = given["metrics"][f"eval_{measure}"]
            if value > self.value:
                held = given["model"].state_dict().items()
                self.value = value
                self.weights = {name: one.to("cpu", copy=True) for name, one in held}

        def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
            if self.weights:
                given["model"].load_state_dict(self.weights)

    return KeepBest()


def _history(log: list[dict[str, float]], measure: str) -> list[dict[str, float]]:
    rows: dict[float, dict[str, float]] = {}
    for entry in log:
        row = rows.setdefault(round(entry.get("epoch", 0.0), 3), {"epoch": entry.get("epoch", 0.0)})
        row.update(
            {key.removeprefix("eval_"): value for key, value in entry.items() if key.startswith("eval_")}
        )
        if "loss" in entry:
            row["loss"] = entry["loss"]
    return [row for row in rows.values() if measure in row]


def _best(history: list[dict[str, float]], measure: str) -> dict[str, float]:
    row = max(history, key=lambda epoch: epoch[measure])
    return {name: value for name, value in row.items() if name not in ("epoch", "loss")}
