"""Make models from other models (fewer layers, a smaller vocabulary, random weights), and prepare the model
of a role for a run.

A derived model is saved in a folder whose name contains a checksum of its source, so that no model is
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
    name : folder or hub name of the encoder.
    layers : number of layers to keep, fewer than the encoder has.
    folder : the model is saved in a new folder in this one, unless it is there already.

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
        problem = f"cannot take the first {layers} layers of a model with {depth}"
        raise ModelError(problem, f"model {name}", f"Give fewer than {depth} layers.")
    model = load_model(AutoModel, name, ENCODER, num_hidden_layers=layers)
    with atomic.new_folder(target, replace=False) as new:
        save_checkpoint(new, model, load_pretrained(AutoTokenizer, name))
    return str(target)


def trim_encoder(name: str, texts: Iterable[str], folder: Path) -> str:
    """Return the folder of a copy of an encoder that has only the tokens that ``texts`` need.

    The copy gives ``texts`` the same vectors with far fewer parameters: a small corpus uses one or two
    thousand of the 30,522 tokens of BERT's vocabulary. Which tokens are kept is said at
    :func:`trim_tokenizer`.

    Parameters
    ----------
    name : folder or hub name of the encoder.
    texts : all texts that the copy will encode.
    folder : the copy is saved in a new folder in this one, unless it is there already.

    Raises
    ------
    ModelError
        If the encoder cannot be loaded, or its tokenizer is not a fast WordPiece tokenizer.
    """
    from transformers import AutoModel, AutoTokenizer

    tokenizer, kept = trim_tokenizer(load_pretrained(AutoTokenizer, name), texts)
    target = folder / f"trimmed-{checksums.of_text(json.dumps([catalog.hash_model(name), kept]))[:16]}"
    if not target.exists():
        model = load_model(AutoModel, name, ENCODER)
        keep_rows(model, kept)
        model.config.pad_token_id = tokenizer.pad_token_id
        with atomic.new_folder(target, replace=False) as new:
            save_checkpoint(new, model, tokenizer)
    return str(target)


def make_untrained(name: str, folder: Path, seed: int) -> str:
    """Return the folder of a model with the architecture and tokenizer of another one, but random weights.

    Random numbers outside of this function are unaffected.

    Parameters
    ----------
    name : folder or hub name of the other model, with or without the prefix :data:`UNTRAINED`.
    folder : the model is saved in a new folder in this one, unless it is there already.
    seed : seed of the weights.
    """
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    source = name.removeprefix(catalog.UNTRAINED)
    target = folder / f"untrained-{_name_folder(source)}-{seed}"
    if not target.exists():
        with atomic.new_folder(target, replace=False) as new:
            with seed_torch(seed):
                model = AutoModel.from_config(load_pretrained(AutoConfig, source))
            save_checkpoint(new, model, load_pretrained(AutoTokenizer, source))
    return str(target)


def _name_folder(name: str) -> str:
    """Return the part of a folder's name that identifies a model: its name without owner or path, and the
    first 12 digits of its checksum."""
    return f"{Path(name).name}-{catalog.hash_model(name)[:12]}"


def trim_tokenizer(tokenizer: Any, texts: Iterable[str]) -> tuple[Any, list[int]]:
    """Return a copy of a tokenizer with only the tokens that ``texts`` need, and the old ids of these tokens.

    The old ids are ascending, so that the i-th is that of the copy's token i. Special tokens, tokens that
    were added to the vocabulary and single characters are kept as well. WordPiece takes the longest token
    that fits, so ``texts`` are split as before; words of other texts may be split into more tokens.

    Raises
    ------
    ModelError
        If the tokenizer is not a fast WordPiece tokenizer.
    """
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    state: dict[str, Any] = json.loads(tokenizer.backend_tokenizer.to_str()) if tokenizer.is_fast else {}
    if state.get("model", {}).get("type") != "WordPiece":
        where = Path(tokenizer.name_or_path).name
        remedy = "Give a model with a fast WordPiece tokenizer, or leave its vocabulary whole."
        raise ModelError("only a WordPiece vocabulary can be trimmed", f"model {where}", remedy)
    words, old = state["model"]["vocab"], tokenizer.get_vocab()
    added = {token["content"] for token in state["added_tokens"]} - words.keys()
    distinct = sorted({fix_unicode(text) for text in texts})
    rows = tokenizer(distinct, verbose=False)["input_ids"] if distinct else []
    used = set(itertools.chain.from_iterable(rows))
    required = {*tokenizer.all_special_tokens, *added}
    kept = [
        piece
        for piece in sorted(old, key=old.__getitem__)
        if old[piece] in used or piece in required or len(piece.removeprefix("##")) == 1
    ]
    new = {piece: index for index, piece in enumerate(kept)}
    state["model"]["vocab"] = {piece: index for piece, index in new.items() if piece in words}
    state["added_tokens"] = [
        {**token, "id": new[token["content"]]} for token in state["added_tokens"] if token["content"] in new
    ]
    state["truncation"] = state["padding"] = None
    # Post-processors, which add [CLS] and [SEP], hold the ids of these tokens, in one of two forms.
    processor = state.get("post_processor") or {}
    for name, special in processor.get("special_tokens", {}).items():
        special["ids"] = [new[token] for token in special.get("tokens", [name])]
    for key in processor.keys() & {"sep", "cls"}:
        processor[key] = [processor[key][0], new[processor[key][0]]]
    special_tokens: dict[str, Any] = {key: str(value) for key, value in tokenizer.special_tokens_map.items()}
    if tokenizer.extra_special_tokens:
        special_tokens["extra_special_tokens"] = list(map(str, tokenizer.extra_special_tokens))
    shortened = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(state)),
        model_max_length=tokenizer.model_max_length,
        **special_tokens,
    )
    return shortened, [old[piece] for piece in kept]


def keep_rows(module: Any, ids: list[int]) -> None:
    """Cut a model's input embeddings, and its output layer if it has one, to some tokens, in place.

    ``ids``: ids of the tokens to keep, ascending; the i-th becomes token i.
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
    """Raise StatementError if a model must not get the texts in a data root.

    That is the case if the model ``name`` is on a server, the data root ``root`` has restricted texts, and no
    signed statement allows sending them to this server.
    """
    require_statements(list_restricted(root), name, root)


