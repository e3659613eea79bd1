"""Models made of others, kept in folders: the first layers, a smaller vocabulary, or weights drawn at random.

A folder's name has the checksum of the model that it was made of, so that none is taken for another's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from radeval_lib import atomic, checksums
from radeval_lib.errors import ModelError
from radeval_lib.models.identity import checksum
from radeval_lib.models.naming import UNTRAINED
from radeval_lib.models.pretrained import pretrained, weights
from radeval_lib.models.randomness import seeded
from radeval_lib.models.saving import save_checkpoint
from radeval_lib.models.uses import ENCODER
from radeval_lib.models.vocabularies import keep_rows, trimmed_tokenizer


def shallow(name: str, layers: int, folder: Path) -> str:
    """Return folder of an encoder's first ``layers`` layers, made below ``folder`` unless it is there
    already.

    Raises
    ------
    ModelError
        If the model cannot be loaded, is not built as BERT is, or has no more layers than that.
    """
    from transformers import AutoModel, AutoTokenizer

    target = folder / f"first-{layers}-layers-of-{_identified(name)}"
    if target.exists():
        return str(target)
    model = weights(AutoModel, name, ENCODER)
    stack = getattr(getattr(model, "encoder", None), "layer", None)
    if stack is None or not 0 < layers < len(stack):
        has = "unknown layers" if stack is None else f"{len(stack)} layers"
        wrong = f"cannot take the first {layers} layers of a model with {has}"
        raise ModelError(wrong, name, "Give fewer layers, at least one, of a model of BERT's kind.")
    model.encoder.layer = stack[:layers]
    model.config.num_hidden_layers = layers
    with atomic.new_folder(target, replace=False) as new:
        save_checkpoint(new, model, pretrained(AutoTokenizer, name))
    return str(target)


def trimmed(name: str, texts: Iterable[str], folder: Path) -> str:
    """Return folder of an encoder with the pieces of ``texts`` alone (:func:`trimmed_tokenizer`), made below
    ``folder`` unless it is there already.

    The same vectors with far fewer parameters: of the 30,522 pieces of BERT's vocabulary a small corpus
    uses one or two thousand.
    """
    from transformers import AutoModel, AutoTokenizer

    tokenizer, kept = trimmed_tokenizer(pretrained(AutoTokenizer, name), texts)
    target = folder / f"trimmed-{checksums.of_text(json.dumps([checksum(name), kept]))[:16]}"
    if not target.exists():
        model = weights(AutoModel, name, ENCODER)
        keep_rows(model, kept)
        model.config.pad_token_id = tokenizer.pad_token_id
        with atomic.new_folder(target, replace=False) as new:
            save_checkpoint(new, model, tokenizer)
    return str(target)


def untrained(name: str, folder: Path, seed: int) -> str:
    """Return folder of the architecture and tokenizer of the model named after :data:`UNTRAINED`, with
    weights drawn from ``seed``; made below ``folder`` unless it is there already. Other random numbers stay
    as they are."""
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    source = name.removeprefix(UNTRAINED)
    target = folder / f"untrained-{_identified(source)}-{seed}"
    if not target.exists():
        with atomic.new_folder(target, replace=False) as new:
            with seeded(seed):
                model = AutoModel.from_config(pretrained(AutoConfig, source))
            save_checkpoint(new, model, pretrained(AutoTokenizer, source))
    return str(target)


def _identified(name: str) -> str:
    """Return a model's name as a part of a folder's, with the first digits of its checksum."""
    return f"{Path(name).name}-{checksum(name)[:12]}"
