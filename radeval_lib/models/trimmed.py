"""An encoder without the pieces that no text at hand needs: the same vectors, from far fewer numbers.

Of the 30,522 pieces of BERT's vocabulary a small corpus uses one or two thousand. The others' embeddings cost
memory and time in every step of training and change nothing: WordPiece takes the longest piece that fits, so
where every piece that a text was cut into is kept, the text is cut as before.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from radeval_lib import atomic, checksums
from radeval_lib.models.encoders import well_formed
from radeval_lib.models.heads import ENCODER
from radeval_lib.models.loading import ModelError, pretrained, quiet, weights


def trimmed(name: str, texts: Iterable[str], folder: Path) -> str:
    """Folder of the model with the pieces of ``texts``, of single signs and of its special tokens."""
    import torch
    from transformers import AutoModel, AutoTokenizer, PreTrainedTokenizerFast

    tokenizer: Any = pretrained(AutoTokenizer, name)
    state = json.loads(tokenizer.backend_tokenizer.to_str()) if tokenizer.is_fast else {"model": {}}
    if state["model"].get("type") != "WordPiece":
        raise ModelError("its vocabulary is not WordPiece, so it cannot be trimmed", Path(name).name)
    distinct = sorted({well_formed(text) for text in texts})
    used = {piece for row in tokenizer(distinct)["input_ids"] for piece in row} if distinct else set()
    vocabulary: dict[str, int] = state["model"]["vocab"]
    single = {place for piece, place in vocabulary.items() if len(piece.removeprefix("##")) == 1}
    kept = sorted(used | single | set(tokenizer.all_special_ids))
    target = folder / f"trimmed-{checksums.of_text(json.dumps([name, kept]))[:16]}"
    if target.exists():
        return str(target)
    place = {old: new for new, old in enumerate(kept)}
    state["model"]["vocab"] = {piece: place[old] for piece, old in vocabulary.items() if old in place}
    for token in state["added_tokens"]:
        token["id"] = place[token["id"]]
    for token in (state.get("post_processor") or {}).get("special_tokens", {}).values():
        token["ids"] = [place[old] for old in token["ids"]]
    state["truncation"] = state["padding"] = None
    model = weights(AutoModel, name, ENCODER)
    rows = model.get_input_embeddings().weight.detach()[torch.tensor(kept)].clone()
    fewer = torch.nn.Embedding(len(kept), rows.shape[1], padding_idx=place[tokenizer.pad_token_id])
    fewer.weight.data = rows
    model.set_input_embeddings(fewer)
    model.config.vocab_size, model.config.pad_token_id = len(kept), place[tokenizer.pad_token_id]
    with atomic.new_folder(target, replace=False) as new, quiet():
        model.save_pretrained(new)
        raw = new / "tokenizer.json"
        raw.write_text(json.dumps(state), encoding="utf-8")
        names = {key: str(value) for key, value in tokenizer.special_tokens_map.items()}
        PreTrainedTokenizerFast(
            tokenizer_file=str(raw), model_max_length=tokenizer.model_max_length, **names
        ).save_pretrained(new)
    return str(target)
