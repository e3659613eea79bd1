"""The one trainer, on a task small enough to check by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from radeval_lib import provenance
from radeval_lib.errors import ModelError
from radeval_lib.models import training
from radeval_lib.models.training import Trained, TrainingSettings, train

pytestmark = pytest.mark.usefixtures("one_thread")

Point = tuple[float, float]
POINTS: list[Point] = [(x / 10, 3 * x / 10 - 1) for x in range(-10, 10)]


class Line(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.old, self.head = nn.Linear(1, 4), nn.Linear(4, 1)
        self.drop = nn.Dropout(0.1)
        self.config = SimpleNamespace(use_cache=True, to_json_string=lambda: "{}", tie_word_embeddings=False)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"loss": nn.functional.mse_loss(self.head(self.drop(self.old(x)))[:, 0], y)}


class Fit:
    """Fits a line; its measure is the negative squared error, or what ``script`` says, epoch by epoch."""

    new_layers = ("head.",)
    __slots__ = ("__dict__", "dies_at", "measured", "script", "seen")  # the test's

    def __init__(self, script: Sequence[float] = (), dies_at: int = 0) -> None:
        torch.manual_seed(0)
        self.module: nn.Module = Line()
        self.script, self.measured, self.dies_at = script, 0, dies_at
        self.seen: list[int] = []

    def example(self, record: Point) -> dict[str, Any]:
        return {"x": [record[0]], "y": record[1]}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        self.seen.append(len(examples))
        return {key: torch.tensor([example[key] for example in examples]) for key in ("x", "y")}

    def measure(self, records: Sequence[Point]) -> dict[str, float]:
        self.measured += 1
        if self.measured == self.dies_at:
            raise KeyboardInterrupt
        self.module.eval()
        with torch.inference_mode():
            loss = float(self.module(**self.collate([self.example(row) for row in records]))["loss"])
        self.module.train()
        self.seen.pop()
        fit = self.script[self.measured - 1] if self.script else -loss
        return {"fit": fit, "loss_on_dev": loss}


def _settings(**changed: Any) -> TrainingSettings:
    values = {"learning_rate": 0.05, "batch_size": 5, "epochs": 6, "measure": "fit", "device": "cpu"}
    return TrainingSettings(**{**values, **changed})


def _weights(trained: Trained[Fit]) -> list[float]:
    return torch.cat([value.flatten() for value in trained.task.module.state_dict().values()]).tolist()


def test_training_learns_and_repeats() -> None:
    first, again = (train(Fit(), POINTS, POINTS, _settings()) for _ in range(2))
    assert first.history == again.history
    assert _weights(first) == _weights(again)
    assert first.history[-1]["loss"] < first.history[0]["loss"] / 2
    assert first.best["fit"] == max(row["fit"] for row in first.history)


def test_the_named_measure_chooses_the_epoch_and_stops() -> None:
    script = [0.1, 0.5, 0.5, 0.3, 0.9]
    trained = train(Fit(script), POINTS, POINTS, _settings(patience=2))
    assert [row["fit"] for row in trained.history] == script[:4]  # two epochs without a better one
    assert trained.best["fit"] == 0.5
    alone = train(Fit(), POINTS, POINTS, _settings(epochs=6, patience=9))
    assert _weights(trained) != _weights(alone)
    trained.task.script = ()
    assert trained.task.measure(POINTS)["loss_on_dev"] == pytest.approx(trained.history[1]["loss_on_dev"])


def test_an_epoch_without_a_number_is_not_the_best() -> None:
    trained = train(Fit([math.nan, 0.3, 0.5]), POINTS, POINTS, _settings(epochs=3))
    assert trained.best["fit"] == 0.5


def test_new_layers_learn_at_their_own_rate() -> None:
    before = Fit().module.state_dict()
    after = train(Fit(), POINTS, POINTS, _settings(learning_rate=0.0, head_learning_rate=0.1, epochs=1))
    now = after.task.module.state_dict()
    assert torch.equal(before["old.weight"], now["old.weight"])
    assert not torch.equal(before["head.weight"], now["head.weight"])


def test_accumulated_passes_make_the_step_of_a_large_batch() -> None:
    """Without dropout a step over 4 x 5 points is a step over 20."""
    found = []
    for size, passes in ((20, 1), (5, 4)):
        task = Fit()
        task.module.drop.p = 0.0  # type: ignore[union-attr]
        found.append(_weights(train(task, POINTS, POINTS, _settings(batch_size=size, accumulate=passes))))
        assert set(task.seen) == {size}
    assert found[0] == pytest.approx(found[1], abs=1e-5)


@pytest.fixture
def after_every_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "_BETWEEN", 0.0)


class Noisy(Fit):
    """Draws from a generator of its own, as masks of words are drawn."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.generator = torch.Generator().manual_seed(3)

    def example(self, record: Point) -> dict[str, Any]:
        return {**super().example(record), "input_ids": [0] * (1 + int(10 * abs(record[0])))}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        if len(self.seen) + 1 == self.dies_at:
            raise KeyboardInterrupt
        batch = super().collate(examples)
        return {**batch, "x": batch["x"] + 0.1 * torch.randn(batch["x"].shape, generator=self.generator)}

    def measure(self, records: Sequence[Point]) -> dict[str, float]:
        return {"fit": -sum(float(weight.detach().sum()) for weight in self.module.parameters())}


