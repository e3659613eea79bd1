"""Training of either tagging scheme with transformers' Trainer, early stopping on dev."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from radeval_lib.data.records import AnnotatedSentence
from radeval_lib.models.loading import ModelError, device_of, quiet
from radeval_lib.models.ner.agreement import Agreement, agreement
from radeval_lib.models.ner.corpus import gold_spans, plain_words
from radeval_lib.models.ner.schemes import Scheme

SchemeName = Literal["iob", "span"]


@dataclass(frozen=True)
class TrainingSettings:
    """How a tagger is trained. The defaults are A.9's (Zhao et al. 2024) for the IOB scheme.

    Attributes
    ----------
    learning_rate : of the encoder; A.9 has 1e-5 for IOB and 6e-6 for spans.
    head_learning_rate : of the layers that are new; None takes the same.
    batch_size : sentences a step.
    epochs : the most passes over the training data.
    patience : epochs without a better dev F1 before it stops.
    warmup : share of the steps over which the rate rises; it falls linearly afterwards.
    weight_decay : AdamW's.
    seed : of initialization and order.
    device : ``auto``, ``cpu`` or ``cuda``.
    """

    learning_rate: float = 1e-5
    head_learning_rate: float | None = None
    batch_size: int = 96
    epochs: int = 10
    patience: int = 3
    warmup: float = 0.1
    weight_decay: float = 0.0
    seed: int = 0
    device: str = "auto"


@dataclass
class Trained:
    """What training gave.

    Attributes
    ----------
    scheme : the tagger with the weights of the best epoch.
    dev : its agreement with the dev sentences.
    history : one row an epoch: epoch, precision, recall, f1, accuracy on dev, and the mean training loss.
    """

    scheme: Scheme
    dev: Agreement
    history: list[dict[str, float]] = field(default_factory=list)


def scheme_of(name: SchemeName, init_model: str | Path, seed: int = 0, **head: Any) -> Scheme:
    """A scheme to train, its new layers drawn from ``seed``.

    Parameters
    ----------
    head : fields of :class:`~radeval_lib.models.ner.span_scheme.SpanSettings`, for the span scheme.
    """
    import torch

    torch.manual_seed(seed)
    if name == "iob":
        from radeval_lib.models.ner.iob_scheme import IobScheme

        return IobScheme(init_model)
    if name == "span":
        from radeval_lib.models.ner.span_scheme import SpanScheme, SpanSettings

        return SpanScheme(init_model, SpanSettings(**head))
    raise ModelError(f"unknown scheme {name!r}", "scheme", "Choices: iob, span.")


def evaluate(scheme: Scheme, sentences: Sequence[AnnotatedSentence]) -> Agreement:
    """Strict agreement of a tagger with annotated sentences, by type and by their group."""
    words = [plain_words(sentence) for sentence in sentences]
    return agreement(
        [gold_spans(sentence) for sentence in sentences],
        scheme.predict(words),
        [len(row) for row in words],
        [sentence.group for sentence in sentences],
    )


def train(
    scheme: Scheme,
    sentences: Sequence[AnnotatedSentence],
    dev: Sequence[AnnotatedSentence],
    settings: TrainingSettings | None = None,
) -> Trained:
    """Train ``scheme`` in place and leave it with the weights of the epoch that was best on dev.

    Raises
    ------
    ModelError
        If there is nothing to train or to choose the epoch on.
    """
    from transformers import EarlyStoppingCallback

    if not sentences or not dev:
        raise ModelError("no sentences" if not sentences else "no dev sentences", "training")
    chosen = settings or TrainingSettings()
    examples = [scheme.example(plain_words(sentence), gold_spans(sentence)) for sentence in sentences]
    with tempfile.TemporaryDirectory() as folder:
        trainer = _trainer(scheme, examples, dev, chosen, folder)
        trainer.add_callback(EarlyStoppingCallback(early_stopping_patience=chosen.patience))
        with quiet():
            trainer.train()
    return Trained(scheme, evaluate(scheme, dev), _history(trainer.state.log_history))


def _trainer(
    scheme: Scheme, examples: list[dict[str, Any]], dev: Sequence[AnnotatedSentence], s: Any, folder: str
) -> Any:
    from torch.optim import AdamW
    from transformers import PrinterCallback, Trainer, TrainingArguments

    class SpanF1Trainer(Trainer):
        """Chooses the epoch by strict span F1, which needs decoded entities rather than logits."""

        def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
            found = evaluate(scheme, dev)
            overall = found.overall
            metrics = {
                "eval_f1": overall.f1,
                "eval_precision": overall.precision,
                "eval_recall": overall.recall,
                "eval_accuracy": found.accuracy,
            }
            self.log(metrics)
            self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
            return metrics

        def create_optimizer(self, *_: Any, **__: Any) -> Any:
            if self.optimizer is None:
                rate = s.learning_rate if s.head_learning_rate is None else s.head_learning_rate
                named = list(scheme.module.named_parameters())
                new = [value for key, value in named if key.startswith(("head.", "classifier."))]
                old = [value for key, value in named if not key.startswith(("head.", "classifier."))]
                groups = [{"params": old, "lr": s.learning_rate}, {"params": new, "lr": rate}]
                self.optimizer = AdamW(groups, weight_decay=s.weight_decay, fused=True)
            return self.optimizer

    device = device_of(s.device)
    steps = -(-len(examples) // s.batch_size) * s.epochs
    arguments = TrainingArguments(
        output_dir=folder,
        num_train_epochs=s.epochs,
        per_device_train_batch_size=s.batch_size,
        learning_rate=s.learning_rate,
        warmup_steps=int(s.warmup * steps),
        lr_scheduler_type="linear",
        eval_strategy="epoch",
        save_strategy="epoch",
        logging_strategy="epoch",
        save_total_limit=1,
        save_only_model=True,
        load_best_model_at_end=True,
        metric_for_best_model="eval_f1",
        greater_is_better=True,
        seed=s.seed,
        bf16=device.type == "cuda",
        use_cpu=device.type == "cpu",
        disable_tqdm=True,
        report_to=[],
        remove_unused_columns=False,
        dataloader_pin_memory=False,
    )
    trainer = SpanF1Trainer(
        model=scheme.module,
        args=arguments,
        train_dataset=examples,
        eval_dataset=examples[:1],  # Trainer wants one; evaluate() reads dev itself
        data_collator=scheme.collate,
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def _history(log: list[dict[str, float]]) -> list[dict[str, float]]:
    rows: dict[float, dict[str, float]] = {}
    for entry in log:
        row = rows.setdefault(round(entry.get("epoch", 0.0), 3), {"epoch": entry.get("epoch", 0.0)})
        row.update(
            {key.removeprefix("eval_"): value for key, value in entry.items() if key.startswith("eval_")}
        )
        if "loss" in entry:
            row["loss"] = entry["loss"]
    return [row for row in rows.values() if "f1" in row]
