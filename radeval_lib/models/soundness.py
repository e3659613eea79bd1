"""What is checked of a model before it computes: its files are complete and safe, its tokenizer has the
vocabulary.

Libraries load many an incomplete folder without a word, and then every text looks the same to the model.
"""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import Any

from radeval_lib.errors import ModelError as ModelError

INDEX = "model.safetensors.index.json"
_WEIGHTS = ("model.safetensors", INDEX)
_VOCABULARIES = (
    "tokenizer.json", "vocab.txt", "vocab.json", "spm.model", "spiece.model", "sentencepiece.bpe.model",
    "tokenizer.model",
)  # fmt: skip
_PROBE = "The lungs are clear and there is no pleural effusion."
_SAVE = "Save the model with model.save_pretrained(folder), and its tokenizer likewise."


def check_folder(folder: Path) -> None:
    """Check that a folder holds a configuration and weights as safetensors.

    Raises
    ------
    ModelError
        If ``config.json`` or the weights are missing, or an index names a file that is missing, lies
        elsewhere, or is no safetensors file: pickled weights can run code.
    """
    where = f"model {folder.name}"
    _json(folder / "config.json", where)
    if not any((folder / file).is_file() for file in _WEIGHTS):
        raise ModelError(
            "no safetensors weights in the folder",
            where,
            f"{_SAVE} Pickled weights (.bin, .pt) are not loaded because they can run code.",
        )
    if (folder / INDEX).is_file():
        named = _json(folder / INDEX, where).get("weight_map")
        if not isinstance(named, dict) or not named:
            raise ModelError(f"{INDEX} has no weight_map", where, _SAVE)
        for file in sorted({str(file) for file in named.values()}):
            if PurePosixPath(file).name != file or not file.endswith(".safetensors"):
                raise ModelError(
                    f"{INDEX} names {file!r}, which is no safetensors file of the folder", where, _SAVE
                )
            if not (folder / file).is_file():
                raise ModelError(f"{file!r}, which {INDEX} names, is missing", where, _SAVE)


def _json(path: Path, where: str) -> dict[str, Any]:
    if not path.is_file():
        raise ModelError(f"no {path.name} in the folder", where, _SAVE)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise ModelError(f"{path.name} is damaged", where, _SAVE)
    return content


def check_vocabulary(folder: Path) -> None:
    """Check that a folder holds the vocabulary of a tokenizer.

    Raises
    ------
    ModelError
        If it does not.
    """
    if not any((folder / name).is_file() for name in _VOCABULARIES):
        raise ModelError("no tokenizer in the folder", f"model {folder.name}", _SAVE)


def check_tokenizer(tokenizer: Any, name: str) -> None:
    """Check that a tokenizer tells the words of a sentence apart.

    Raises
    ------
    ModelError
        If it knows none of them, or all are the same to it.
    """
    special = set(tokenizer.all_special_ids)
    known = {one for one in tokenizer(_PROBE)["input_ids"] if one not in special}
    if len(known) < 2:
        raise ModelError(
            "the tokenizer knows no words: a sentence has no token of its vocabulary", f"model {name}", _SAVE
        )


def check_sizes(tokenizer: Any, config: Any, name: str) -> None:
    """Check that a model has a vector for every token of its tokenizer.

    Raises
    ------
    ModelError
        If the tokenizer has more tokens than the model: they are not from one model.
    """
    size = getattr(config, "vocab_size", None)
    if isinstance(size, int) and len(tokenizer) > size:
        raise ModelError(
            f"the tokenizer has {len(tokenizer):,} tokens, the model vectors for {size:,}",
            f"model {name}",
            "Give a folder in which both are of one model.",
        )