KINDS = [{}, {"by_length": True}, {"batch_size": 2, "accumulate": 3}]


@pytest.mark.usefixtures("after_every_epoch")
@pytest.mark.parametrize("changed", KINDS, ids=str)
def test_a_killed_training_goes_on_after_its_last_epoch_to_the_same_numbers(
    changed: dict[str, Any], tmp_path: Path
) -> None:
    settings = _settings(**{"epochs": 4, **changed})
    whole = train(Noisy(), POINTS, POINTS, settings)
    after = torch.rand(3).tolist()
    steps = len(whole.task.seen) // 4
    for moment in (steps + 1, 3 * steps + 2):
        folder = tmp_path / str(moment)
        with pytest.raises(KeyboardInterrupt):
            train(Noisy(dies_at=moment), POINTS, POINTS, settings, folder=folder)
        resumed = train(Noisy(), POINTS, POINTS, settings, folder=folder)
        assert torch.rand(3).tolist() == after
        assert len(resumed.task.seen) == len(whole.task.seen) - moment // steps * steps
        assert resumed.history == whole.history
        assert _weights(resumed) == _weights(whole)


@pytest.mark.usefixtures("after_every_epoch")
def test_patience_outlives_a_kill(tmp_path: Path) -> None:
    script = [0.5, 0.4, 0.3, 0.2, 0.1, 0.0]
    with pytest.raises(KeyboardInterrupt):
        train(Fit(script, dies_at=3), POINTS, POINTS, _settings(patience=2), folder=tmp_path / "one")
    resumed = train(Fit(script[2:]), POINTS, POINTS, _settings(patience=2), folder=tmp_path / "one")
    assert [row["fit"] for row in resumed.history] == script[:3]


@pytest.mark.usefixtures("after_every_epoch")
def test_another_training_starts_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = _settings(epochs=1)
    train(Fit(), POINTS, POINTS, settings, folder=tmp_path / "one")
    other = Fit()
    with torch.no_grad():
        other.module.head.bias += 1  # type: ignore[union-attr, operator]
    for task, data, dev, changed in (
        (Fit(), POINTS[1:], POINTS, settings),
        (Fit(), POINTS, POINTS[1:], settings),
        (Fit(), POINTS, POINTS, _settings(epochs=2)),
        (other, POINTS, POINTS, settings),
    ):
        train(task, data, dev, changed, folder=tmp_path / "one")
        assert task.measured == changed.epochs
    monkeypatch.setattr(provenance, "own_files", lambda: "other code")
    train(task := Fit(), POINTS, POINTS, settings, folder=tmp_path / "one")
    assert task.measured == 1
    train(task := Fit(), POINTS, POINTS, settings, folder=tmp_path / "one")
    assert task.measured == 0


