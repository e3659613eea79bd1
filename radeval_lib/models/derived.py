"""Models made from other models, in folders, and what a run asks about the model of a role.

A folder's name contains a checksum of its source, so that no model is mistaken for another.
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
from radeval_lib.models.batching import seeded, well_formed
from radeval_lib.models.pretrained import ENCODER, load_pretrained, save_checkpoint, weights
from radeval_lib.registry import RULES


def shallow(name: str, layers: int, folder: Path) -> str:
    """Return the folder of an encoder's first ``layers`` layers, made below ``folder`` if it is missing.

    A :class:`ModelError` if the model cannot be loaded, or has no more layers.
    """
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    target = folder / f"first-{layers}-layers-of-{_identified(name)}"
    if target.exists():
        return str(target)
    if layers >= load_pretrained(AutoConfig, name).num_hidden_layers:
        problem = f"cannot take the first {layers} layers of this model"
        raise ModelError(problem, name, "Give fewer layers.")
    model = weights(AutoModel, name, ENCODER, num_hidden_layers=layers)
    with atomic.new_folder(target, replace=False) as new:
        save_checkpoint(new, model, load_pretrained(AutoTokenizer, name))
    return str(target)


def trim_encoder(name: str, texts: Iterable[str], folder: Path) -> str:
    """Return the folder of an encoder with only the tokens of ``texts`` (:func:`trimmed_tokenizer`), made
    below ``folder`` if it is missing.

    The same vectors with far fewer parameters: of the 30,522 pieces of BERT's vocabulary a small corpus
    uses one or two thousand.
    """
    from transformers import AutoModel, AutoTokenizer

    tokenizer, kept = trimmed_tokenizer(load_pretrained(AutoTokenizer, name), texts)
    target = folder / f"trimmed-{checksums.of_text(json.dumps([catalog.checksum(name), kept]))[:16]}"
    if not target.exists():
        model = weights(AutoModel, name, ENCODER)
        keep_rows(model, kept)
        model.config.pad_token_id = tokenizer.pad_token_id
        with atomic.new_folder(target, replace=False) as new:
            save_checkpoint(new, model, tokenizer)
    return str(target)


def make_untrained(name: str, folder: Path, seed: int) -> str:
    """Return the folder of a model with the architecture and tokenizer of the one named after
    :data:`UNTRAINED`, and weights drawn from ``seed``. It is made below ``folder`` if it is missing; other
    random numbers are unaffected."""
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    source = name.removeprefix(catalog.UNTRAINED)
    target = folder / f"untrained-{_identified(source)}-{seed}"
    if not target.exists():
        with atomic.new_folder(target, replace=False) as new:
            with seeded(seed):
                model = AutoModel.from_config(load_pretrained(AutoConfig, source))
            save_checkpoint(new, model, load_pretrained(AutoTokenizer, source))
    return str(target)


def _identified(name: str) -> str:
    """Return a model's name as a part of a folder's, with the first digits of its checksum."""
    return f"{Path(name).name}-{catalog.checksum(name)[:12]}"


def trimmed_tokenizer(tokenizer: Any, texts: Iterable[str]) -> tuple[Any, list[int]]:
    """Return a tokenizer with only the tokens of ``texts`` and single characters, and its tokens' old ids.

    Special tokens, and all that were added to the vocabulary, are kept. WordPiece takes the longest piece
    that fits, so ``texts`` are cut as before; other words are spelled.
    A :class:`ModelError` if the tokenizer is not a fast one of WordPiece.
    """
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    state: dict[str, Any] = json.loads(tokenizer.backend_tokenizer.to_str()) if tokenizer.is_fast else {}
    if state.get("model", {}).get("type") != "WordPiece":
        where = Path(tokenizer.name_or_path).name
        remedy = "Give a model with a fast WordPiece tokenizer, or leave its vocabulary whole."
        raise ModelError("its vocabulary is not WordPiece, so it cannot be trimmed", where, remedy)
    words, old = state["model"]["vocab"], tokenizer.get_vocab()
    added = {token["content"] for token in state["added_tokens"]} - words.keys()
    distinct = sorted({well_formed(text) for text in texts})
    rows = tokenizer(distinct, verbose=False)["input_ids"] if distinct else []
    used = set(itertools.chain.from_iterable(rows))
    always = {*tokenizer.all_special_tokens, *added}
    kept = [
        piece
        for piece in sorted(old, key=old.__getitem__)
        if old[piece] in used or piece in always or len(piece.removeprefix("##")) == 1
    ]
    new = {piece: index for index, piece in enumerate(kept)}
    state["model"]["vocab"] = {piece: index for piece, index in new.items() if piece in words}
    state["added_tokens"] = [
        {**token, "id": new[token["content"]]} for token in state["added_tokens"] if token["content"] in new
    ]
    state["truncation"] = state["padding"] = None
    # The two kinds of processor that add [CLS] and [SEP] name their ids.
    processor = state.get("post_processor") or {}
    for name, special in processor.get("special_tokens", {}).items():
        special["ids"] = [new[token] for token in special.get("tokens", [name])]
    for key in processor.keys() & {"sep", "cls"}:
        processor[key] = [processor[key][0], new[processor[key][0]]]
    named: dict[str, Any] = {key: str(value) for key, value in tokenizer.special_tokens_map.items()}
    if tokenizer.extra_special_tokens:
        named["extra_special_tokens"] = list(map(str, tokenizer.extra_special_tokens))
    shortened = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(state)),
        model_max_length=tokenizer.model_max_length,
        **named,
    )
    return shortened, [old[piece] for piece in kept]


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


def permit(name: str, root: Path | None) -> None:
    """Refuse a model behind an address unless statements allow sending it the data root's text."""
    require_statements(restricted_in(root), name, root)


