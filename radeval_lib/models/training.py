"""The one trainer: any task that can make examples, collate them and measure itself on dev is trained by
transformers' Trainer, which stops early and leaves the weights of the best epoch."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from radeval_lib import checksums, origin
from radeval_lib.models.batching import unpadded
from radeval_lib.models.checkpoints import Checkpoint, chance, learned, put_back, set_chance
from radeval_lib.models.pretrained import ModelError, device_of, quiet

if TYPE_CHECKING:
    import torch

_LOG = logging.getLogger(__name__)

Record = TypeVar("Record", contravariant=True)
T = TypeVar("T", bound="Task[Any]")


class Task(Protocol[Record]):
    """What the trainer must know of a model and of its data.

    A task whose ``collate`` draws random numbers draws them from torch's, numpy's or Python's, or from a
    ``torch.Generator`` of its own that it calls ``generator``.
    """

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
    folder : where a training that takes long keeps its last checkpoint. Called again with the same task,
        data and settings, it goes on from there, to the same weights and history, and one that was finished
        is read back. Without a folder nothing is kept.

    Raises
    ------
    ModelError
        If there is nothing to train or to choose the epoch on, or the task has no measure of the name that
        the settings give.
    """
    for name, rows in (("training", records), ("dev", dev)):
        if not rows:
            raise ModelError(f"no {name} examples", "training", "Give at least one record of each part.")
    chosen = settings or TrainingSettings()
    examples = [task.example(record) for record in records]
    checkpoint = None if folder is None else Checkpoint(Path(folder), _what(task, examples, dev, chosen))
    history = _run(task, examples, dev, chosen, checkpoint)
    best = max(history, key=lambda epoch: epoch[chosen.measure])
    kept = {name: value for name, value in best.items() if name not in ("epoch", "loss")}
    return Trained(task, kept, history)


def _what(
    task: Task[Any], examples: list[dict[str, Any]], dev: Sequence[Any], s: TrainingSettings
) -> dict[str, Any]:
    """Names a training and all that its result depends on."""
    import torch

    weights = [torch.hash_tensor(one.detach()).item() for one in task.module.state_dict().values()]
    digest = hashlib.sha256()
    for example in (*examples, *map(task.example, dev)):
        digest.update(repr(sorted(example.items())).encode())
    return {
        "settings": asdict(s),
        "examples": digest.hexdigest(),
        "start": checksums.of_text(json.dumps(weights)),
        "threads": torch.get_num_threads(),
        "device": str(device_of(s.device)),
        **origin.conditions(),
    }


def _run(
    task: Task[Any],
    examples: list[dict[str, Any]],
    dev: Sequence[Any],
    s: TrainingSettings,
    checkpoint: Checkpoint | None,
) -> list[dict[str, float]]:
    from transformers import PrinterCallback, Trainer, TrainingArguments
    from transformers.trainer import TRAINER_STATE_NAME

    device = device_of(s.device)
    kept = None if checkpoint is None else checkpoint.read()
    if kept is not None and "history" in kept:
        put_back(task.module.to(device), kept["best"])
        set_chance(kept["chance"])
        if (config := getattr(task.module, "config", None)) is not None:
            config.use_cache = False  # as the trainer leaves it, so that what is saved has the same bytes
        history: list[dict[str, float]] = kept["history"]
        return history

    class TaskTrainer(Trainer):
        """Chooses the epoch by the task's own measure, which may need decoding rather than logits, and keeps
        its state in a checkpoint of ours, since loading its own can run code."""

        control: Any
        optimizer: Any
        lr_scheduler: Any

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

        def _save_checkpoint(self, *_: Any) -> None:
            if checkpoint is None or self.control.should_training_stop:
                return
            checkpoint.write(
                {
                    "weights": learned(task.module),
                    "best": best.weights,
                    "trainer": json.dumps(asdict(self.state)),
                    "optimizer": self.optimizer.state_dict(),
                    "scheduler": self.lr_scheduler.state_dict(),
                    "loss": (self._tr_loss.item(), self._globalstep_last_logged),
                    "chance": chance(),
                    "order": order.standing(self.state.global_step % steps),
                }
            )

        def _load_from_checkpoint(self, *_: Any) -> None:
            assert kept is not None
            put_back(task.module, kept.pop("weights"))

        def _load_optimizer_and_scheduler(self, folder: str | None) -> None:
            if folder is not None:
                assert kept is not None
                self.optimizer.load_state_dict(kept.pop("optimizer"))
                self.lr_scheduler.load_state_dict(kept["scheduler"])

        def _load_rng_state(self, *_: Any) -> None:
            assert kept is not None
            set_chance(kept["chance"])
            loss, self._globalstep_last_logged = kept["loss"]
            self._tr_loss.fill_(loss)

    steps = -(-len(examples) // (s.batch_size * s.accumulate))
    best = _keep_best(s.measure, s.patience, kept.pop("best") if kept else {})
    order = _order(task, checkpoint, steps, kept and kept["order"])
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            num_train_epochs=s.epochs,
            per_device_train_batch_size=s.batch_size,
            gradient_accumulation_steps=s.accumulate,
            train_sampling_strategy="group_by_length" if s.by_length else "random",
            learning_rate=s.learning_rate,
            warmup_steps=int(s.warmup * steps * s.epochs),
            lr_scheduler_type="linear",
            eval_strategy="epoch",
            save_strategy="no",  # `_order` says when
            logging_strategy="epoch",
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
            data_collator=order.collate,
            callbacks=[_progress(), best, order],
        )
        trainer.remove_callback(PrinterCallback)
        if kept is not None:
            (Path(folder) / TRAINER_STATE_NAME).write_text(kept["trainer"], encoding="utf-8")
        with quiet(), unpadded(task.module):
            trainer.train(resume_from_checkpoint=None if kept is None else folder)
    found = _history(trainer.state.log_history, s.measure)
    if checkpoint is not None and (checkpoint.due() or checkpoint.folder.exists()):
        checkpoint.write({"history": found, "chance": chance(), "best": learned(task.module)})
    return found