def make_ready(name: str, folder: Path, seed: int) -> str:
    """Return the folder or name from which a model can be loaded.

    If ``name`` has the prefix :data:`UNTRAINED`, the model is made in ``folder`` with weights drawn from
    ``seed`` (:func:`make_untrained`), and its folder is returned. Otherwise, ``name`` is returned as it is.
    """
    return make_untrained(name, folder, seed) if name.startswith(catalog.UNTRAINED) else name


def find_revision(name: str) -> str:
    """Return the revision at which a hub model is loaded, or ``unpinned`` if none is set.

    For a model that is not on the hub (rules, packaged, in a folder or on a server), return an empty string.
    """
    bare = name.removeprefix(catalog.UNTRAINED)
    if bare == RULES or catalog.is_packaged(bare) or Path(bare).is_dir() or not catalog.is_hub_name(bare):
        return ""
    return catalog.find_revision(bare) or "unpinned"


def hash_model(where: str) -> str:
    """Return the SHA-256 that identifies a model's output (:func:`~radeval_lib.models.catalog.hash_model`).

    ``where``: the folder or name that :func:`make_ready` returned.
    """
    return catalog.hash_model(where)


# Starting points of NER models, and models with random heads for tests.


def prepare_start(
    name: str,
    folder: str | Path,
    *,
    seed: int,
    graphs: Sequence[AnnotatedSentence] = (),
    texts: Iterable[str] = (),
    device: str = "auto",
    unfinished: Path | None = None,
) -> str:
    """Make the model from which the training of an NER model starts, and return its folder or name.

    A trimmed or untrained model that exists in ``folder`` is reused; a training on graphs is always done.

    Parameters
    ----------
    name : a folder or hub name. With the prefix :data:`UNTRAINED`, the model gets random weights; with
        :data:`AFTER_GRAPHS`, it is trained on the entities of ``graphs``.
    folder : where a model that has to be made is saved.
    seed : seed of random weights, and of the training on graphs.
    graphs : annotated sentences for :data:`AFTER_GRAPHS`, of the splits ``train`` and ``dev``; the epoch is
        chosen on ``dev``.
    texts : all texts that the model will read. Its vocabulary is trimmed to their tokens; without texts, it
        is left whole.
    device : ``auto``, ``cpu`` or ``cuda``, for the training on graphs.
    unfinished : folder for the checkpoint of the training on graphs; None writes none.

    Raises
    ------
    ModelError
        If the model cannot be loaded, its vocabulary cannot be trimmed, or ``graphs`` lacks sentences of a
        split.
    """
    target, read_texts = Path(folder), list(texts)
    model = name.removeprefix(catalog.UNTRAINED).removeprefix(catalog.AFTER_GRAPHS)
    start = trim_encoder(model, read_texts, target) if read_texts else model
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
    train(scheme, train_set, dev, settings, folder=unfinished)
    scheme.save(target)
    return str(target)


def make_test_model(role: str, folder: Path) -> str:
    """Return the name or folder of a model for tests of the code around models; its head is random.

    ``role``: for ``encoder``, the name of the packaged encoder is returned; for ``ner_model`` and
    ``graph_model``, a folder in ``folder``, in which the packaged encoder with a random head is saved.

    Raises
    ------
    ModelError
        If ``role`` is another one.
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
