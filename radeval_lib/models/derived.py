"""Derived models: truncated, trimmed, frozen, or randomly reinitialized."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from radeval_lib import atomic, checksums
from radeval_lib.models.encoders import well_formed
from radeval_lib.models.naming import UNTRAINED
from radeval_lib.models.pretrained import ModelError, pretrained, save_checkpoint, weights
from radeval_lib.models.soundness import ENCODER

if TYPE_CHECKING:
    import torch


def frozen(encoder: Any) -> torch.nn.Module:
    """The encoder frozen, in evaluation mode, as a feature extractor; a text's states are computed when it is
    first read, and every later epoch gets the same.

    ``forward`` takes ``input_ids`` and ``attention_mask``, shape (n, pieces), padded on the right; of what it
    returns ``last_hidden_state`` has the shape (n, pieces, h), with zeros where there is padding.
    """
    import torch

    class Frozen(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder.requires_grad_(False).eval()
            self._known: dict[tuple[int, ...], torch.Tensor] = {}

        def train(self, mode: bool = True) -> Any:
            """Evaluation mode, whatever the layers above are in."""
            return super().train(False)

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> SimpleNamespace:
            lengths = attention_mask.sum(1).tolist()
            texts = [tuple(row[:length]) for row, length in zip(input_ids.tolist(), lengths, strict=True)]
            new = [place for place, text in enumerate(texts) if text not in self._known]
            if new:
                # Normal tensors, since a text that is first read in inference may be learned from later.
                with torch.inference_mode(False), torch.no_grad():
                    states = self.encoder(
                        input_ids=input_ids[new].clone(), attention_mask=attention_mask[new].clone()
                    ).last_hidden_state
                    for place, row in zip(new, states, strict=True):
                        self._known[texts[place]] = row[: lengths[place]].clone()
            hidden = torch.nn.utils.rnn.pad_sequence([self._known[text] for text in texts], batch_first=True)
            missing = input_ids.shape[1] - hidden.shape[1]
            return SimpleNamespace(last_hidden_state=torch.nn.functional.pad(hidden, (0, 0, 0, missing)))

    return Frozen()


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
        wrong = f"cannot take the first {layers} layers of a model with {has}"
        raise ModelError(wrong, name, "Give fewer layers.")
    model.encoder.layer = stack[:layers]
    model.config.num_hidden_layers = layers
    with atomic.new_folder(target, replace=False) as new:
        save_checkpoint(new, model, pretrained(AutoTokenizer, name))
    return str(target)


def trimmed(name: str, texts: Iterable[str], folder: Path) -> str:
    """Folder of the model with the pieces of ``texts``, of single characters and of its special tokens.

    The same vectors with far fewer parameters: of the 30,522 pieces of BERT's vocabulary a small corpus
    uses one or two thousand. WordPiece takes the longest piece that fits, so texts are cut as before.
    """
    from transformers import AutoModel, AutoTokenizer

    tokenizer, kept = trimmed_tokenizer(pretrained(AutoTokenizer, name), texts)
    target = folder / f"trimmed-{checksums.of_text(json.dumps([name, kept]))[:16]}"
    if not target.exists():
        model = weights(AutoModel, name, ENCODER)
        keep_rows(model, kept)
        model.config.pad_token_id = tokenizer.pad_token_id
        with atomic.new_folder(target, replace=False) as new:
            save_checkpoint(new, model, tokenizer)
    return str(target)


def trimmed_tokenizer(tokenizer: Any, texts: Iterable[str]) -> tuple[Any, list[int]]:
    """A tokenizer with the word pieces of ``texts`` alone, and the old ids of the pieces that it keeps."""
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    state: dict[str, Any] = json.loads(tokenizer.backend_tokenizer.to_str()) if tokenizer.is_fast else {}
    if state.get("model", {}).get("type") != "WordPiece":
        where = Path(tokenizer.name_or_path).name
        raise ModelError("its vocabulary is not WordPiece, so it cannot be trimmed", where)
    vocabulary: dict[str, int] = state["model"]["vocab"]
    distinct = sorted({well_formed(text) for text in texts})
    rows = tokenizer(distinct, verbose=False)["input_ids"] if distinct else []
    used = set(itertools.chain.from_iterable(rows))
    special = set(tokenizer.all_special_tokens)
    kept = [
        piece
        for piece in sorted(vocabulary, key=vocabulary.__getitem__)
        if vocabulary[piece] in used or piece in special or len(piece.removeprefix("##")) == 1
    ]
    new = {piece: index for index, piece in enumerate(kept)}
    state["model"]["vocab"] = new
    state["added_tokens"] = [
        {**token, "id": new[token["content"]]} for token in state["added_tokens"] if token["content"] in new
    ]
    state["truncation"] = state["padding"] = None
    _renumber(state.get("post_processor") or {}, new)
    shortened = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(state)),
        model_max_length=tokenizer.model_max_length,
        **{key: str(value) for key, value in tokenizer.special_tokens_map.items()},
    )
    return shortened, [vocabulary[piece] for piece in kept]


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


def untrained(name: str, folder: Path, seed: int) -> str:
    """Folder of the model named after :data:`UNTRAINED`, made below ``folder`` unless it is there already."""
    import torch
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    source = name.removeprefix(UNTRAINED)
    target = folder / f"untrained-{source.replace('/', '_')}-{seed}"
    if not target.exists():
        with atomic.new_folder(target, replace=False) as new:
            torch.manual_seed(seed)
            model = AutoModel.from_config(pretrained(AutoConfig, source))
            save_checkpoint(new, model, pretrained(AutoTokenizer, source))
    return str(target)
