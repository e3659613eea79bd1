"""NER models by name: a scheme to train, or the model that a folder holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from radeval_lib.errors import ModelError, check_choice
from radeval_lib.models.devices import Precision
from radeval_lib.models.ner.entities import Decoding
from radeval_lib.models.ner.iob import IobScheme
from radeval_lib.models.ner.iob_model import IobNerModel
from radeval_lib.models.ner.scheme import Scheme
from radeval_lib.models.ner.span_scheme import SETTINGS, SpanNerModel, SpanScheme, SpanSettings
from radeval_lib.models.randomness import seeded

SchemeName = Literal["iob", "span"]


def scheme_of(name: SchemeName, init_model: str | Path, seed: int = 0, **head: Any) -> Scheme:
    """Return a scheme to train, its new layers drawn from ``seed``; ``head`` are fields of
    :class:`SpanSettings`.

    A :class:`ModelError` where the scheme is unknown or has no such settings, or the model cannot be loaded.
    """
    check_choice(name, SchemeName, "scheme", ModelError)
    if name == "iob" and head:
        raise ModelError(f"the IOB scheme has no setting {next(iter(head))!r}", "scheme")
    with seeded(seed):
        return IobScheme(init_model) if name == "iob" else SpanScheme(init_model, SpanSettings(**head))


def open_ner_model(model: str | Path, *, decoding: str, device: str, precision: Precision = "auto") -> Any:
    """Return the NER model of a folder or hub name: of spans if this library saved one there, else of tokens.

    ``decoding`` is of labels of tokens alone. A :class:`ModelError` where it, ``device`` or ``precision`` is
    unknown, or the model cannot be loaded.
    """
    check_choice(decoding, Decoding, "decoding", ModelError)
    if (Path(model) / SETTINGS).is_file():
        return SpanNerModel(model, device=device, precision=precision)
    return IobNerModel(model, decoding=decoding, device=device, precision=precision)  # type: ignore[arg-type]
