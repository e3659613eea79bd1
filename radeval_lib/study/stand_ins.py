"""What pages call a source of data, a model, and a metric over a substitute model."""

from __future__ import annotations

from collections.abc import Mapping

from radeval_lib import registry
from radeval_lib.data import roles
from radeval_lib.data.manifests import load_manifest, names
from radeval_lib.metrics.base import Metric
from radeval_lib.models import names as model_names
from radeval_lib.models.names import UNTRAINED, is_packaged
from radeval_lib.registry import ABSENT, CELL_MODEL, RULES, SYNTHETIC
from radeval_lib.text_format import long_date

# How a sentence names a role.
_NOUNS = {
    "ner_model": "NER model",
    "ner_corpus": "annotated sentences",
    "summaries": "reports",
    "anatomy_summaries": "reports of the twelve pairs",
}


def label(metric: Metric | type[Metric], models: Mapping[str, str]) -> str:
    """Return a metric's title with any substitute model in brackets: ``RaTEScore (our NER model)``,
    ``BERTScore (MiniLM)``.

    ``models``: by role, as a profile or a stored set names them.
    """
    title = metric.title or metric.name
    for role in metric.needs:
        model = models.get(role, "")
        if model.startswith(CELL_MODEL):
            return f"{title} (our {_NOUNS.get(role, role.replace('_', ' '))})"
        if model == RULES or is_packaged(model.removeprefix(UNTRAINED)):
            return f"{title} ({model_names.title(model)})"
    return title


def rests_on(filler: str) -> str:
    """Return, in words, the evidence from a source."""
    if any(load_manifest(name).reader for name in datasets(filler)):
        return "private data"
    evidence = roles.evidence(filler)
    if evidence == "recorded":
        recording = registry.module("radeval_lib.data.recorded").load(registry.dataset_of(filler))
        return f"public data, scored on {long_date(recording.scored_on)}"
    words = {SYNTHETIC: "generated reports", ABSENT: "nothing", "open": "public data"}
    return words.get(evidence, f"{evidence} data")


def title(filler: str) -> str:
    """Return the name of a role's source: data sets by their manifests' titles, or a model."""
    return _data_title(filler) or model_names.title(filler)


def _data_title(filler: str) -> str:
    """Return the title of data; empty if the source is not a data set."""
    if filler in (SYNTHETIC, ABSENT):
        return {SYNTHETIC: "the generator", ABSENT: "nothing"}[filler]
    if registry.is_recorded(filler):
        about = registry.module("radeval_lib.data.recorded").load(registry.dataset_of(filler)).about
        return str(about["title"]).partition(":")[0]
    titles = [load_manifest(name).title.partition(":")[0] for name in datasets(filler)]
    return " and ".join(dict.fromkeys(titles))


def datasets(filler: str) -> list[str]:
    """Return the data sets of a source that have a manifest."""
    return [name for name in registry.datasets_of(filler) if name in names()]


def description(role: str, filler: str) -> str:
    """Return a role with its source, in words: ``encoder MiniLM with mean pooling``."""
    noun = _NOUNS.get(role, role.replace("_", " "))
    if filler.startswith(CELL_MODEL):
        return f"{noun} trained in this build"
    data = _data_title(filler)
    phrase = f"{noun} from {data}" if data else f"{noun} {model_names.title(filler)}"
    # The paper takes the first token's vector; the packaged encoder was trained to be averaged.
    return f"{phrase} with mean pooling" if role == "encoder" and is_packaged(filler) else phrase
