"""The one trainer, on a task small enough to check by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_model
from torch import nn

from radeval_lib.models.loading import ModelError
from radeval_lib.models.training import Trained, TrainingSettings, train

pytestmark = pytest.mark.usefixtures("one_thread")

Point = tuple[float, float]
POINTS: list[Point] = [(x / 10, 3 * x / 10 - 1) for x in range(-10, 10)]


class Line(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.old, self.head = nn.Linear(1, 4), nn.Linear(4, 1)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"loss": nn.functional.mse_loss(self.head(self.drop(self.old(x)))[:, 0], y)}


class Fit:
    """Fits a line; its measure is the negative squared error, or what ``script`` says, epoch by epoch."""

    new_layers = ("head.",)

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

    def save(self, folder: str | Path) -> None:
        save_model(self.module, str(Path(folder) / "line.safetensors"))


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


def test_a_killed_training_goes_on_from_its_last_checkpoint(tmp_path: Path) -> None:
    whole = train(Fit(), POINTS, POINTS, _settings())
    with pytest.raises(KeyboardInterrupt):
        train(Fit(dies_at=4), POINTS, POINTS, _settings(), folder=tmp_path)
    task = Fit()
    resumed = train(task, POINTS, POINTS, _settings(), folder=tmp_path)
    assert task.measured == 3  # epochs four to six
    assert resumed.history == whole.history
    assert _weights(resumed) == _weights(whole)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "finished.json",
        "model.safetensors",
        "training.json",
    ]
    kept = Fit()
    read = train(kept, POINTS, POINTS, _settings(), folder=tmp_path)
    assert (kept.measured, read.history, _weights(read)) == (0, whole.history, _weights(whole))


def test_patience_outlives_a_kill(tmp_path: Path) -> None:
    script = [0.5, 0.4, 0.3, 0.2, 0.1, 0.0]
    with pytest.raises(KeyboardInterrupt):
        train(Fit(script, dies_at=3), POINTS, POINTS, _settings(patience=2), folder=tmp_path)
    resumed = train(Fit(script[2:]), POINTS, POINTS, _settings(patience=2), folder=tmp_path)
    assert [row["fit"] for row in resumed.history] == script[:3]


def test_a_folder_holds_one_training(tmp_path: Path) -> None:
    train(Fit(), POINTS, POINTS, _settings(epochs=1), folder=tmp_path)
    for data, settings in ((POINTS[1:], _settings(epochs=1)), (POINTS, _settings(epochs=2))):
        with pytest.raises(ModelError, match="a training with other data or settings"):
            train(Fit(), data, POINTS, settings, folder=tmp_path)


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
