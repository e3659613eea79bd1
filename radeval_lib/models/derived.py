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
from radeval_lib.data.manifests import require_statements, restricted_in
from radeval_lib.data.records import AnnotatedSentence
from radeval_lib.errors import ModelError, check_choice
from radeval_lib.models import catalog
from radeval_lib.models.batching import fix_unicode, seed_torch
from radeval_lib.models.pretrained import ENCODER, load_model, load_pretrained, save_checkpoint
from radeval_lib.registry import RULES


def cut_layers(name: str, layers: int, folder: Path) -> str:
    """Return the folder of a model with only the first ``layers`` layers of the encoder ``name``.

    It is made below ``folder`` if it does not exist. A :class:`ModelError` if the encoder cannot be loaded,
    or does not have more than ``layers`` layers.
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
    """Return the folder of an encoder whose vocabulary is cut to ``texts`` (:func:`trim_tokenizer`).

    It is made below ``folder`` if it does not exist. It gives ``texts`` the same vectors with far fewer
    parameters: a small corpus uses one or two thousand of the 30,522 tokens of BERT's vocabulary.
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
    """Return the folder of a model with the architecture and tokenizer of ``name``, and weights drawn from
    ``seed``.

    ``name`` may have the prefix :data:`UNTRAINED`. The model is made below ``folder`` if it does not exist;
    random numbers outside of this function are unaffected.
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
    """Return a model's name without its owner or path, and the first 12 digits of its checksum, for the name
    of a folder."""
    return f"{Path(name).name}-{catalog.hash_model(name)[:12]}"


def trim_tokenizer(tokenizer: Any, texts: Iterable[str]) -> tuple[Any, list[int]]:
    """Return a tokenizer with only the tokens that ``texts`` need, and the old id of each of its tokens.

    Special tokens, tokens that were added to the vocabulary and single characters are kept as well.
    WordPiece takes the longest token that fits, so ``texts`` are split as before; words of other texts may be
    spelled out. A :class:`ModelError` if the tokenizer is not a fast WordPiece tokenizer.
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
    """Cut a model's input embeddings, and its output layer if it has one, to the rows ``ids``, in place."""
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
    """Raise :class:`~radeval_lib.data.errors.StatementError` if ``name`` is a server's model and no signed
    statement allows sending it the texts in the data root ``root``."""
    require_statements(restricted_in(root), name, root)


def make_ready(name: str, folder: Path, seed: int) -> str:
    """Return the folder or name from which the model ``name`` can be loaded.

    For a name with the prefix :data:`UNTRAINED`, the model is made below ``folder``, with weights drawn from
    ``seed``. Any other name is returned as it is.
    """
    return make_untrained(name, folder, seed) if name.startswith(catalog.UNTRAINED) else name


def find_revision(name: str) -> str:
    """Return the revision at which a hub model is loaded, ``unpinned`` if none is set, or an empty string for
    a model that is not on the hub."""
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
    """Return the folder or name of the model from which the training of an NER model starts.

    A trimmed or untrained model that exists is reused; a training on graphs is always done.

    Parameters
    ----------
    name : a model's name, alone or with the prefix :data:`UNTRAINED` or :data:`AFTER_GRAPHS`.
    folder : where to save a model that has to be made.
    seed : seed of random weights, and of the training on graphs.
    graphs : annotated sentences for :data:`AFTER_GRAPHS`, with splits ``train`` and ``dev``; ``dev`` chooses
        the epoch.
    texts : all texts that the model will read. Its vocabulary is trimmed to their tokens; without texts, it
        is left whole.
    device : device of the training on graphs.
    unfinished : folder for the checkpoint of the training on graphs; None keeps none.
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
    """Return the name or folder of an untrained model for a role, for tests of the code around models.

    For ``encoder``, it is the packaged encoder itself; for ``ner_model`` and ``graph_model``, the packaged
    encoder with a random head, which is saved below ``folder``. A :class:`ModelError` for any other role.
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