@pytest.mark.usefixtures("after_every_epoch")
@pytest.mark.parametrize("name", ["about.json", "state.pt"])
def test_a_damaged_checkpoint_is_thrown_away_and_reported(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(Fit(dies_at=3), POINTS, POINTS, _settings(), folder=tmp_path / "one")
    content = (tmp_path / "one" / name).read_bytes()
    (tmp_path / "one" / name).write_bytes(content[: len(content) // 2])
    resumed = train(Fit(), POINTS, POINTS, _settings(), folder=tmp_path / "one")
    assert resumed.task.measured == 6
    assert "one starts over" in caplog.text


def test_short_trainings_keep_nothing(tmp_path: Path) -> None:
    train(Fit(), POINTS, POINTS, _settings(epochs=1), folder=tmp_path / "one")
    assert not list(tmp_path.iterdir())


def test_training_says_how_far_it_is(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "radeval_lib"):
        train(Fit([0.25, 0.5]), POINTS, POINTS, _settings(epochs=2))
    lines = [row.getMessage() for row in caplog.records]
    assert lines[0].startswith("epoch 1 of 2 on dev: fit 0.250, loss_on_dev ")
    assert lines[1].endswith("at most 0 s left")


def test_training_needs_examples_and_its_measure() -> None:
    for data, dev, said in (([], POINTS, "no training examples"), (POINTS, [], "no dev examples")):
        with pytest.raises(ModelError, match=said):
            train(Fit(), data, dev)
    with pytest.raises(ModelError, match=r"no measure 'f1'.*Measures: fit, loss_on_dev"):
        train(Fit(), POINTS, POINTS, _settings(measure="f1"))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"batch_size": 0}, "batch_size is 0. Give a whole number of at least 1"),
        ({"batch_size": 2.5}, "batch_size is 2.5. Give a whole number of at least 1"),
        ({"epochs": 0}, "epochs is 0"),
        ({"patience": 0}, "patience is 0"),
        ({"accumulate": -1}, "accumulate is -1"),
        ({"learning_rate": -1.0}, "learning_rate is -1.0. Give a number of at least 0"),
        ({"learning_rate": math.nan}, "learning_rate is nan"),
        ({"learning_rate": "1e-3"}, "learning_rate is '1e-3'"),
        ({"head_learning_rate": math.inf}, "head_learning_rate is inf"),
        ({"seed": -1}, "seed is -1. Give a whole number of at least 0"),
        ({"seed": 1.5}, "seed is 1.5. Give a whole number"),
        ({"seed": 2**32}, "seed is 4294967296. Give a whole number below"),
        ({"warmup": 2.0}, "warmup is 2.0. Give a share"),
    ],
)
def test_settings_that_are_out_of_range_are_named(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelError, match=f"training: {said}"):
        TrainingSettings(**wrong)


@dataclass
class Weighing:
    weight: float


@pytest.mark.usefixtures("after_every_epoch")
def test_what_a_task_holds_beside_its_weights_makes_another_training(tmp_path: Path) -> None:
    def changed(change: Callable[[Any], object]) -> Any:
        task: Any = Noisy()
        task.settings = Weighing(1.0)
        task.noise, task.labels, task.weights = 1.0, {"a": [1, None]}, torch.ones(2)
        change(task)
        train(task, POINTS, POINTS, _settings(epochs=1), folder=tmp_path / "one")
        return task

    changed(lambda task: None)
    assert not changed(lambda task: None).seen, "the same training is read"
    for change in (
        lambda task: setattr(task, "settings", Weighing(2.0)),
        lambda task: setattr(task, "noise", 0.0),
        lambda task: setattr(task, "labels", {"a": [1, "None"]}),
        lambda task: setattr(task, "weights", torch.tensor([1.0, 2.0])),
        lambda task: task.module.old.requires_grad_(False),
        lambda task: setattr(task.module.drop, "p", 0.2),
        lambda task: task.generator.manual_seed(4),
    ):
        assert changed(change).seen


def test_a_measure_does_not_take_the_place_of_the_loss() -> None:
    class Losing(Fit):
        def measure(self, records: Sequence[Point]) -> dict[str, float]:
            return {"fit": 0.0, "loss": 5.0}

    with pytest.raises(ModelError, match="a measure is called 'loss'"):
        train(Losing(), POINTS, POINTS, _settings(epochs=1))
