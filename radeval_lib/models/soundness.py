"""Checks before a model computes: files, weights and tokenizer are complete and belong together."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from radeval_lib.errors import ModelError, listed
from radeval_lib.models.uses import Use, matches

if TYPE_CHECKING:
    import torch

INDEX = "model.safetensors.index.json"
_WEIGHTS = ("model.safetensors", INDEX)
_VOCABULARIES = (
    "tokenizer.json", "vocab.txt", "vocab.json", "spm.model", "spiece.model", "sentencepiece.bpe.model",
    "tokenizer.model",
)  # fmt: skip
_SAVE = "Save the model with model.save_pretrained(folder), and its tokenizer likewise."
_WHOLE = "Copy the folder again, whole, or save the model again with model.save_pretrained(folder)."
_ADAPTER = "adapter_config.json"
_SPARE = 128, 0.04
"""How many of a model's vectors may have no token, or which share: vocabularies are rounded up, Phi-2's by
1.8 %."""


def check_folder(folder: Path) -> None:
    """Check that a folder holds a configuration and weights as safetensors."""
    where = f"model {folder.name}"
    _json(folder / "config.json", where)
    if (folder / _ADAPTER).is_file():
        raise unmerged(folder.name)
    if not any((folder / file).is_file() for file in _WEIGHTS):
        remedy = f"{_SAVE} Pickled weights (.bin, .pt) are not loaded because they can run code."
        raise ModelError("no safetensors weights in the folder", where, remedy)


def unmerged(name: str) -> ModelError:
    """Return what is said of an adapter beside a model, which libraries would put on it unchecked."""
    remedy = "Merge it into them (peft: merge_and_unload)."
    return ModelError("an adapter lies beside the weights", f"model {name}", remedy)


def _json(path: Path, where: str) -> dict[str, Any]:
    """Return the mapping that a file of the model holds."""
    if not path.is_file():
        raise ModelError(f"no {path.name} in the folder", where, _SAVE)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise ModelError(f"{path.name} is damaged", where, _SAVE)
    return content


def check_fit(model: Any, loading_info: Mapping[str, Any], use: Use, name: str) -> set[str]:
    """Check that a checkpoint gave a model all its weights and had no others, but for what its use allows."""
    family, prefix = model.config.model_type, f"{model.base_model_prefix}."
    new, unused = use.may_lack(family), use.may_have(family)
    missing = set(loading_info["missing_keys"])
    shapes = {key: (held, wanted) for key, held, wanted in loading_info["mismatched_keys"]}
    tied = set(getattr(model, "all_tied_weights_keys", {}))

    def allowed(key: str, patterns: tuple[str, ...]) -> bool:
        return matches(key.removeprefix(prefix), patterns)

    torn: set[str] = set()  # a head that is there in part is not new, but incomplete
    for pattern in new:
        own = {key for key in model.state_dict() if allowed(key, (pattern,))} - tied
        if own - missing - set(shapes):
            torn |= own & missing
    check_names(
        (key for key in missing if key in torn or not allowed(key, new)),
        (key for key in loading_info["unexpected_keys"] if not allowed(key, unused)),
        name,
    )
    for key in sorted(key for key in shapes if not allowed(key, use.may_reshape())):
        held, wanted = (" x ".join(map(str, shape)) for shape in shapes[key])
        remedy = "Give a folder whose config.json and weights are of one model."
        raise ModelError(f"{key} is {held} where config.json wants {wanted}", f"model {name}", remedy)
    return missing | set(shapes)


def check_names(missing: Iterable[str], extra: Iterable[str], name: str) -> None:
    """Check that there are no missing weights and none too many."""
    odd = {"are missing": sorted(missing), "have no place in the model": sorted(extra)}
    if said := [f"weights {what}: {listed(keys, 50)}" for what, keys in odd.items() if keys]:
        raise ModelError("; ".join(said), f"model {name}", _WHOLE)


def check_values(weights: Mapping[str, torch.Tensor], name: str, new: Iterable[str] = ()) -> None:
    """Check that all weights are finite and that no matrix is constant, in one pass (11 GB a second).

    A single row or column may be constant: RoBERTa's one type of segments is zero. So may vectors, biases and
    norms among them, and the second matrix of an adapter, which starts at zero.
    """
    import torch

    drawn = set(new)
    for key, value in weights.items():
        if key in drawn or not value.is_floating_point() or not value.numel():
            continue
        low, high = torch.aminmax(value.detach())
        if not (torch.isfinite(low) and torch.isfinite(high)):
            raise ModelError(f"{key} holds numbers that are not finite", f"model {name}", _WHOLE)
        if low == high and sum(size > 1 for size in value.shape) > 1 and "lora_B" not in key:
            raise ModelError(f"every number of {key} is {float(low):.4g}", f"model {name}", _WHOLE)


def check_vocabulary(folder: Path) -> None:
    """Check that a folder holds the vocabulary of a tokenizer."""
    if not any((folder / name).is_file() for name in _VOCABULARIES):
        raise ModelError("no tokenizer in the folder", f"model {folder.name}", _SAVE)


def check_sizes(tokenizer: Any, config: Any, name: str) -> None:
    """Check that a tokenizer has about as many tokens as the model has vectors, and its padding."""
    remedy = "Give a folder in which both are of one model."
    size = getattr(config, "vocab_size", None)
    if isinstance(size, int) and not 0 <= size - len(tokenizer) <= max(_SPARE[0], _SPARE[1] * size):
        wrong = f"the tokenizer has {len(tokenizer):,} tokens, the model vectors for {size:,}"
        raise ModelError(wrong, f"model {name}", remedy)
    pads = getattr(config, "pad_token_id", None)
    # A language model without padding borrows the sign that ends a text.
    own = tokenizer.pad_token_id not in (None, tokenizer.eos_token_id)
    if own and isinstance(pads, int) and pads >= 0 and pads not in tokenizer.all_special_ids:
        wrong = f"the model pads with token {pads}, which is an ordinary one of the tokenizer"
        raise ModelError(wrong, f"model {name}", remedy)
