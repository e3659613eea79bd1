"""Folders of trained models: a model of transformers, its tokenizer, and the parts that this library adds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from radeval_lib.errors import ModelError
from radeval_lib.models import soundness
from radeval_lib.models.pretrained import quiet

if TYPE_CHECKING:
    import torch
    from _typeshed import DataclassInstance as Settings

    Part = torch.nn.Module | Settings

S = TypeVar("S", bound="Settings")


def save_checkpoint(
    folder: str | Path, model: Any, tokenizer: Any, parts: Mapping[str, Part] | None = None
) -> None:
    """Write a model of transformers, its tokenizer, and further parts by the name of their file: a module's
    weights as safetensors, settings as JSON; :func:`fill` and :func:`read_settings` read them."""
    from safetensors.torch import save_file

    with quiet():
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    for name, part in (parts or {}).items():
        if is_dataclass(part):
            text = json.dumps(asdict(part), indent=1)
            (Path(folder) / name).write_text(f"{text}\n", encoding="utf-8")
        else:
            held = {key: value.contiguous() for key, value in part.state_dict().items()}
            save_file(held, Path(folder) / name)


def read_settings(path: Path, kind: type[S], what: str) -> S:
    """Return settings that :func:`save_checkpoint` wrote."""
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        return kind(
            **{key: tuple(value) if isinstance(value, list) else value for key, value in held.items()}
        )
    except (OSError, ValueError, TypeError, AttributeError) as error:
        remedy = f"Give a folder in which this library saved a {what}."
        raise ModelError(f"no {what} ({error})", path.parent.name, remedy) from None


def fill(module: torch.nn.Module, path: Path) -> None:
    """Put weights that :func:`save_checkpoint` wrote into a module."""
    from safetensors import SafetensorError
    from safetensors.torch import load_model

    try:
        missing, extra = load_model(module, path, strict=False)
    except (OSError, RuntimeError, SafetensorError) as error:
        wrong = f"{path.name} cannot be loaded: {' '.join(str(error).split())}"
        raise ModelError(wrong, path.parent.name, "Copy the folder again, whole.") from None
    soundness.check_names(missing, extra, path.parent.name)
    soundness.check_values(module.state_dict(), path.parent.name)
