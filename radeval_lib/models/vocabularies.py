"""Smaller vocabularies: a WordPiece tokenizer and the embeddings of a model, cut to what texts need."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from radeval_lib.errors import ModelError
from radeval_lib.models.word_pieces import well_formed


def trimmed_tokenizer(tokenizer: Any, texts: Iterable[str]) -> tuple[Any, list[int]]:
    """Return a tokenizer with the pieces of ``texts`` and single characters alone, and the old ids of its
    pieces.

    Special tokens, and all that were added to the vocabulary, are kept. WordPiece takes the longest piece
    that fits, so ``texts`` are cut as before; other words are spelled.

    Raises
    ------
    ModelError
        If the tokenizer is not a fast one of WordPiece.
    """
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    state: dict[str, Any] = json.loads(tokenizer.backend_tokenizer.to_str()) if tokenizer.is_fast else {}
    if state.get("model", {}).get("type") != "WordPiece":
        where = Path(tokenizer.name_or_path).name
        raise ModelError("its vocabulary is not WordPiece, so it cannot be trimmed", where)
    pieces: dict[str, int] = state["model"]["vocab"]
    distinct = sorted({well_formed(text) for text in texts})
    rows = tokenizer(distinct, verbose=False)["input_ids"] if distinct else []
    used = set(itertools.chain.from_iterable(rows))
    special = set(tokenizer.all_special_tokens)
    kept = [
        piece
        for piece in sorted(pieces, key=pieces.__getitem__)
        if pieces[piece] in used or piece in special or len(piece.removeprefix("##")) == 1
    ]
    state["model"]["vocab"] = {piece: index for index, piece in enumerate(kept)}
    # What was added is in the word pieces, which keep it if it is used or special, or stands behind them.
    added = {one["content"]: one["id"] for one in state["added_tokens"] if one["content"] not in pieces}
    kept += sorted(added, key=added.__getitem__)
    new = {piece: index for index, piece in enumerate(kept)}
    state["added_tokens"] = [
        {**token, "id": new[token["content"]]} for token in state["added_tokens"] if token["content"] in new
    ]
    state["truncation"] = state["padding"] = None
    _renumber(state.get("post_processor") or {}, new)
    named: dict[str, Any] = {key: str(value) for key, value in tokenizer.special_tokens_map.items()}
    if tokenizer.extra_special_tokens:
        named["extra_special_tokens"] = list(map(str, tokenizer.extra_special_tokens))
    shortened = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(state)),
        model_max_length=tokenizer.model_max_length,
        **named,
    )
    old = {**pieces, **added}
    return shortened, [old[piece] for piece in kept]


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
