"""A shallow cut of an encoder: its embeddings and first layers."""

from __future__ import annotations

from pathlib import Path

from radeval_lib import atomic
from radeval_lib.models.heads import ENCODER
from radeval_lib.models.loading import ModelError, pretrained, quiet, weights


def shallow(name: str, layers: int, folder: Path) -> str:
    """Folder of the model's first ``layers`` layers, made below ``folder`` unless it is there already."""
    from transformers import AutoModel, AutoTokenizer

    target = folder / f"first-{layers}-layers-of-{name.replace('/', '_')}"
    if target.exists():
        return str(target)
    model = weights(AutoModel, name, ENCODER)
    stack = getattr(getattr(model, "encoder", None), "layer", None)
    if stack is None or not 0 < layers < len(stack):
        has = "unknown layers" if stack is None else f"{len(stack)} layers"
        raise ModelError(
            f"cannot take the first {layers} layers of a model with {has}", name, "Give fewer layers."
        )
    model.encoder.layer = stack[:layers]
    model.config.num_hidden_layers = layers
    with atomic.new_folder(target, replace=False) as new, quiet():
        model.save_pretrained(new)
        pretrained(AutoTokenizer, name).save_pretrained(new)
    return str(target)
