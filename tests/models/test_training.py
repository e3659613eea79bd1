"""The one trainer, on a task small enough to check by hand; and training without padding."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from transformers import BertConfig, BertForTokenClassification

from radeval_lib import provenance
from radeval_lib.errors import ModelError
from radeval_lib.models import training
from radeval_lib.models.batching import avoid_padding, pack_sequences
from radeval_lib.models.training import TrainingResult, TrainingSettings, train

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

    def make_example(self, record: Point) -> dict[str, Any]:
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
            loss = float(self.module(**self.collate([self.make_example(row) for row in records]))["loss"])
        self.module.train()
        self.seen.pop()
        fit = self.script[self.measured - 1] if self.script else -loss
        return {"fit": fit, "loss_on_dev": loss}


def _settings(**changed: Any) -> TrainingSettings:
    values = {"learning_rate": 0.05, "batch_size": 5, "epochs": 6, "measure": "fit", "device": "cpu"}
    return TrainingSettings(**{**values, **changed})


def _weights(trained: TrainingResult[Fit]) -> list[float]:
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
    weights = []
    for size, passes in ((20, 1), (5, 4)):
        task = Fit()
        task.module.drop.p = 0.0  # type: ignore[union-attr]
        weights.append(_weights(train(task, POINTS, POINTS, _settings(batch_size=size, accumulate=passes))))
        assert set(task.seen) == {size}
    assert weights[0] == pytest.approx(weights[1], abs=1e-5)


@pytest.fixture
def after_every_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "_CHECKPOINT_INTERVAL", 0.0)


class Noisy(Fit):
    """Draws from a generator of its own, as masks of words are drawn."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.generator = torch.Generator().manual_seed(3)

    def make_example(self, record: Point) -> dict[str, Any]:
        return {**super().make_example(record), "input_ids": [0] * (1 + int(10 * abs(record[0])))}

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
    monkeypatch.setattr(provenance, "library_digest", lambda: "other code")
    train(task := Fit(), POINTS, POINTS, settings, folder=tmp_path / "one")
    assert task.measured == 1
    train(task := Fit(), POINTS, POINTS, settings, folder=tmp_path / "one")
    assert task.measured == 0
    (tmp_path / "one" / "state.pt").write_bytes(b"damaged")
    train(task := Fit(), POINTS, POINTS, settings, folder=tmp_path / "one")
    assert task.measured == 1


def test_training_needs_examples() -> None:
    for data, dev in (([], POINTS), (POINTS, [])):
        with pytest.raises(ModelError):
            train(Fit(), data, dev)


LENGTHS = [5, 40, 12, 1, 20, 9, 3, 11]


def model() -> Any:
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32, "num_hidden_layers": 2}
    return BertForTokenClassification(BertConfig(vocab_size=50, num_labels=3, **sizes)).eval()


def batch(lengths: list[int]) -> dict[str, torch.Tensor]:
    longest = max(lengths)
    mask = (torch.arange(longest) < torch.tensor(lengths).unsqueeze(1)).long()
    ids = torch.randint(1, 50, mask.shape, generator=torch.Generator().manual_seed(1)) * mask
    labels = (ids % 3).masked_fill(mask == 0, -100)
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def test_states_losses_and_gradients_are_those_of_the_padded_batch() -> None:
    made, given_ = model(), batch(LENGTHS)
    shapes = []

    def note(_: Any, __: Any, given: dict[str, Any]) -> None:
        shapes.append(tuple(given["input_ids"].shape))

    made.bert.embeddings.register_forward_pre_hook(note, with_kwargs=True)

    def computed() -> tuple[torch.Tensor, torch.Tensor, list[torch.Tensor]]:
        made.zero_grad()
        output = made(**given_)
        output.loss.backward()
        return output.loss, output.logits, [weight.grad.clone() for weight in made.parameters()]

    loss, logits, gradients = computed()
    with avoid_padding(made):
        same_loss, same_logits, same_gradients = computed()
        with torch.inference_mode():
            made(**given_)
        made(**given_, token_type_ids=torch.zeros_like(given_["input_ids"]))
    assert shapes == [(8, 40), (1, sum(LENGTHS)), (8, 40), (8, 40)]
    real = given_["attention_mask"].bool()
    torch.testing.assert_close(same_loss, loss)
    torch.testing.assert_close(same_logits[real], logits[real], rtol=1e-4, atol=1e-5)
    for same, gradient in zip(same_gradients, gradients, strict=True):
        torch.testing.assert_close(same, gradient, rtol=1e-4, atol=1e-6)


@settings(deadline=None)
@given(st.lists(st.integers(1, 200), min_size=2, max_size=24))
def test_every_text_stands_whole_in_one_row(lengths: list[int]) -> None:
    mask = batch(lengths)["attention_mask"]
    source = pack_sequences(mask)
    if source is None:
        return
    index = source.numpy()
    assert sorted(index[index >= 0]) == list(np.flatnonzero(mask.numpy()))
    assert index.size <= 0.9 * mask.numel()
    assert index.shape[1] <= max(128, *lengths)
    for number, length in enumerate(lengths):
        rows, places = np.nonzero(index // mask.shape[1] == number)
        assert len(set(rows)) == 1
        assert list(places) == list(range(places[0], places[0] + length))
