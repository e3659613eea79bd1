"""Local folders or hub names of transformers models: safetensors only, never code from the model's
repository."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from radeval_lib.errors import ModelError
from radeval_lib.models import soundness, uses
from radeval_lib.models.packaged import PACKAGED, is_packaged, packaged_minilm

if TYPE_CHECKING:
    import torch
    from _typeshed import DataclassInstance as Settings

    Part = torch.nn.Module | Settings

S = TypeVar("S", bound="Settings")

RADGRAPH = "radgraph:"
"""Before the name of a model that the package ``radgraph`` loads, e.g. ``radgraph:modern-radgraph-xl``."""

ADDRESSES = ("http://", "https://")
"""How the name of a model begins that a server on one's own machine has, as ``http://127.0.0.1:8000/v1#name``."""

# "name", "owner/name", "owner/name@revision".
_HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?(@[\w.-]+)?")
_PATIENCE = (3, 5)  # seconds to reach the hub, and for its answer


def locate(name: str | Path) -> str:
    """Return what is loaded: a local folder that holds safetensors, or the hub name as it is, with the
    revision that it may have behind ``@``."""
    if is_packaged(str(name)):
        return str(packaged_minilm(str(name)))
    path = Path(name)
    if not str(name) or not path.is_dir():
        if not _HUB_NAME.fullmatch(str(name)):
            remedy = f"Give a transformers folder, a hub name (owner/name@revision) or {PACKAGED!r}."
            raise ModelError(f"no folder {str(name)!r}", "model", remedy)
        return str(name)
    soundness.check_folder(path)
    return str(path)


def is_hub_name(name: str) -> bool:
    """Return whether a name is of the form of a hub model's, with or without a revision."""
    return _HUB_NAME.fullmatch(name) is not None


@lru_cache(maxsize=1)
def hub_answers() -> bool:
    """Return whether the hub can be reached; asked once, because libraries retry for minutes."""
    import requests
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        requests.head(constants.ENDPOINT, timeout=_PATIENCE)
    except requests.RequestException:
        return False
    return True


def _local_only(name: str, revision: str | None) -> bool:
    """Return whether a hub model must come from this machine's cache."""
    from huggingface_hub import try_to_load_from_cache

    if Path(name).is_dir() or hub_answers():
        return False
    if not isinstance(try_to_load_from_cache(name, "config.json", revision=revision), str):
        remedy = f"Give the folder of a copy, or {PACKAGED!r} where any encoder will do."
        raise ModelError("not on this machine, and the hub cannot be reached", f"model {name}", remedy)
    return True


@contextmanager
def quiet() -> Iterator[None]:
    """Without transformers' progress bars and tables on the screen; errors are raised all the same."""
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


def pretrained(factory: Any, name: str | Path, **settings: Any) -> Any:
    """Return ``factory.from_pretrained`` of a located model, its errors put plainly.

    A hub model is loaded at the revision behind ``@`` in its name, else at the one that
    ``data_manifests/models/`` gives.
    """
    from transformers import AutoConfig

    from radeval_lib.models.catalog import revision_of

    where = locate(name)
    revision = None if Path(where).is_dir() else revision_of(where)
    if revision:
        where = where.partition("@")[0]
    source: dict[str, Any] = {"trust_remote_code": False}
    if _local_only(where, revision):
        source["local_files_only"] = True
    if revision:
        source["revision"] = revision
    if "Tokenizer" in factory.__name__ and Path(where).is_dir():
        soundness.check_vocabulary(Path(where))
    try:
        with quiet():
            loaded = factory.from_pretrained(where, **source, **settings)
            if "Tokenizer" in factory.__name__:
                config = AutoConfig.from_pretrained(where, **source)
                soundness.check_sizes(loaded, config, Path(where).name)
            return loaded
    except ModelError:
        raise
    except Exception as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        remedy = "If it is a hub model, check the network and your access, or give the folder of a copy."
        raise ModelError(f"cannot load {Path(where).name!r}: {first:.200}", "model", remedy) from error


def weights(factory: Any, name: str | Path, use: uses.Use, **settings: Any) -> Any:
    """Return a model in evaluation mode, from safetensors; ``use`` says what they may lack or have beside.

    A :class:`ModelError` if it cannot be loaded, lacks weights, has others, or has weights without content.
    """
    model, loading_info = pretrained(
        factory,
        name,
        use_safetensors=True,
        ignore_mismatched_sizes=True,  # reported by name here
        output_loading_info=True,
        **settings,
    )
    where = Path(str(name)).name
    if getattr(model, "_hf_peft_config_loaded", False):
        raise soundness.unmerged(where)
    new = soundness.check_fit(model, loading_info, use, where)
    soundness.check_values(model.state_dict(), where, new)
    for module in use.idle:
        if any(key.startswith(f"{module}.") for key in new):  # so that no random number of theirs is saved
            above, _, own = module.rpartition(".")
            setattr(model.get_submodule(above), own, None)
    # What is saved has the names that it has here, not those of old models (LayerNorm.gamma).
    model._weight_conversions = None
    return model.eval()
