"""The one trainer: any task that can make examples, collate them and measure itself on dev is trained until
it gets no better, and left with the weights of its best epoch."""

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
from radeval_lib.models.batching import IGNORED, device_of, without_padding
from radeval_lib.models.pretrained import quiet

if TYPE_CHECKING:
    import torch

_LOG = logging.getLogger(__name__)
_STATE = "state.pt"
_BETWEEN = 60.0
"""The least time between checkpoints, in seconds: a shorter training keeps none."""

Record = TypeVar("Record", contravariant=True)
T = TypeVar("T", bound="Task[Any]")


class Task(Protocol[Record]):
    """What the trainer needs to know of a model and its data.

    A task whose ``collate`` draws random numbers draws them from torch's, or from a ``torch.Generator`` of
    its own that it calls ``generator``.

    A training resumes only if the ``repr`` of the task's attributes is the same as before.
    """

    module: torch.nn.Module

    @property
    def new_layers(self) -> tuple[str, ...]:
        """Beginnings of the names of weights that are new, and learn at their own rate."""

    def example(self, record: Record) -> dict[str, Any]:
        """Return a record as the module's numbers, including labels."""

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """Return a padded batch."""

    def measure(self, records: Sequence[Record]) -> dict[str, float]:
        """Return the module's measures by name; a higher one is better if it chooses the epoch."""


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
    seed : from 0, below 2**32; of the order of examples and of dropout. What is new in the module is drawn
        before.
    device : ``auto``, ``cpu`` or ``cuda``; on a GPU it computes in bfloat16 if that is precise enough.
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
                raise ModelError(f"{name} is {value}", "training", "Give at least 1.")


@dataclass
class Trained(Generic[T]):
    """A trained task.

    Attributes
    ----------
    task : the task, whose module has the weights of the best epoch.
    best : the measures of that epoch on dev, by name.
    history : for each epoch ``epoch`` (from 1), ``loss`` (mean over its steps) and the measures on dev.
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
) -> Trained[T]:
    """Train ``task.module`` in place, and leave it with the weights of the best epoch on dev.

    It seeds Python's, numpy's and torch's own random numbers, and sets ``use_cache`` of the module's
    configuration to False.

    Parameters
    ----------
    task : the module to train, with its view of the data.
    records, dev : training data, and data on which the epoch is chosen.
    settings : how; None takes the defaults.
    folder : for the last finished epoch of a long training. Called again with the same task, data and
        settings, it resumes from there, to the same weights and history. Without a folder nothing is kept.

    Raises
    ------
    ModelError
        If there are no examples to train on or to choose the epoch by.
    """
    import torch
    from transformers import set_seed

    if not records or not dev:
        split = "dev" if records else "training"
        raise ModelError(f"no {split} examples", "training", "Give data that has some in this split.")
    s = settings or TrainingSettings()
    examples = [task.example(record) for record in records]
    fingerprint = "" if folder is None else _fingerprint(task, examples, dev, s)
    module: Any = task.module.to(device_of(s.device))
    if (config := getattr(module, "config", None)) is not None:
        config.use_cache = False  # training decodes nothing
    set_seed(s.seed)
    training = _Training(task, examples, s)
    if folder is not None and (kept := _read_checkpoint(Path(folder), fingerprint)) is not None:
        training.resume(kept)
    history, written = training.history, time.monotonic()
    with quiet(), without_padding(module):
        while len(history) < s.epochs and training.since_best() < s.patience:
            training.epoch(dev)
            if folder is not None and time.monotonic() - written >= _BETWEEN:
                Path(folder).mkdir(parents=True, exist_ok=True)
                with atomic.new_file(Path(folder) / _STATE) as new:
                    torch.save({"fingerprint": fingerprint, **training.state()}, new)
                written = time.monotonic()
    load_trainable_state(module, training.best)
    best = dict(history[-1 - training.since_best()])
    del best["epoch"], best["loss"]
    return Trained(task, best, history)


def _fingerprint(
    task: Task[Any], examples: list[dict[str, Any]], dev: Sequence[Any], s: TrainingSettings
) -> str:
    """Return a digest of all that a training's result depends on: the task with its attributes, layers and
    starting weights, the examples, the settings, the code and the machine."""
    import torch

    attributes = {key: repr(value) for key, value in vars(task).items() if key not in ("module", "generator")}
    weights = [torch.hash_tensor(weight.detach()).item() for weight in task.module.state_dict().values()]
    digest = hashlib.sha256()
    for example in (*examples, *map(task.example, dev)):
        digest.update(repr(sorted(example.items())).encode())
    made = [type(task).__qualname__, attributes, repr(task.module), weights, digest.hexdigest(), asdict(s)]
    machine = [torch.get_num_threads(), str(device_of(s.device)), provenance.conditions()]
    return checksums.of_text(json.dumps([made, machine], sort_keys=True))


def _read_checkpoint(folder: Path, fingerprint: str) -> dict[str, Any] | None:
    """Return this training's state after its last finished epoch, or None. torch reads it without running
    code (``weights_only``)."""
    import torch

    if not (folder / _STATE).is_file():
        return None
    try:
        state = dict(torch.load(folder / _STATE, map_location="cpu", weights_only=True))
    except Exception:  # torch raises errors of many types
        state = {}
    if state.get("fingerprint") == fingerprint:
        return state
    _LOG.warning("%s starts over: its checkpoint is damaged or of another training", folder.name)
    return None


def trainable_state(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Return a module's trainable state: buffers, and parameters with gradients, each once."""
    learning = {name: weight.detach() for name, weight in module.named_parameters() if weight.requires_grad}
    return {**learning, **dict(module.named_buffers())}


