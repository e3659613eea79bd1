"""The pretrained models that papers name, and their identity."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, Field

from radeval_lib import checksums, own_yaml
from radeval_lib.errors import ModelError
from radeval_lib.models.names import ADDRESSES, RADGRAPH, locate
from radeval_lib.paths import MODELS, display_path
from radeval_lib.registry import RULES

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
    note : what else to know.
    seen : addresses of the pages on which all this was looked up.
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
    """Return one manifest; raises :class:`ModelError` if there is none of that name."""
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
    "tokenizer.json": {"padding", "truncation"},  # as of the last call; each of our calls gives its own
}
"""What libraries write beside a model's settings that decides no output, by file."""


def checksum(name: str | Path) -> str:
    """Return the SHA-256 of everything that decides a model's output: its weights, vocabulary and settings.

    It is over the files of a folder, without what they say of how they were loaded or last called; over a hub
    model's name with the revision at which it is loaded; and over the text of a name that the package
    ``radgraph`` or a server resolves, or that needs no weights. A :class:`ModelError` if there is no model of
    that name.
    """
    if str(name) == RULES or str(name).startswith((RADGRAPH, *ADDRESSES)):
        return checksums.of_text(str(name))
    where = locate(name)
    if not Path(where).is_dir():
        revision = revision_of(where)
        return checksums.of_text(f"{where.partition('@')[0]}@{revision}" if revision else where)
    kinds = (".safetensors", ".json", ".txt", ".model")
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
    """Yield a file's bytes; of settings, without what says nothing about the model (:data:`_OF_LOADING`)."""
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
