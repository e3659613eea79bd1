"""Substitutes for a paper's own data and models in a run, and the evidence that they leave."""

from __future__ import annotations

from collections.abc import Mapping

from radeval_lib import registry
from radeval_lib.data import roles
from radeval_lib.data.manifests import load_manifest, names
from radeval_lib.metrics.base import Metric
from radeval_lib.models import names as model_names
from radeval_lib.models.names import UNTRAINED, is_packaged
from radeval_lib.registry import ABSENT, CELL_MODEL, RULES, SYNTHETIC
from radeval_lib.study.runs import Basis
from radeval_lib.study.verdicts import OURS, PAPERS_OWN, STRENGTH
from radeval_lib.text_format import long_date

_ACCESS = {"open": "public"}
# How a sentence names a role.
_NOUNS = {
    "ner_model": "NER model",
    "ner_corpus": "annotated sentences",
    "summaries": "reports",
    "anatomy_summaries": "reports of the twelve pairs",
}


def basis(filled: Mapping[str, str], data: Mapping[str, str], models: Mapping[str, str]) -> Basis:
    """Return the basis of an exhibit that is rebuilt from data, perhaps with models.

    Parameters
    ----------
    filled : the source of each data role and model role in this run.
    data, models : what the paper used, by role; of data at least one.

    Returns
    -------
    Basis
        Its evidence is the weakest of the data's. If a model is not the paper's, the implementation is ours,
        because the result is then about that model.
    """
    evidence = max((roles.evidence(filled[role]) for role in data), key=STRENGTH.index)
    is_ours = evidence == SYNTHETIC or any(filled[role] != paper for role, paper in models.items())
    words = stand_in(filled, {**data, **models})
    return Basis(evidence, words, (*data, *models), OURS if is_ours else PAPERS_OWN)


def stand_in(filled: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    """Return, in words, the substitutes for the paper's own data and models (``wanted``, by role); empty if
    nothing does."""
    return "; ".join(
        f"{_description(role, filled[role])}, not {title(paper)}"
        for role, paper in wanted.items()
        if filled[role] != paper
    )


def labels(metrics: Mapping[str, Metric], filled: Mapping[str, str]) -> dict[str, str]:
    """Return each metric's name on a page (:func:`label`), by its title."""
    return {title: label(metric, filled) for title, metric in metrics.items()}


def label(metric: Metric | type[Metric], models: Mapping[str, str]) -> str:
    """Return a metric's title, with the first substitute model in brackets: ``RaTEScore (our NER model)``,
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
    """Return, in words, the evidence that a source gives."""
    if any(load_manifest(name).reader for name in datasets(filler)):
        return "private data"
    evidence = roles.evidence(filler)
    if evidence == "recorded":
        recording = registry.module("radeval_lib.data.recorded").load(registry.dataset_of(filler))
        return f"public data, scored on {long_date(recording.scored_on)}"
    return {SYNTHETIC: "generated reports", ABSENT: "nothing"}.get(
        evidence, f"{_ACCESS.get(evidence, evidence)} data"
    )


def title(filler: str) -> str:
    """Return the name of a role's source: a data set or a model."""
    return _data_title(filler) or model_names.title(filler)


def _data_title(filler: str) -> str:
    """Return the names of data sets as their manifests have them; empty if the source is not a data set."""
    if filler in (SYNTHETIC, ABSENT):
        return {SYNTHETIC: "the generator", ABSENT: "nothing"}[filler]
    if registry.is_recorded(filler):
        about = registry.module("radeval_lib.data.recorded").load(registry.dataset_of(filler)).about
        return str(about["title"]).partition(":")[0]
    titles = [load_manifest(name).title.partition(":")[0] for name in datasets(filler)]
    return " and ".join(dict.fromkeys(titles))


def datasets(filler: str) -> list[str]:
    """Return the data sets of a source that have a manifest."""
    manifests = names()
    return [name for name in registry.datasets_of(filler) if name in manifests]


def _description(role: str, filler: str) -> str:
    noun = _NOUNS.get(role, role.replace("_", " "))
    if filler.startswith(CELL_MODEL):
        return f"{noun} trained in this build"
    title_of_data = _data_title(filler)
    words = f"{noun} from {title_of_data}" if title_of_data else f"{noun} {model_names.title(filler)}"
    # The paper takes the first token's vector; the packaged encoder was trained to be averaged.
    return f"{words} with mean pooling" if role == "encoder" and is_packaged(filler) else words