def load_trainable_state(module: torch.nn.Module, state: Mapping[str, torch.Tensor]) -> None:
    """Restore a module from a state; names and shapes are those of :func:`trainable_state`."""
    for name, value in trainable_state(module).items():
        value.copy_(state[name])


class _Training:
    """A training under way. AdamW has one learning rate for pretrained layers and one for new ones, which
    rise and fall linearly; gradients are clipped to norm 1.

    ``history`` has the measures of finished epochs, ``best`` the weights of the best one.
    """

    def __init__(self, task: Task[Any], examples: list[dict[str, Any]], s: TrainingSettings) -> None:
        from torch.optim import AdamW
        from transformers import get_linear_schedule_with_warmup

        self._task, self._examples, self._s = task, examples, s
        self._module: Any = task.module
        self._device = device_of(s.device)
        self._generator: torch.Generator | None = getattr(task, "generator", None)
        self._size = s.batch_size * s.accumulate
        self._steps = -(-len(examples) // self._size)
        new_rate = s.learning_rate if s.head_learning_rate is None else s.head_learning_rate
        groups: list[dict[str, Any]] = [{"params": [], "lr": rate} for rate in (s.learning_rate, new_rate)]
        for name, weight in task.module.named_parameters():
            groups[name.startswith(task.new_layers)]["params"].append(weight)
        self._optimizer = AdamW(groups, weight_decay=s.weight_decay, fused=True)
        whole = self._steps * s.epochs
        self._schedule: Any = get_linear_schedule_with_warmup(self._optimizer, int(s.warmup * whole), whole)
        self.history: list[dict[str, float]] = []
        self.best: dict[str, torch.Tensor] = {}

    def resume(self, kept: dict[str, Any]) -> None:
        """Restore what :meth:`state` returned."""
        import torch

        self.history.extend(kept["history"])
        self.best = kept["best"]
        load_trainable_state(self._module, kept["weights"])
        self._optimizer.load_state_dict(kept["optimizer"])
        self._schedule.load_state_dict(kept["schedule"])
        torch.set_rng_state(kept["rng"])
        torch.cuda.set_rng_state_all(kept["cuda_rng"])
        if self._generator is not None:
            self._generator.set_state(kept["generator"])

    def state(self) -> dict[str, Any]:
        """Return the state from which a training resumes after an epoch."""
        import torch

        return {
            "history": self.history,
            "best": self.best,
            "weights": trainable_state(self._module),
            "optimizer": self._optimizer.state_dict(),
            "schedule": self._schedule.state_dict(),
            "rng": torch.get_rng_state(),
            "cuda_rng": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
            "generator": None if self._generator is None else self._generator.get_state(),
        }

    def since_best(self) -> int:
        """Return the number of epochs since the best, -1 if there is none; NaN is the worst measure."""
        measures = [row[self._s.measure] for row in self.history]
        values = [-math.inf if math.isnan(value) else value for value in measures]
        return len(values) - 1 - values.index(max(values)) if values else -1

    def epoch(self, dev: Sequence[Any]) -> None:
        """Run the steps of an epoch, measure it on dev, and keep its weights if it is the best so far."""
        import torch

        whole = torch.zeros((), device=self._device)
        order = _order(self._examples, self._s, len(self.history))
        for start in range(0, len(order), self._size):
            chosen = [self._examples[index] for index in order[start : start + self._size]]
            self._module.train()
            for loss in _losses(self._task, chosen, self._s.batch_size, self._device):
                loss.backward()
                whole += loss.detach()
            torch.nn.utils.clip_grad_norm_(self._module.parameters(), 1.0)
            self._optimizer.step()
            self._schedule.step()
            self._module.zero_grad()
        measured = {name: float(value) for name, value in self._task.measure(dev).items()}
        mean_loss = whole.item() / self._steps
        self.history.append({"epoch": len(self.history) + 1.0, "loss": mean_loss, **measured})
        if self.since_best() == 0:
            state = trainable_state(self._module)
            self.best = {name: value.to("cpu", copy=True) for name, value in state.items()}
        shown = ", ".join(f"{name} {value:.3f}" for name, value in measured.items())
        _LOG.info("epoch %d of %d on dev: %s", len(self.history), self._s.epochs, shown)


def _order(examples: list[dict[str, Any]], s: TrainingSettings, epoch: int) -> list[int]:
    """Return the order of the examples in an epoch (from 0), as positions; grouped by length with
    ``by_length``."""
    import torch
    from transformers.trainer_pt_utils import get_length_grouped_indices

    torch.empty((), dtype=torch.int64).random_()  # a loader draws as much, with which the results were made
    if s.by_length:
        lengths = [len(example["input_ids"]) for example in examples]
        return list(get_length_grouped_indices(lengths, s.batch_size * s.accumulate))
    drawn = torch.randperm(len(examples), generator=torch.Generator().manual_seed(s.seed + epoch))
    return list(drawn.tolist())


def _losses(
    task: Task[Any], examples: list[dict[str, Any]], size: int, device: torch.device
) -> Iterator[torch.Tensor]:
    """Yield the losses of the forward passes of a step, which add up to its own. As in transformers' Trainer,
    a model that takes further arguments is given how many labels the step has, and divides by that."""
    import torch

    starts = range(0, len(examples), size)
    batches = [task.collate(examples[start : start + size]) for start in starts]
    batches = [{key: value.to(device) for key, value in batch.items()} for batch in batches]
    module: Any = task.module
    model = module.get_base_model() if hasattr(module, "get_base_model") else module
    parameters = inspect.signature(model.forward).parameters.values()
    takes = getattr(model, "accepts_loss_kwargs", any(each.kind is each.VAR_KEYWORD for each in parameters))
    counted: dict[str, Any] = {}
    if takes and "labels" in batches[0]:
        first = int(getattr(model, "loss_type", "") == "ForCausalLM")  # such a model predicts no first label
        counted["num_items_in_batch"] = sum(
            (batch["labels"][..., first:] != IGNORED).sum() for batch in batches
        )
    for batch in batches:
        with torch.autocast("cuda", torch.bfloat16, enabled=device.type == "cuda"):
            loss = module(**batch, **counted)["loss"].float()
        yield loss if counted else loss / len(batches)
