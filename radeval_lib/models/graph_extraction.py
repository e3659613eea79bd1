"""Graphs of texts: by our own model, by RadGraph's released ones, or read from a file of annotations."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

from radeval_lib.data.radgraph import Annotation, annotation, check_annotation, read_annotations
from radeval_lib.errors import ModelError
from radeval_lib.models.batching import device_of
from radeval_lib.models.catalog import RADGRAPH
from radeval_lib.models.graph_model import SETTINGS, GraphModel, joined_units
from radeval_lib.models.pretrained import check_finite
from radeval_lib.rules.lexicon.entries import tokenize

K = TypeVar("K")
V = TypeVar("V")


class Extractor(Protocol):
    """Finds the graph of each text."""

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        """Return annotations in RadGraph's form, in the order of the texts. An empty text has no entities."""


def open_extractor(name: str | Path, *, device: str = "auto") -> Extractor:
    """Return the extractor of that name: a folder that this library trained, :data:`RADGRAPH` before a name
    of the package's, or a JSON file of annotations.

    Raises
    ------
    ModelError
        If there is no such model, or it cannot be loaded.
    """
    text = str(name)
    if text.startswith(RADGRAPH):
        return PackageExtractor(text.removeprefix(RADGRAPH), device=device)
    if Path(text).suffix == ".json" and Path(text).is_file():
        return RecordedGraphs(Path(text))
    if not (Path(text) / SETTINGS).is_file():
        remedy = f"Give a folder that this library trained, {RADGRAPH}NAME, or a JSON file of annotations."
        raise ModelError("this is no graph model", Path(text).name, remedy)
    return ModelExtractor(text, device=device)


def with_cache(read: Callable[[list[K]], Sequence[V]], most: int) -> Callable[[Sequence[K]], list[V]]:
    """Return ``read`` with a cache of at most ``most`` answers, which is emptied when full. Only texts that
    are not cached are read."""
    kept: dict[K, V] = {}

    def answers(asked: Sequence[K]) -> list[V]:
        missing = [key for key in dict.fromkeys(asked) if key not in kept]
        new = dict(zip(missing, read(missing), strict=True)) if missing else {}
        results = [new[key] if key in new else kept[key] for key in asked]
        if len(kept) + len(new) > most:
            kept.clear()
        kept.update(list(new.items())[:most])
        return results

    return answers


@lru_cache(maxsize=2)
def shared_extractor(name: str, device: str) -> Extractor:
    """Return the extractor of a model; all callers of this process share it, since several metrics ask for
    the same texts."""
    return open_extractor(name, device=device)


class ModelExtractor:
    """Extracts with our own joint model, and caches up to 50,000 sentences."""

    def __init__(self, model: str | Path, *, device: str) -> None:
        self.model = GraphModel.load(model, device=device)
        self._read = with_cache(self.model.predict_units, 50_000)

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        words = [tokenize(text) for text in texts]
        graphs = joined_units(words, self.model.settings.unit, self._read)
        return [annotation(text_words, *graph) for text_words, graph in zip(words, graphs, strict=True)]


class PackageExtractor:
    """Extracts with a released model through the package ``radgraph``, which the user installs.

    The package reads the weights as a pickle; torch loads it without running code (``weights_only``, its
    default since 2.6).
    """

    def __init__(self, model: str, *, device: str) -> None:
        self.name = f"{RADGRAPH}{model}"
        cuda = 0 if device_of(device).type == "cuda" else -1
        try:
            radgraph: Any = importlib.import_module("radgraph")
            loading = importlib.import_module("radgraph.allennlp.common.cached_transformers")
            _give_methods_of_transformers_4(loading)
            self._model = radgraph.RadGraph(model_type=model, cuda=cuda)
        except Exception as error:
            problem = f"cannot load {model!r}: {' '.join(str(error).split()):.200}"
            remedy = "Run: pip install radgraph. Check the name, the network and the disk."
            raise ModelError(problem, "radgraph", remedy) from error
        # The package itself refuses missing and unexpected weights (``load_state_dict(..., strict=True)``).
        check_finite(self._model.state_dict(), self.name)
        self._read = with_cache(self._read_filled, 4_000)

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        # The package reads an empty text as the word "None"; it has no entity here.
        filled = [text for text in texts if text.strip()]
        graphs = dict(zip(filled, self._read(filled), strict=True))
        return [graphs.get(text) or annotation([], [], []) for text in texts]

    def _read_filled(self, texts: list[str]) -> list[Annotation]:
        """Return the graphs of distinct texts; a :class:`ModelError` for a text that the package skips."""
        given = self._model(texts)
        for number, text in enumerate(texts):
            where = f"{self.name}, text {number}"
            if str(number) not in given:  # the package prints what went wrong
                problem = f"no graph of a text of {len(text.split())} words"
                raise ModelError(problem, where, "Shorten the text.")
            check_annotation(given[str(number)], where)
        return [given[str(number)] for number in range(len(texts))]


def _give_methods_of_transformers_4(package: Any) -> None:
    """Let the tokenizers that radgraph 0.1.18 loads have the two methods that transformers 5 took away."""
    load = package.get_tokenizer

    def get_tokenizer(name: str, **settings: Any) -> Any:
        tokenizer = load(name, **settings)
        if not hasattr(tokenizer, "encode_plus"):
            first, last = tokenizer("")["input_ids"]  # [CLS] and [SEP]
            tokenizer.encode_plus = tokenizer.__call__
            tokenizer.build_inputs_with_special_tokens = lambda ids: [first, *ids, last]
        return tokenizer

    package.get_tokenizer = get_tokenizer


class RecordedGraphs:
    """Annotations made by another program, looked up by their text without blanks."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._known: dict[str, Annotation] = {"": annotation([], [], [])}
        for name, item in read_annotations(path).items():
            if self._known.setdefault(_squeezed(item["text"]), item)["entities"] != item["entities"]:
                remedy = "Keep one annotation of each text."
                raise ModelError(f"{name!r} annotates a text otherwise than one before it", self.name, remedy)

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        graphs = [self._known.get(_squeezed(text)) for text in texts]
        if None in graphs:
            problem = f"no annotation of text {graphs.index(None)}"
            raise ModelError(problem, self.name, "Annotate every text that is scored, with the same wording.")
        return [graph for graph in graphs if graph is not None]


def _squeezed(text: str) -> str:
    return "".join(text.split())