def ready(name: str, folder: Path, seed: int) -> str:
    """Return the folder or name from which a model is loaded; an untrained one is made below ``folder``."""
    return make_untrained(name, folder, seed) if name.startswith(catalog.UNTRAINED) else name


def revision(name: str) -> str:
    """Return the revision at which a hub model is loaded, or ``unpinned``; empty for any other model."""
    bare = name.removeprefix(catalog.UNTRAINED)
    if bare == RULES or catalog.is_packaged(bare) or Path(bare).is_dir() or not catalog.is_hub_name(bare):
        return ""
    return catalog.revision_of(bare) or "unpinned"


def digest(where: str) -> str:
    """Return the :func:`~radeval_lib.models.catalog.checksum` of the model that :func:`ready` returned."""
    return catalog.checksum(where)


# What NER models start from, and models whose heads are drawn at random, the same everywhere.


def prepare(
    name: str,
    folder: str | Path,
    *,
    seed: int,
    graphs: Sequence[AnnotatedSentence] = (),
    texts: Iterable[str] = (),
    device: str = "auto",
    unfinished: Path | None = None,
) -> str:
    """Return the folder or name from which a tagging scheme can be initialized, made in ``folder`` if needed.

    A trimmed or untrained model is reused if it exists; the training on graphs is repeated.

    Parameters
    ----------
    name : a model's name, alone or after :data:`UNTRAINED` or :data:`AFTER_GRAPHS`.
    folder : for a model that has to be made.
    seed : of random weights, and of the training on graphs.
    graphs : annotated sentences for :data:`AFTER_GRAPHS`; their ``dev`` split chooses the epoch.
    texts : all that the model will read, to trim its vocabulary to their pieces; none leaves it whole.
    device : of that training.
    unfinished : where that training keeps its last checkpoint.
    """
    where, read = Path(folder), list(texts)
    model = name.removeprefix(catalog.UNTRAINED).removeprefix(catalog.AFTER_GRAPHS)
    start = trim_encoder(model, read, where) if read else model
    if name.startswith(catalog.UNTRAINED):
        return make_untrained(start, where, seed)
    if not name.startswith(catalog.AFTER_GRAPHS):
        return start
    from radeval_lib.models.ner_models import IobScheme
    from radeval_lib.models.training import TrainingSettings, train

    with seeded(seed):
        scheme = IobScheme(start, sorted({entity.label.upper() for row in graphs for entity in row.entities}))
    dev = [row for row in graphs if row.split == "dev"]
    settings = TrainingSettings(
        learning_rate=3e-4, head_learning_rate=2e-3, batch_size=8, epochs=2, seed=seed, device=device
    )
    train_set = [row for row in graphs if row.split == "train"]
    train(scheme, train_set, dev, settings, folder=unfinished)
    scheme.save(where)
    return str(where)


def make_test_model(role: str, folder: Path) -> str:
    """Return the name or folder of a substitute model for regression tests: the packaged encoder, alone or
    with a head drawn at random, saved in ``folder``.

    A :class:`ModelError` unless the role is ``encoder``, ``ner_model`` or ``graph_model``.
    """
    from radeval_lib.models.graph_model import GraphModel, GraphSettings
    from radeval_lib.models.ner_models import scheme_of

    check_choice(role, Literal["encoder", "ner_model", "graph_model"], "role", ModelError)
    target = folder / role
    if role == "encoder":
        return catalog.PACKAGED
    if role == "ner_model":
        scheme_of("iob", catalog.PACKAGED).save(target)
    else:
        types = ("ANAT-DP", "OBS-DA", "OBS-DP", "OBS-U"), ("located_at", "modify", "suggestive_of")
        with seeded(0):
            GraphModel(catalog.PACKAGED, GraphSettings(*types)).save(target)
    return str(target)
