"""The bare architecture of a model, with its tokenizer and weights drawn at random."""

from __future__ import annotations

from pathlib import Path

from radeval_lib import atomic
from radeval_lib.models.loading import pretrained, quiet
from radeval_lib.models.naming import UNTRAINED


def untrained(name: str, folder: Path, seed: int) -> str:
    """Folder of the model named after :data:`UNTRAINED`, made below ``folder`` unless it is there already."""
    import torch
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    model = name.removeprefix(UNTRAINED)
    target = folder / f"untrained-{model.replace('/', '_')}-{seed}"
    if not target.exists():
        with atomic.new_folder(target, replace=False) as new, quiet():
            torch.manual_seed(seed)
            AutoModel.from_config(pretrained(AutoConfig, model)).save_pretrained(new)
            pretrained(AutoTokenizer, model).save_pretrained(new)
    return str(target)
