"""Smaller vocabularies for models that write one kind of text: on a CPU, most of the time of a small decoder
goes into scoring word pieces that no radiology report has."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from radeval_lib.models.encoders import well_formed
from radeval_lib.models.loading import ModelError


def trimmed(tokenizer: Any, texts: Iterable[str]) -> tuple[Any, list[int]]:
    """A tokenizer with the word pieces of ``texts`` alone, and the old ids of the pieces that it keeps.

    Single letters stay, so that every word can still be spelled; ``texts`` are cut into the same pieces as
    before.
    """
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    told: dict[str, Any] = json.loads(tokenizer.backend_tokenizer.to_str())
    if told["model"]["type"] != "WordPiece":
        raise ModelError(f"a {told['model']['type']} vocabulary cannot be trimmed", "tokenizer")
    vocabulary: dict[str, int] = told["model"]["vocab"]
    used = {index for text in texts for index in tokenizer(well_formed(text), verbose=False)["input_ids"]}
    special = set(tokenizer.all_special_tokens)
    kept = [
        piece
        for piece, index in sorted(vocabulary.items(), key=lambda item: item[1])
        if index in used or piece in special or len(piece.removeprefix("##")) == 1
    ]
    new = {piece: index for index, piece in enumerate(kept)}
    told["model"]["vocab"] = new
    told["added_tokens"] = [
        {**token, "id": new[token["content"]]} for token in told["added_tokens"] if token["content"] in new
    ]
    _renumber(told.get("post_processor") or {}, new)
    names = {key: str(value) for key, value in tokenizer.special_tokens_map.items() if isinstance(value, str)}
    made = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(told)), **names)
    return made, [vocabulary[piece] for piece in kept]


def _renumber(processor: dict[str, Any], new: dict[str, int]) -> None:
    """Put new ids into the two kinds of processor that add [CLS] and [SEP]."""
    for name, one in processor.get("special_tokens", {}).items():
        one["ids"] = [new[token] for token in one.get("tokens", [name])]
    for key in ("sep", "cls"):
        if key in processor:
            processor[key] = [processor[key][0], new[processor[key][0]]]


def keep_rows(module: Any, ids: list[int]) -> None:
    """Shrink a model's embeddings, and the output layer tied to them, to the rows ``ids``."""
    import torch

    with torch.no_grad():
        tables = [module.get_input_embeddings().weight]
        output = module.get_output_embeddings()
        if output is not None:
            tables += [output.weight, *([output.bias] if output.bias is not None else [])]
        done: set[int] = set()
        for table in tables:
            if table.data_ptr() not in done:
                table[: len(ids)] = table[ids].clone()
                done.add(table.data_ptr())
    module.resize_token_embeddings(len(ids), mean_resizing=False)
