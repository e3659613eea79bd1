"""Train the model of any task until its measure on dev stops improving, and keep the best epoch."""

from __future__ import annotations

import hashlib
import inspect
import json
import logging
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from radeval_lib import atomic, checksums, provenance
from radeval_lib.errors import ModelError
from radeval_lib.models.batching import IGNORED, avoid_padding, pick_device
from radeval_lib.models.pretrained import hide_logs

if TYPE_CHECKING:
    import torch

_LOG = logging.getLogger(__name__)
_STATE_FILE = "state.pt"
_CHECKPOINT_INTERVAL = 60.0
"""Minimum time between checkpoints, in seconds; a shorter training run writes none."""

Record = TypeVar("Record", contravariant=True)
T = TypeVar("T", bound="Task[Any]")


class Task(Protocol[Record]):
    """A model that :func:`train` can train, with methods that prepare its data and measure it.

    ``module`` is the network to train. If ``collate`` draws random numbers, it must draw them from torch's
    global generator, or from a ``torch.Generator`` in the task's attribute ``generator``. A training run
    resumes only if the ``repr`` of every attribute except ``module`` and ``generator`` is unchanged.
    """

    module: torch.nn.Module

    @property
    def new_layers(self) -> tuple[str, ...]:
        """Name prefixes of the new weights, which are trained with ``head_learning_rate``."""

    def make_example(self, record: Record) -> dict[str, Any]:
        """Return a record as a training example, a dictionary with keys such as ``input_ids`` and
        ``labels``."""

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """Return examples as a padded batch: the keyword arguments of the module's ``forward``."""

    def measure(self, records: Sequence[Record]) -> dict[str, float]:
        """Return a mapping from measure to the module's value on ``records``, where higher is better."""


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of a training run; the defaults are those of Zhao et al. 2024, A.9, for the IOB scheme.

    Attributes
    ----------
    learning_rate : learning rate of the pretrained layers; A.9 has 1e-5 for IOB and 6e-6 for spans.
    head_learning_rate : learning rate of the new layers; None takes ``learning_rate``.
    batch_size : number of examples per forward pass.
    accumulate : number of forward passes per step, whose gradients are averaged.
    by_length : whether the examples of a batch have ``input_ids`` of similar length, which saves padding.
    epochs : maximum number of passes over the training data.
    patience : number of epochs without a better measure on dev after which training stops.
    warmup : share of the steps (0 to 1) in which the learning rates rise linearly from 0; afterwards, they
        fall linearly to 0.
    weight_decay : weight decay of AdamW.
    measure : name of the task's measure on dev by which the epoch is chosen.
    seed : seed of the order of examples and of dropout, from 0 to 2**32 - 1. New weights of the module are
        drawn before training, with another seed.
    device : ``auto``, ``cpu`` or ``cuda``; on a GPU, forward passes use torch's autocast to bfloat16.

    Raises
    ------
    ModelError
        If ``batch_size``, ``accumulate``, ``epochs`` or ``patience`` is below 1.
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

    def __post_init__(self) -> None:
        for name in ("batch_size", "accumulate", "epochs", "patience"):
            if (value := getattr(self, name)) < 1:
                raise ModelError(f"{name} is {value}, below 1", "training settings", "Set it to at least 1.")


