"""The pretrained models that papers name."""

from __future__ import annotations

from functools import cache
from typing import Literal, get_args

import yaml
from pydantic import BaseModel, Field, ValidationError

from radeval_lib import own_yaml
from radeval_lib.errors import ModelError, complaint
from radeval_lib.models.soundness import INDEX
from radeval_lib.paths import MODELS, display_path

Unknown = Literal["unknown"]
Domain = Literal["English", "Biomedical", "Clinical", "Radiology"]


class Tokenizer(BaseModel, extra="forbid", frozen=True):
    """How a model cuts text."""

    kind: Literal["WordPiece", "byte-level BPE", "SentencePiece"]
    vocabulary: int | Unknown
    cased: bool | Unknown
    notes: str = ""


class ModelCard(BaseModel, extra="forbid", frozen=True):
    """What is known about one pretrained model.

    Attributes
    ----------
    name : that of the manifest.
    title : as the papers name the model.
    hub : the repository on the Hugging Face hub.
    released_as : the name under which its authors released it, where that is another.
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
        """The revision to load, or None where it is not known."""
        return None if self.revision == "unknown" else self.revision


@cache
def load(name: str) -> ModelCard:
    """Return one manifest; a :class:`ModelError` where there is none of that name, or it is not of the
    format."""
    path = MODELS / f"{name}.yml"
    if not path.is_file():
        known = f"Models: {', '.join(names())}."
        raise ModelError(f"no model is described as {name!r}", display_path(MODELS), known)
    try:
        held = own_yaml.read(path)
        if not isinstance(held, dict) or "name" in held:
            raise ValueError("it is not a mapping of the attributes of a ModelCard without its name")
        return ModelCard(name=name, **held)
    except (ValueError, yaml.YAMLError) as error:
        wrong = complaint(error) if isinstance(error, ValidationError) else str(error)
        raise ModelError(wrong, display_path(path), "Correct the manifest.") from error


def names() -> list[str]:
    """Return every described model, in alphabetical order."""
    return sorted(path.stem for path in MODELS.glob("*.yml"))


def cards() -> list[ModelCard]:
    """Return every manifest, by domain in the order of RaLEs, Table 2, then by title."""
    return sorted(map(load, names()), key=lambda card: (get_args(Domain).index(card.domain), card.title))


@cache
def revision_of(hub: str) -> str | None:
    """Return the revision that a hub model's name gives behind ``@``, else the one at which it is described;
    None where there is neither."""
    name, _, given = hub.partition("@")
    return given or next((card.pinned for card in cards() if card.hub == name), None)


def in_hub_cache(hub: str) -> bool:
    """Return whether the weights that would be loaded of a hub model, safetensors at :func:`revision_of` it,
    are on this machine; asks no network."""
    from huggingface_hub import try_to_load_from_cache

    repository, revision = hub.partition("@")[0], revision_of(hub)
    files = ("model.safetensors", INDEX)
    return any(isinstance(try_to_load_from_cache(repository, file, revision=revision), str) for file in files)
