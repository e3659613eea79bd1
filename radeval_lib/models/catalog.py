"""The pretrained models that papers name."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from radeval_lib.errors import complaint
from radeval_lib.models.soundness import INDEX, ModelError
from radeval_lib.paths import MODELS, display_path

Unknown = Literal["unknown"]
Domain = Literal["English", "Biomedical", "Clinical", "Radiology"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Tokenizer(_Strict):
    """How a model cuts text."""

    kind: Literal["WordPiece", "byte-level BPE", "SentencePiece"]
    vocabulary: int | Unknown
    cased: bool | Unknown
    notes: str = ""


class Card(_Strict):
    """What is known about one pretrained model."""

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
def load(name: str, folder: Path = MODELS) -> Card:
    """One manifest; a :class:`ModelError` where there is none of that name, or it is not of the format."""
    path = folder / f"{name}.yml"
    if not path.is_file():
        known = f"Models: {', '.join(names(folder))}."
        raise ModelError(f"no model is described as {name!r}", display_path(folder), known)
    try:
        return Card(name=name, **yaml.safe_load(path.read_text(encoding="utf-8")))
    except (ValidationError, yaml.YAMLError, TypeError) as error:
        wrong = complaint(error) if isinstance(error, ValidationError) else str(error)
        raise ModelError(wrong, display_path(path), "Correct the manifest.") from error


def names(folder: Path = MODELS) -> list[str]:
    """Every described model, in alphabetical order."""
    return sorted(path.stem for path in folder.glob("*.yml"))


def cards() -> list[Card]:
    """Every manifest, by domain in the order of Table 2, then by title."""
    return sorted(map(load, names()), key=lambda card: (get_args(Domain).index(card.domain), card.title))


@cache
def revision_of(hub: str) -> str | None:
    """The revision that a hub model's name gives behind ``@``, else the one at which it is described; None
    where there is neither."""
    name, _, given = hub.partition("@")
    return given or next((card.pinned for card in cards() if card.hub == name), None)


def in_hub_cache(hub: str, revision: str | None) -> bool:
    """Whether a repository's weights are on this machine already, as safetensors; asks no network."""
    from huggingface_hub import try_to_load_from_cache

    hub = hub.partition("@")[0]
    files = ("model.safetensors", INDEX)
    return any(isinstance(try_to_load_from_cache(hub, file, revision=revision), str) for file in files)