@dataclass
class TrainingResult(Generic[T]):
    """A trained task and its measures.

    Attributes
    ----------
    task : the task, whose module has the weights of the best epoch.
    best : a mapping from measure to its value on dev in the best epoch.
    history : for each epoch, a dictionary with ``epoch`` (counted from 1), ``loss`` (the mean over the steps)
        and each measure on dev.
    """

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
) -> TrainingResult[T]:
    """Train a task's module in place, and return the task with its measures.

    The module gets the weights of its best epoch on dev. As side effects, the global random generators of
    Python, numpy and torch are seeded, and ``use_cache`` in the module's configuration is set to False.

    Parameters
    ----------
    task : the task to train.
    records : the training records, each a valid argument of the task's ``make_example``.
    dev : the records on which the epoch is chosen, by the measure named in the settings.
    settings : settings of the training run; None takes the defaults.
    folder : folder for a checkpoint, written after an epoch at most once a minute. Training resumes from a
        checkpoint there of the same task, data and settings, with the same result. None writes none.

    Raises
    ------
    ModelError
        If ``records`` or ``dev`` is empty, or the settings name an unknown device or a GPU that torch cannot
        find.
    KeyError
        If the task's ``measure`` does not return the measure named in the settings.
    """
    import torch
    from transformers import set_seed

    if not records or not dev:
        problem = f"too few examples: {len(records)} for training and {len(dev)} for dev"
        raise ModelError(problem, "training", "Provide at least one example for each.")
    settings = settings or TrainingSettings()
    examples = [task.make_example(record) for record in records]
    fingerprint = "" if folder is None else _compute_fingerprint(task, examples, dev, settings)
    module: Any = task.module.to(pick_device(settings.device))
    if (config := getattr(module, "config", None)) is not None:
        config.use_cache = False  # the cache serves decoding only
    set_seed(settings.seed)
    run = _TrainingRun(task, examples, settings)
    if folder is not None and (checkpoint := _read_checkpoint(Path(folder), fingerprint)) is not None:
        run.resume(checkpoint)
    history, last_checkpoint = run.history, time.monotonic()
    with hide_logs(), avoid_padding(module):
        while len(history) < settings.epochs and run.count_epochs_since_best() < settings.patience:
            run.train_epoch(dev)
            if folder is not None and time.monotonic() - last_checkpoint >= _CHECKPOINT_INTERVAL:
                Path(folder).mkdir(parents=True, exist_ok=True)
                with atomic.new_file(Path(folder) / _STATE_FILE) as new_file:
                    torch.save({"fingerprint": fingerprint, **run.make_checkpoint()}, new_file)
                last_checkpoint = time.monotonic()
    load_trainable_state(module, run.best)
    best = dict(history[-1 - run.count_epochs_since_best()])
    del best["epoch"], best["loss"]
    return TrainingResult(task, best, history)


def _compute_fingerprint(
    task: Task[Any], examples: list[dict[str, Any]], dev: Sequence[Any], settings: TrainingSettings
) -> str:
    """Return the SHA-256, in hexadecimal digits, of everything that determines the result of a training run.

    It covers the task (its attributes, layers and initial weights), the examples of both data sets, the
    settings, the code and the machine.
    """
    import torch

    attributes = {key: repr(value) for key, value in vars(task).items() if key not in ("module", "generator")}
    weights = [torch.hash_tensor(weight.detach()).item() for weight in task.module.state_dict().values()]
    digest = hashlib.sha256()
    for example in (*examples, *map(task.make_example, dev)):
        digest.update(repr(sorted(example.items())).encode())
    model = [type(task).__qualname__, attributes, repr(task.module), weights]
    machine = [torch.get_num_threads(), str(pick_device(settings.device)), provenance.conditions()]
    inputs = [model, digest.hexdigest(), asdict(settings), machine]
    return checksums.of_text(json.dumps(inputs, sort_keys=True))


def _read_checkpoint(folder: Path, fingerprint: str) -> dict[str, Any] | None:
    """Return the checkpoint in ``folder`` if it has this fingerprint, else None.

    If the checkpoint is damaged or from another training run, a warning is logged. torch reads checkpoints
    without running code (``weights_only``).
    """
    import torch

    if not (folder / _STATE_FILE).is_file():
        return None
    try:
        state = dict(torch.load(folder / _STATE_FILE, map_location="cpu", weights_only=True))
    except Exception:  # torch raises errors of many types
        state = {}
    if state.get("fingerprint") == fingerprint:
        return state
    _LOG.warning("starting over: the checkpoint in %s is damaged or from another training run", folder.name)
    return None


