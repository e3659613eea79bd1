"""The words of ``reading.yml``, which the reader knows beside the lexicon's, read and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from radeval_lib.errors import LexiconError
from radeval_lib.rules.lexicon.entries import Lexicon
from radeval_lib.rules.lexicon.entry import Entry, read_entry
from radeval_lib.rules.reader.meanings import WHOLE
from radeval_lib.rules.reader.numbered_places import within

FILE = Path(__file__).with_name("reading.yml")
# The parts of ``reading.yml``: a list of texts each where `_kind` does not say otherwise.
_PARTS = (
    *("names", "ignored", "no_findings", "observations", "structures", "stable", "placeless"),
    *("no_abnormality", "states", "places", "malpositions", "sides", "words_of_their_own", "unscaled"),
    *("passed_over", "numbered", "usual_places", "normal", "abnormal", "severity", "change"),
    *("negation_before", "seldom_denied", "negation_after", "no_negation", "hedge_before", "links"),
    *("hedge_after", "hypothetical", "stops", "kinds", "families"),
)
_MAPPINGS = frozenset(
    [*("names", "observations", "structures", "places", "malpositions", "sides", "usual_places"),
     *("severity", "change", "kinds")]
)  # fmt: skip


def read_words(path: Path, lexicon: Lexicon) -> Mapping[str, Any]:
    """The content of a file as ``reading.yml``.

    Raises
    ------
    LexiconError
        If a part is unknown or missing or of another kind than its values should be, or names an observation,
        a structure or a place that neither the file nor the lexicon has.
    """
    file = read_entry(path, f"findings/{path.name}", " ".join(_PARTS))
    _check_kinds(file)
    raw = file.raw
    observations = {*lexicon.concepts, *file.inner("observations")}
    structures = {*lexicon.normals, WHOLE}
    places = {*lexicon.places, *file.inner("places")}
    for part, kind, names, known in (
        ("names", "observation of the lexicon", raw["names"], lexicon.concepts),
        ("structures", "structure", raw["structures"], structures),
        ("stable", "structure", raw["stable"], structures),
        ("placeless", "observation", raw["placeless"], observations),
        ("no_abnormality", "structure", raw["no_abnormality"], structures),
        ("no_abnormality", "observation", raw["no_abnormality"].values(), observations),
        ("states", "structure", raw["states"], structures),
        ("states", "observation", chain.from_iterable(raw["states"].values()), observations),
        ("malpositions", "observation", raw["malpositions"], observations),
        ("malpositions", "place", chain.from_iterable(raw["malpositions"].values()), places),
        ("usual_places", "observation", raw["usual_places"], observations),
        ("usual_places", "place", chain.from_iterable(raw["usual_places"].values()), places),
        ("numbered", "place", raw["numbered"], places),
        ("seldom_denied", "observation", raw["seldom_denied"], observations),
        ("kinds", "observation", raw["kinds"], observations),
        ("kinds", "observation", chain.from_iterable(raw["kinds"].values()), observations),
        ("families", "observation", chain.from_iterable(raw["families"]), observations),
        ("sides", "side", raw["sides"], ("left", "right", "bilateral")),
        ("change", "change", raw["change"], lexicon.grammar["change"]["pre"]),
        ("severity", "step", raw["severity"], range(4)),
    ):
        if unknown := [name for name in names if name not in known]:
            raise LexiconError(f"{part}: unknown {kind} {unknown[0]!r}", file.where)
    for region, ends in raw["numbered"].items():
        try:
            within(ends)
        except ValueError:
            raise LexiconError(
                f"numbered: {region} is not of the form t1-t12 or rib_1-rib_12", file.where
            ) from None
    return raw


def _check_kinds(file: Entry) -> None:
    """Refuse a part whose values are of another kind."""
    for part, value in file.raw.items():
        kind, fits = _kind(part)
        if not fits(value):
            file.fail(f"{part} is not {kind}")


def _kind(part: str) -> tuple[str, Callable[[Any], bool]]:
    """What a part is, in words and as a test of its value."""
    if part in ("no_abnormality", "numbered"):
        return "a mapping of texts", lambda value: _maps(value, _is_text)
    if part == "states":
        return "a mapping of mappings of lists", lambda value: _maps(
            value, lambda one: _maps(one, _are_texts)
        )
    if part == "families":
        return "a list of lists", lambda value: isinstance(value, list) and all(map(_are_texts, value))
    if part in _MAPPINGS:
        return "a mapping of lists", lambda value: _maps(value, _are_texts)
    return "a list of texts", _are_texts


def _maps(value: Any, to: Callable[[Any], bool]) -> bool:
    return isinstance(value, dict) and all(map(to, value.values()))


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())
