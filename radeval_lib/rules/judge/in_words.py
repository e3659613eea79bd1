"""Observations, places, degrees and findings in the words of the judge by rules."""

from __future__ import annotations

from collections.abc import Iterable

from radeval_lib.rules.judge.items import Item
from radeval_lib.rules.lexicon.loading import load_lexicon

_SIZED = "amount"  # the scale of what has a size: "small", not "mild"


def name(observation: str) -> str:
    """An observation in words."""
    concept = load_lexicon().concepts.get(observation)
    if concept is None or not concept.names:
        return observation.replace("_", " ")
    first = concept.names[0]
    return f"{first.lead.text} {first.one.text}" if first.lead else first.one.text


def where(places: Iterable[str], side: str | None) -> str:
    """A place in words; empty where none is said."""
    known, named = load_lexicon().places, []
    for key in sorted(places):
        nouns = known[key].nouns if key in known else None
        phrases = nouns and (nouns.get(side) or next(iter(nouns.values())))
        named.append(phrases[0].text if phrases else key.replace("_", " "))
    if not named:
        return side or ""
    text = " and ".join(named)
    return text if side is None or side in text or side == "bilateral" else f"{side}, {text}"


def degree(item: Item) -> str:
    """Severity or size in words; empty where neither is said."""
    if item.size_mm:
        return " x ".join(f"{size:g}" for size in item.size_mm) + " mm"
    if item.severity is None:
        return ""
    lexicon = load_lexicon()
    concept = lexicon.concepts.get(item.observation)
    scale = concept.scale or (_SIZED if concept.size else None) if concept is not None else None
    words: str = lexicon.grammar["scales"][scale or "degree"]["adjectives"][item.severity][0]
    return words.removesuffix(" amount of")


def describe(item: Item) -> str:
    """A finding in words, as "moderate pleural effusion (right)"."""
    parts = ["possible" if item.uncertain else "", degree(item), name(item.observation)]
    text = " ".join(part for part in parts if part)
    place = where(item.places, item.side)
    text = f"{text} ({place})" if place else text
    if item.means:
        text += f", read as {' or '.join(sorted(map(name, item.means)))}"
    return text[0].upper() + text[1:]