def _optimizer(task: Task[Any], s: TrainingSettings) -> torch.optim.Optimizer:
    from torch.optim import AdamW

    rate = s.learning_rate if s.head_learning_rate is None else s.head_learning_rate
    groups: list[dict[str, Any]] = [{"params": [], "lr": s.learning_rate}, {"params": [], "lr": rate}]
    for key, value in task.module.named_parameters():
        groups[key.startswith(task.new_layers)]["params"].append(value)
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
            metrics = given["metrics"].items()
            shown = ", ".join(f"{name.removeprefix('eval_')} {value:.3f}" for name, value in metrics)
            epoch, whole = round(state.epoch), round(args.num_train_epochs)
            _LOG.info("epoch %d of %d on dev: %s; at most %.0f s left", epoch, whole, shown, left)

    return Progress()


def _keep_best(measure: str, patience: int, held: dict[str, torch.Tensor]) -> Any:
    """Holds the weights of the best epoch in memory, puts them back at the end, and ends a training after so
    many epochs without a better one."""
    from transformers import TrainerCallback

    class KeepBest(TrainerCallback):
        weights = held

        def on_evaluate(self, args: Any, state: Any, control: Any, **given: Any) -> None:
            name = f"eval_{measure}"
            values = [row[name] for row in state.log_history if name in row]
            values = [-math.inf if math.isnan(value) else value for value in values]
            first = values.index(max(values))
            if first == len(values) - 1:
                self.weights = {key: one.to("cpu", copy=True) for key, one in learned(given["model"]).items()}
            control.should_training_stop |= len(values) - 1 - first >= patience

        def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
            put_back(given["model"], self.weights)

    return KeepBest()


def _order(task: Task[Any], checkpoint: Checkpoint | None, steps: int, kept: Any) -> Any:
    """Says when a checkpoint is due, and lets an epoch that was left halfway go on with the same batches.

    The loader draws an epoch's order from torch's numbers as they stand when it begins, collates one batch
    ahead, and does not collate what it skips.
    """
    from transformers import TrainerCallback

    own: torch.Generator | None = getattr(task, "generator", None)

    class Order(TrainerCallback):
        before: Any = None  # where the task's own numbers stood before the last batch

        def on_epoch_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            nonlocal kept
            if kept is not None:
                set_chance(kept["began"])
                if own is not None:
                    own.set_state(kept["own"])
                kept = None
            self.began = chance() if checkpoint is not None else {}

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            # The last step of an epoch is kept with what is measured after it.
            control.should_save = bool(state.global_step % steps) and self.due()

        def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            control.should_save = self.due()

        def due(self) -> bool:
            return checkpoint is not None and checkpoint.due()

        def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
            self.before = None if own is None else own.get_state()
            return task.collate(examples)

        def standing(self, inside: int) -> dict[str, Any]:
            now = None if own is None else (self.before if inside else own.get_state())
            return {"began": self.began if inside else chance(), "own": now}

    return Order()


def _history(log: list[dict[str, float]], measure: str) -> list[dict[str, float]]:
    rows: dict[float, dict[str, float]] = {}
    for entry in log:
        epoch = entry.get("epoch", 0.0)
        row = rows.setdefault(round(epoch, 3), {"epoch": epoch})
        kept = (key for key in entry if key.startswith("eval_") or key == "loss")
        row.update({key.removeprefix("eval_"): entry[key] for key in kept})
    return [row for row in rows.values() if measure in row]
