"""Opens a recogniser from its folder or hub name, whichever scheme it is of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from radeval_lib.models.ner.iob import IobTagger
from radeval_lib.models.ner.span_scheme import SpanTagger


def open_tagger(model: str | Path, *, decoding: str, device: str = "auto") -> Any:
    """The tagger of a folder or hub name: a span tagger if this library saved one there, else a token
    classifier.
    """
    if (Path(model) / "span_ner.json").is_file():
        return SpanTagger(model, device=device)
    return IobTagger(model, decoding=decoding, device=device)  # type: ignore[arg-type]
