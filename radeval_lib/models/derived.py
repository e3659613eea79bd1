"""Derive models from others (fewer layers, a smaller vocabulary, random weights), and prepare models for
training, for a run or for tests.

A derived model is saved in a folder whose name contains a content hash of its source, so that no model is
mistaken for another.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from radeval_lib import atomic, checksums
from radeval_lib.data.manifests import list_restricted, require_statements
from radeval_lib.data.records import AnnotatedSentence
from radeval_lib.errors import ModelError, check_choice
from radeval_lib.models import catalog
from radeval_lib.models.batching import fix_unicode, seed_torch
from radeval_lib.models.pretrained import ENCODER, load_model, load_pretrained, save_checkpoint
from radeval_lib.registry import RULES


def cut_layers(name: str, layers: int, folder: Path) -> str:
    """Return the folder of a model that has only the first ``layers`` layers of an encoder.

    Parameters
    ----------
    name : folder or Hugging Face Hub name of the encoder.
    layers : number of layers to keep, fewer than the encoder has.
    folder : parent folder, in which the model is saved unless it already exists there.

    Raises
    ------
    ModelError
        If the encoder cannot be loaded, or has no more than ``layers`` layers.
    """
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    target = folder / f"first-{layers}-layers-of-{_name_folder(name)}"
    if target.exists():
        return str(target)
    if layers >= (depth := load_pretrained(AutoConfig, name).num_hidden_layers):
        problem = f"cannot be cut to its first {layers} layers, because it has only {depth}"
        raise ModelError(problem, f"model {name}", f"Use fewer than {depth} layers.")
    model = load_model(AutoModel, name, ENCODER, num_hidden_layers=layers)
    with atomic.new_folder(target, replace=False) as new_folder:
        save_checkpoint(new_folder, model, load_pretrained(AutoTokenizer, name))
    return str(target)


def trim_encoder(name: str, texts: Iterable[str], folder: Path) -> str:
    """Return the folder of a copy of an encoder that has only the tokens that ``texts`` need.

    The copy encodes ``texts`` as the same vectors with far fewer parameters: a small corpus uses one or two
    thousand of the 30,522 tokens of BERT's vocabulary. See :func:`trim_tokenizer` for the tokens that are
    kept.

    Parameters
    ----------
    name : folder or Hugging Face Hub name of the encoder.
    texts : all texts that the copy will encode.
    folder : parent folder, in which the copy is saved unless it already exists there.

    Raises
    ------
    ModelError
        If the encoder cannot be loaded, or its tokenizer is not a fast WordPiece tokenizer.
    """
    from transformers import AutoModel, AutoTokenizer

    tokenizer, kept_tokens = trim_tokenizer(load_pretrained(AutoTokenizer, name), texts)
    target = folder / f"trimmed-{checksums.of_text(json.dumps([catalog.hash_model(name), kept_tokens]))[:16]}"
    if not target.exists():
        model = load_model(AutoModel, name, ENCODER)
        keep_rows(model, kept_tokens)
        model.config.pad_token_id = tokenizer.pad_token_id
        with atomic.new_folder(target, replace=False) as new_folder:
            save_checkpoint(new_folder, model, tokenizer)
    return str(target)


def make_untrained(name: str, folder: Path, seed: int) -> str:
    """Return the folder of a model with the architecture and tokenizer of another model, but random weights.

    The state of torch's random number generator is restored.

    Parameters
    ----------
    name : folder or Hugging Face Hub name of the other model, with or without the prefix
        :data:`~radeval_lib.models.catalog.UNTRAINED`.
    folder : parent folder, in which the model is saved unless it already exists there.
    seed : seed of the weights.

    Raises
    ------
    ModelError
        If the other model's configuration or tokenizer cannot be loaded.
    """
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    source = name.removeprefix(catalog.UNTRAINED)
    target = folder / f"untrained-{_name_folder(source)}-{seed}"
    if not target.exists():
        with atomic.new_folder(target, replace=False) as new_folder:
            with seed_torch(seed):
                model = AutoModel.from_config(load_pretrained(AutoConfig, source))
            save_checkpoint(new_folder, model, load_pretrained(AutoTokenizer, source))
    return str(target)


def _name_folder(name: str) -> str:
    """Return the part of a folder name that identifies a model: the model's name without owner or path, a
    hyphen, and the first 12 hexadecimal digits of its content hash."""
    return f"{Path(name).name}-{catalog.hash_model(name)[:12]}"


def trim_tokenizer(tokenizer: Any, texts: Iterable[str]) -> tuple[Any, list[int]]:
    """Return a copy of a tokenizer with only the tokens that ``texts`` need, and the old ids of these tokens.

    The old ids are in ascending order, and the i-th belongs to the copy's token i. Special tokens, tokens
    that were added to the vocabulary and single characters are kept as well. WordPiece takes the longest
    token that fits, so ``texts`` are split as before; words of other texts may be split into more tokens.

    Raises
    ------
    ModelError
        If the tokenizer is not a fast WordPiece tokenizer.
    """
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    state: dict[str, Any] = json.loads(tokenizer.backend_tokenizer.to_str()) if tokenizer.is_fast else {}
    if state.get("model", {}).get("type") != "WordPiece":
        where = f"model {Path(tokenizer.name_or_path).name}"
        remedy = "Use a model with a fast WordPiece tokenizer, or do not trim the vocabulary."
        raise ModelError("cannot trim its vocabulary: not a fast WordPiece tokenizer", where, remedy)
    words, old_ids = state["model"]["vocab"], tokenizer.get_vocab()
    added = {token["content"] for token in state["added_tokens"]} - words.keys()
    distinct = sorted({fix_unicode(text) for text in texts})
    rows = tokenizer(distinct, verbose=False)["input_ids"] if distinct else []
    used_ids = set(itertools.chain.from_iterable(rows))
    required = {*tokenizer.all_special_tokens, *added}
    kept_tokens = [
        token
        for token in sorted(old_ids, key=old_ids.__getitem__)
        if old_ids[token] in used_ids or token in required or len(token.removeprefix("##")) == 1
    ]
    new_ids = {token: index for index, token in enumerate(kept_tokens)}
    state["model"]["vocab"] = {token: index for token, index in new_ids.items() if token in words}
    entries = [entry for entry in state["added_tokens"] if entry["content"] in new_ids]
    state["added_tokens"] = [{**entry, "id": new_ids[entry["content"]]} for entry in entries]
    state["truncation"] = state["padding"] = None
    # Post-processors, which add [CLS] and [SEP], hold the ids of these tokens, in one of two forms.
    processor = state.get("post_processor") or {}
    for name, special in processor.get("special_tokens", {}).items():
        special["ids"] = [new_ids[token] for token in special.get("tokens", [name])]
    for key in processor.keys() & {"sep", "cls"}:
        processor[key] = [processor[key][0], new_ids[processor[key][0]]]
    special_tokens: dict[str, Any] = {key: str(value) for key, value in tokenizer.special_tokens_map.items()}
    if tokenizer.extra_special_tokens:
        special_tokens["extra_special_tokens"] = list(map(str, tokenizer.extra_special_tokens))
    trimmed = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(state)),
        model_max_length=tokenizer.model_max_length,
        **special_tokens,
    )
    return trimmed, [old_ids[token] for token in kept_tokens]


def keep_rows(module: Any, ids: list[int]) -> None:
    """Restrict a model's input embeddings, and its output layer if it has one, to some tokens, in place.

    ``ids``: ids of the tokens to keep, in ascending order; the i-th of these tokens gets the id i.
    """
    import torch

    with torch.no_grad():
        tables = [module.get_input_embeddings().weight]
        output = module.get_output_embeddings()
        if output is not None:
            tables += [output.weight, *([output.bias] if output.bias is not None else [])]
        moved: set[int] = set()  # tied tables share their memory, whose rows must be moved only once
        for table in tables:
            if table.data_ptr() not in moved:
                table[: len(ids)] = table[ids].clone()
                moved.add(table.data_ptr())
    module.resize_token_embeddings(len(ids), mean_resizing=False)


def check_permission(name: str, root: Path | None) -> None:
    """Raise StatementError if a model may not receive the texts in a data root.

    If the model ``name`` is on a server, restricted texts in the data root ``root`` may be sent there only if
    a signed statement allows it. A malformed statement raises the same error. Without a data root (None), no
    model is refused.
    """
    require_statements(list_restricted(root), name, root)


def make_ready(name: str, folder: Path, seed: int) -> str:
    """Return the folder or name from which a model can be loaded.

    If ``name`` has the prefix :data:`~radeval_lib.models.catalog.UNTRAINED`, the model is made in ``folder``
    with random weights (:func:`make_untrained`), and its folder is returned; the errors are those of that
    function. Otherwise, ``name`` is returned unchanged.
    """
    return make_untrained(name, folder, seed) if name.startswith(catalog.UNTRAINED) else name


def find_revision(name: str) -> str:
    """Return the revision at which a model of the Hugging Face Hub is loaded, or ``unpinned`` if none is set.

    For any other model (rules, packaged, in a folder or on a server), return an empty string.
    """
    source = name.removeprefix(catalog.UNTRAINED)
    if source == RULES or catalog.is_packaged(source) or Path(source).is_dir():
        return ""
    return (catalog.find_revision(source) or "unpinned") if catalog.is_hub_name(source) else ""


def hash_model(source: str) -> str:
    """Return the SHA-256 that identifies a model's output (:func:`~radeval_lib.models.catalog.hash_model`).

    ``source``: the folder or name that :func:`make_ready` returned. Raises
    :class:`~radeval_lib.errors.ModelError` if ``source`` is not the folder or name of a model.
    """
    return catalog.hash_model(source)


# Starting points of NER models, and models with random heads for tests.


def prepare_start(
    name: str,
    folder: str | Path,
    *,
    seed: int,
    graphs: Sequence[AnnotatedSentence] = (),
    texts: Iterable[str] = (),
    device: str = "auto",
    checkpoint_folder: Path | None = None,
) -> str:
    """Make the model from which the training of an NER model starts, and return its folder or name.

    A trimmed or untrained model that exists in ``folder`` is reused; training on graphs is always repeated.

    Parameters
    ----------
    name : a folder or Hugging Face Hub name. With the prefix ``untrained:``, the model gets random weights;
        with ``after_graphs:``, it is trained on the entities of ``graphs``.
    folder : where a model that has to be made is saved.
    seed : seed of random weights, and of training on graphs.
    graphs : annotated sentences for ``after_graphs:``, of the splits ``train`` and ``dev``; the epoch is
        chosen on ``dev``.
    texts : all texts that the model will read. Its vocabulary is trimmed to their tokens; if there are no
        texts, it is not trimmed.
    device : ``auto``, ``cpu`` or ``cuda``, for training on graphs.
    checkpoint_folder : folder for the checkpoint of training on graphs; None writes none.

    Raises
    ------
    ModelError
        If the model cannot be loaded, its vocabulary cannot be trimmed, or, with ``after_graphs:``,
        ``graphs`` lacks sentences of a split or ``device`` is unknown or not available.
    """
    target, all_texts = Path(folder), list(texts)
    model = name.removeprefix(catalog.UNTRAINED).removeprefix(catalog.AFTER_GRAPHS)
    start = trim_encoder(model, all_texts, target) if all_texts else model
    if name.startswith(catalog.UNTRAINED):
        return make_untrained(start, target, seed)
    if not name.startswith(catalog.AFTER_GRAPHS):
        return start
    from radeval_lib.models.ner_models import IobScheme
    from radeval_lib.models.training import TrainingSettings, train

    with seed_torch(seed):
        scheme = IobScheme(start, sorted({entity.label.upper() for row in graphs for entity in row.entities}))
    dev = [row for row in graphs if row.split == "dev"]
    settings = TrainingSettings(
        learning_rate=3e-4, head_learning_rate=2e-3, batch_size=8, epochs=2, seed=seed, device=device
    )
    train_set = [row for row in graphs if row.split == "train"]
    train(scheme, train_set, dev, settings, folder=checkpoint_folder)
    scheme.save(target)
    return str(target)


def make_test_model(role: str, folder: Path) -> str:
    """Return the name or folder of a model for a role, for tests of the code around models.

    ``role``: for ``encoder``, the name of the packaged encoder is returned; for ``ner_model`` and
    ``graph_model``, a folder in ``folder``, in which the packaged encoder is saved with a random head.

    Raises
    ------
    ModelError
        If ``role`` has another value, or the packaged encoder is needed and not installed.
    """
    from radeval_lib.models.graph_model import GraphModel, GraphSettings
    from radeval_lib.models.ner_models import make_scheme

    check_choice(role, Literal["encoder", "ner_model", "graph_model"], "role", ModelError)
    target = folder / role
    if role == "encoder":
        return catalog.PACKAGED
    if role == "ner_model":
        make_scheme("iob", catalog.PACKAGED).save(target)
    else:
        types = ("ANAT-DP", "OBS-DA", "OBS-DP", "OBS-U"), ("located_at", "modify", "suggestive_of")
        with seed_torch(0):
            GraphModel(catalog.PACKAGED, GraphSettings(*types)).save(target)
    return str(target)
