"""Annotate texts in RadGraph format: with this library's model, with a released model, or from a file."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

from radeval_lib.data.radgraph import Annotation, check_annotation, make_annotation, read_annotations
from radeval_lib.errors import ModelError
from radeval_lib.models.batching import pick_device
from radeval_lib.models.catalog import RADGRAPH
from radeval_lib.models.graph_model import SETTINGS, GraphModel, read_by_units
from radeval_lib.models.pretrained import check_finite
from radeval_lib.rules.lexicon.entries import tokenize

K = TypeVar("K")
V = TypeVar("V")


class Extractor(Protocol):
    """A model or file that provides the annotations of texts."""

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        """Return the annotation of each text, in order, in RadGraph format.

        The annotation of an empty text has no entities.
        """


def open_extractor(name: str | Path, *, device: str = "auto") -> Extractor:
    """Load the extractor that ``name`` denotes, and return it.

    Parameters
    ----------
    name : a folder with a graph model of this library; the name of a model of the package ``radgraph``, with
        the prefix ``radgraph:``; or a file of annotations, whose name ends in ``.json``.
    device : device on which a model runs: ``auto``, ``cpu`` or ``cuda``.

    Raises
    ------
    ModelError
        If ``name`` is none of these, if the model cannot be loaded, if ``device`` is unknown or not
        available, or if two annotations of the same text in the file have different entities.
    FormatError
        If the file is not JSON, or an annotation in it is malformed.
    """
    if str(name).startswith(RADGRAPH):
        return PackageExtractor(str(name).removeprefix(RADGRAPH), device=device)
    path = Path(name)
    if path.suffix == ".json" and path.is_file():
        return RecordedGraphs(path)
    if not (path / SETTINGS).is_file():
        remedy = f"Use a graph model's folder, {RADGRAPH}NAME, or a JSON file of annotations."
        raise ModelError(f"neither a folder with {SETTINGS} nor an existing JSON file", path.name, remedy)
    return ModelExtractor(path, device=device)


def cache_results(read: Callable[[list[K]], Sequence[V]], limit: int) -> Callable[[Sequence[K]], list[V]]:
    """Return a function that returns the results of ``read``, but takes known ones from a cache.

    Parameters
    ----------
    read : function of a list of distinct keys that returns one result per key. It is called only with keys
        that are not in the cache. The returned function also accepts repeated keys.
    limit : maximum number of results in the cache. The cache is emptied before new results would exceed it.
    """
    cache: dict[K, V] = {}

    def read_or_look_up(keys: Sequence[K]) -> list[V]:
        missing = [key for key in dict.fromkeys(keys) if key not in cache]
        computed = dict(zip(missing, read(missing), strict=True)) if missing else {}
        results = [computed[key] if key in computed else cache[key] for key in keys]
        if len(cache) + len(computed) > limit:
            cache.clear()
        cache.update(list(computed.items())[:limit])
        return results

    return read_or_look_up


@lru_cache(maxsize=2)
def open_shared_extractor(name: str, device: str) -> Extractor:
    """Return the extractor that :func:`open_extractor` loads, as the same object for equal arguments.

    Several metrics annotate the same texts, and thus share the extractor's cache. The two most recently used
    extractors are kept. Raises the errors of :func:`open_extractor`.
    """
    return open_extractor(name, device=device)


class ModelExtractor:
    """An extractor that applies a graph model of this library.

    Up to 50,000 graphs of units (sentences or texts) are cached.

    Parameters
    ----------
    model : the model's folder.
    device : ``auto``, ``cpu`` or ``cuda``.

    Raises
    ------
    ModelError
        If the folder has no graph model that can be loaded, or ``device`` is unknown or not available.
    """

    def __init__(self, model: str | Path, *, device: str) -> None:
        self.model = GraphModel.load(model, device=device)
        self._read = cache_results(self.model.predict_units, 50_000)

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        """Return the annotation that the model predicts for each text, in order."""
        words = [tokenize(text) for text in texts]
        graphs = read_by_units(words, self.model.settings.unit, self._read)
        return [make_annotation(text_words, *graph) for text_words, graph in zip(words, graphs, strict=True)]


class PackageExtractor:
    """An extractor that applies a released model of the package ``radgraph``, which the user must install.

    The package's weights are pickled; torch loads them without running code (``weights_only``, the default
    since torch 2.6). Up to 4,000 annotations are cached.

    Parameters
    ----------
    model : the package's name for the model, without the prefix ``radgraph:``.
    device : ``auto``, ``cpu`` or ``cuda``.

    Raises
    ------
    ModelError
        If the package is not installed or cannot load the model, a weight is infinite or NaN, or ``device``
        is unknown or not available.
    """

    def __init__(self, model: str, *, device: str) -> None:
        self.name = f"{RADGRAPH}{model}"
        gpu = 0 if pick_device(device).type == "cuda" else -1
        try:
            radgraph: Any = importlib.import_module("radgraph")
            module = importlib.import_module("radgraph.allennlp.common.cached_transformers")
            _restore_removed_methods(module)
            self._model = radgraph.RadGraph(model_type=model, cuda=gpu)
        except Exception as error:
            problem = f"cannot load the model {model!r}: {' '.join(str(error).split()):.200}"
            remedy = "Run pip install radgraph; if it is installed, check the model's name and the network."
            raise ModelError(problem, "radgraph", remedy) from error
        # The package itself refuses missing and unexpected weights (``load_state_dict(..., strict=True)``).
        check_finite(self._model.state_dict(), self.name)
        self._read = cache_results(self._annotate_nonblank, 4_000)

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        """Return the annotation that the package predicts for each text, in order.

        Errors number the texts that the package gets: the distinct ones that are neither blank nor cached.

        Raises
        ------
        ModelError
            If the package returns no annotation for a text.
        FormatError
            If the package returns an invalid annotation.
        """
        # The package would read a blank text as the word "None", so blank texts are not passed to it.
        nonblank = [text for text in texts if text.strip()]
        annotations = dict(zip(nonblank, self._read(nonblank), strict=True))
        return [annotations.get(text) or make_annotation([], [], []) for text in texts]

    def _annotate_nonblank(self, texts: list[str]) -> list[Annotation]:
        """Return the annotation of each text; no text may be blank. Raise the errors of :meth:`annotate`."""
        annotations = self._model(texts)
        for number, text in enumerate(texts):
            where = f"{self.name}, text {number} (from 0) of {len(texts)} new ones"
            if str(number) not in annotations:  # the package has printed the reason
                problem = f"the package returns no annotation for a text of {len(text.split())} words"
                raise ModelError(problem, where, "Shorten the text, or leave it out.")
            check_annotation(annotations[str(number)], where)
        return [annotations[str(number)] for number in range(len(texts))]


def _restore_removed_methods(module: Any) -> None:
    """Make radgraph 0.1.18 work with transformers 5, which removed two methods of tokenizers.

    ``module``: radgraph's module ``cached_transformers``. Its function ``get_tokenizer`` is replaced by one
    that adds these methods to the tokenizers that it loads.
    """
    load_tokenizer = module.get_tokenizer

    def get_tokenizer(name: str, **settings: Any) -> Any:
        tokenizer = load_tokenizer(name, **settings)
        if not hasattr(tokenizer, "encode_plus"):
            first, last = tokenizer("")["input_ids"]  # [CLS] and [SEP]
            tokenizer.encode_plus = tokenizer.__call__
            tokenizer.build_inputs_with_special_tokens = lambda ids: [first, *ids, last]
        return tokenizer

    module.get_tokenizer = get_tokenizer


class RecordedGraphs:
    """An extractor that looks up the annotations of texts in a JSON file; white space in texts is ignored.

    ``path``: a file in RadGraph format. Raises :class:`~radeval_lib.errors.ModelError` if two annotations of
    the same text have different entities, and :class:`~radeval_lib.data.errors.FormatError` if the file is
    not JSON or an annotation is malformed.
    """

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._annotations: dict[str, Annotation] = {"": make_annotation([], [], [])}
        for name, item in read_annotations(path).items():
            stored_entry = self._annotations.setdefault(_remove_space(item["text"]), item)
            if stored_entry["entities"] != item["entities"]:
                problem = f"{name!r} annotates the same text as an earlier entry, but with other entities"
                raise ModelError(problem, self.name, "Keep one annotation of each text.")

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        """Return the annotation of each text, in order.

        Raises :class:`~radeval_lib.errors.ModelError` if the file has no annotation of a text that is not
        blank.
        """
        annotations = [self._annotations.get(_remove_space(text)) for text in texts]
        if None in annotations:
            problem = f"{annotations.count(None)} of {len(texts)} texts have no annotation in this file; "
            problem += f"the first is text {annotations.index(None)}, counted from 0"
            raise ModelError(problem, self.name, "Add an annotation of each of these texts to the file.")
        return [annotation for annotation in annotations if annotation is not None]


def _remove_space(text: str) -> str:
    """Return a text without white space, in which annotated and scored texts may differ."""
    return "".join(text.split())