def get_trainable_state(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Return a mapping from name to tensor for a module's trainable parameters and its buffers.

    A shared parameter occurs only once. The tensors are not copied, so further training changes them.
    """
    trainable = {name: weight.detach() for name, weight in module.named_parameters() if weight.requires_grad}
    return {**trainable, **dict(module.named_buffers())}


def load_trainable_state(module: torch.nn.Module, state: Mapping[str, torch.Tensor]) -> None:
    """Set a module's trainable parameters and buffers, in place.

    ``state``: a mapping from name to tensor, as returned by :func:`get_trainable_state`.
    """
    for name, value in get_trainable_state(module).items():
        value.copy_(state[name])


class _TrainingRun:
    """A training run in progress.

    The optimizer is AdamW, with one learning rate for pretrained and one for new layers; both rise and then
    fall linearly. Gradients are clipped to norm 1.

    Attributes
    ----------
    history : the number, loss and measures on dev of each finished epoch, as in :class:`TrainingResult`.
    best : the module's state (:func:`get_trainable_state`) after the best finished epoch, on the CPU; empty
        before the first epoch ends.
    """

    def __init__(self, task: Task[Any], examples: list[dict[str, Any]], settings: TrainingSettings) -> None:
        from torch.optim import AdamW
        from transformers import get_linear_schedule_with_warmup

        self._task, self._examples, self._settings = task, examples, settings
        self._module: Any = task.module
        self._device = pick_device(settings.device)
        self._generator: torch.Generator | None = getattr(task, "generator", None)
        self._step_size = settings.batch_size * settings.accumulate
        self._steps = -(-len(examples) // self._step_size)  # per epoch
        base_rate, head_rate = settings.learning_rate, settings.head_learning_rate
        rates = base_rate, base_rate if head_rate is None else head_rate
        groups: list[dict[str, Any]] = [{"params": [], "lr": rate} for rate in rates]
        for name, weight in task.module.named_parameters():
            groups[name.startswith(task.new_layers)]["params"].append(weight)
        self._optimizer = AdamW(groups, weight_decay=settings.weight_decay, fused=True)
        steps = self._steps * settings.epochs
        warmup_steps = int(settings.warmup * steps)
        self._schedule: Any = get_linear_schedule_with_warmup(self._optimizer, warmup_steps, steps)
        self.history: list[dict[str, float]] = []
        self.best: dict[str, torch.Tensor] = {}

    def resume(self, checkpoint: dict[str, Any]) -> None:
        """Continue from a checkpoint that :meth:`make_checkpoint` returned."""
        import torch

        self.history.extend(checkpoint["history"])
        self.best = checkpoint["best"]
        load_trainable_state(self._module, checkpoint["weights"])
        self._optimizer.load_state_dict(checkpoint["optimizer"])
        self._schedule.load_state_dict(checkpoint["schedule"])
        torch.set_rng_state(checkpoint["rng"])
        torch.cuda.set_rng_state_all(checkpoint["cuda_rng"])
        if self._generator is not None:
            self._generator.set_state(checkpoint["generator"])

    def make_checkpoint(self) -> dict[str, Any]:
        """Return a dictionary with all that :meth:`resume` needs to continue after a finished epoch."""
        import torch

        return {
            "history": self.history,
            "best": self.best,
            "weights": get_trainable_state(self._module),
            "optimizer": self._optimizer.state_dict(),
            "schedule": self._schedule.state_dict(),
            "rng": torch.get_rng_state(),
            "cuda_rng": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
            "generator": None if self._generator is None else self._generator.get_state(),
        }

    def count_epochs_since_best(self) -> int:
        """Return the number of finished epochs after the best one; -1 if no epoch is finished.

        The best epoch is the first one with the highest value of the measure named in the settings. NaN
        counts as -infinity.
        """
        measured = [epoch[self._settings.measure] for epoch in self.history]
        values = [-math.inf if math.isnan(value) else value for value in measured]
        return len(values) - 1 - values.index(max(values)) if values else -1

    def train_epoch(self, dev: Sequence[Any]) -> None:
        """Train for one epoch, add its loss and measures on dev to ``history``, and update ``best``."""
        import torch

        loss_sum = torch.zeros((), device=self._device)
        order = _order_examples(self._examples, self._settings, len(self.history))
        for start in range(0, len(order), self._step_size):
            step_examples = [self._examples[index] for index in order[start : start + self._step_size]]
            self._module.train()
            for loss in _compute_losses(self._task, step_examples, self._settings.batch_size, self._device):
                loss.backward()
                loss_sum += loss.detach()
            torch.nn.utils.clip_grad_norm_(self._module.parameters(), 1.0)
            self._optimizer.step()
            self._schedule.step()
            self._module.zero_grad()
        measures = {name: float(value) for name, value in self._task.measure(dev).items()}
        mean_loss = loss_sum.item() / self._steps
        self.history.append({"epoch": len(self.history) + 1.0, "loss": mean_loss, **measures})
        if self.count_epochs_since_best() == 0:
            state = get_trainable_state(self._module)
            self.best = {name: value.to("cpu", copy=True) for name, value in state.items()}
        text = ", ".join(f"{name} {value:.3f}" for name, value in measures.items())
        _LOG.info("epoch %d of %d on dev: %s", len(self.history), self._settings.epochs, text)


def _order_examples(examples: list[dict[str, Any]], settings: TrainingSettings, epoch: int) -> list[int]:
    """Return the positions of the examples in the random order of an epoch.

    If ``settings.by_length`` is True, examples of similar length are next to one another. ``epoch``: the
    number of the epoch, from 0.
    """
    import torch
    from transformers.trainer_pt_utils import get_length_grouped_indices

    # A DataLoader, with which the stored scores were computed, draws one number here.
    torch.empty((), dtype=torch.int64).random_()
    if settings.by_length:
        lengths = [len(example["input_ids"]) for example in examples]
        return list(get_length_grouped_indices(lengths, settings.batch_size * settings.accumulate))
    order = torch.randperm(len(examples), generator=torch.Generator().manual_seed(settings.seed + epoch))
    return list(order.tolist())


def _compute_losses(
    task: Task[Any], examples: list[dict[str, Any]], size: int, device: torch.device
) -> Iterator[torch.Tensor]:
    """Yield the loss of each forward pass of a step, scaled so that the losses add up to that of the step.

    Each loss is a scalar float32 tensor with gradients. As in transformers' Trainer, a model that accepts
    ``num_items_in_batch`` gets the number of labels in the step, by which it divides its loss; the losses of
    other models are divided by the number of passes.

    ``examples``: the examples of the step. ``size``: maximum number of examples in a forward pass.
    """
    import torch

    starts = range(0, len(examples), size)
    batches = [task.collate(examples[start : start + size]) for start in starts]
    batches = [{key: value.to(device) for key, value in batch.items()} for batch in batches]
    module: Any = task.module
    model = module.get_base_model() if hasattr(module, "get_base_model") else module
    parameters = inspect.signature(model.forward).parameters.values()
    has_keywords = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    label_count: dict[str, Any] = {}
    if getattr(model, "accepts_loss_kwargs", has_keywords) and "labels" in batches[0]:
        first = int(getattr(model, "loss_type", "") == "ForCausalLM")  # such a model predicts no first label
        counts = ((batch["labels"][..., first:] != IGNORED).sum() for batch in batches)
        label_count["num_items_in_batch"] = sum(counts)
    for batch in batches:
        with torch.autocast("cuda", torch.bfloat16, enabled=device.type == "cuda"):
            loss = module(**batch, **label_count)["loss"].float()
        yield loss if label_count else loss / len(batches)
