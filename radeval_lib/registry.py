"""Tables of the objects that are imported by name: readers of data sets, data roles, job lists and metrics.

A module that looks up an object here does not import the object's module until it is used, and so does not
depend on it. The dependencies of a build step follow from the names that its notebook declares
(:mod:`radeval_lib.study.dependencies`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

SYNTHETIC = "synthetic"
"""Source of a role whose data are generated reports."""

ABSENT = "absent"
"""Source of a role without data. A page with this role shows only its question and the data that it needs."""

JOB_MODEL = "job:"
"""Prefix of a model's source; after it comes the notebook whose first job saves the model."""

_STORED_SET_PREFIX = "recorded/"

READERS = {
    "ct_labels": "radeval_lib.data.ct_labels:read",
    "green_training": "radeval_lib.data.green_training:read",
    "iu_systems": "radeval_lib.data.iu_systems:read",
    "mediqa2021": "radeval_lib.data.mediqa:read",
    "mediqa2021_mimic_cxr": "radeval_lib.data.mediqa:read_mimic_cxr",
    "mimic3_procedure": "radeval_lib.data.mimic3_procedure:read",
    "mimic3_rrs": "radeval_lib.data.mimic3_rrs:read",
    "mimic_cxr_rrs": "radeval_lib.data.mimic_cxr:read",
    "mslr": "radeval_lib.data.mslr:read",
    "mts_dialog": "radeval_lib.data.mts_dialog:read",
    "mtsamples": "radeval_lib.data.mtsamples:read",
    "openi": "radeval_lib.data.openi:read",
    "openi_labels": "radeval_lib.data.openi:read_labels",
    "primock57": "radeval_lib.data.primock57:read",
    "radgraph": "radeval_lib.data.radgraph:read",
    "radpref": "radeval_lib.data.radpref:read",
    "radsprl": "radeval_lib.data.radsprl:read",
    "radsum23": "radeval_lib.data.radsum23:read",
    "rate_eval": "radeval_lib.data.rate_eval:read",
    "rate_ner": "radeval_lib.data.rate_ner:read",
    "rexval": "radeval_lib.data.rexval:read",
    "rexval_counts": "radeval_lib.data.rexval:read_counts",
    "stanza_radiology": "radeval_lib.data.iob_tags:read",
}
"""A mapping from data set to the function that reads it, a :data:`radeval_lib.data.readers.Read`."""


RECORDINGS = {
    "fingerprints": "radeval_lib.data.report_edits:restore_pairs",
    "mediqa2021": "radeval_lib.data.mediqa:restore_pairs",
    "mts_dialog": "radeval_lib.data.mts_dialog:restore_ratings",
    "mtsamples": "radeval_lib.data.mtsamples:restore_documents",
    "openi": "radeval_lib.data.openi:restore_reports",
    "radpref": "radeval_lib.data.radpref:restore_pairs",
}
"""A mapping from stored set in ``data_manifests/recorded/`` to the function that returns its records, with
placeholders for texts."""


OWN_READERS = {"ratings": "radeval_lib.data.ratings:make_reader"}
"""A mapping from ``reader`` in the manifest of a user's data set to a function ``(name) -> Read``."""


class Role(NamedTuple):
    """A data role: the names of its record type and of its generator, as ``module:name``.

    The generator is a function ``(size, seed) -> records``; its name is empty if there is none.
    """

    record: str
    generator: str


def _make_role(record: str, generator: str = "") -> Role:
    """Return a role whose record type and generator are in :mod:`radeval_lib.data`."""
    return Role(f"radeval_lib.data.records:{record}", generator and f"radeval_lib.data.{generator}")


ROLES = {
    "reports": _make_role("Report", "generated:generate_reports"),
    "summaries": _make_role("ReportPair", "generated:generate_summaries"),
    "anatomy_summaries": _make_role("ReportPair", "generated:generate_anatomy_summaries"),
    "descriptions": _make_role("Document", "generated:generate_descriptions"),
    "procedures": _make_role("Document", "generated:generate_procedures"),
    "ner_corpus": _make_role("AnnotatedSentence", "generated:generate_ner_corpus"),
    "graph_corpus": _make_role("AnnotatedSentence", "generated:generate_graph_corpus"),
    "spatial_corpus": _make_role("AnnotatedSentence", "generated:generate_spatial_corpus"),
    "stanza_corpus": _make_role("AnnotatedSentence", "generated:generate_ner_corpus"),
    "edited_reports": _make_role("TextPair"),
    "text_pairs": _make_role("TextPair", "generated:generate_text_pairs"),
    "rated_sentences": _make_role("RatedPair"),
    "rated_paragraphs": _make_role("RatedPair"),
    "rated_pairs": _make_role("RatedPair"),
    "rated_errors": _make_role("RatedPair"),
    "error_counts": _make_role("ErrorCount"),
    "fact_ratings": _make_role("FactRating"),
    "note_judgements": _make_role("NoteJudgement"),
    "judged_pairs": _make_role("JudgedPair", "generated:generate_judged_pairs"),
}
"""The data roles that a notebook can declare."""

MODEL_ROLES = ("ner_model", "encoder", "graph_model", "rival_encoder", "in_domain_encoder", "judge")
"""The model roles that a profile configures."""

PLANS = {
    "rales/pretraining": "radeval_lib.jobs.rales:job_list",
    "rales/fitting": "radeval_lib.jobs.rales:job_list",
    "ratescore/ner_training": "radeval_lib.jobs.ratescore:job_list",
    "summarization/graph_training": "radeval_lib.jobs.radgraph:job_list",
    "summarization/training": "radeval_lib.jobs.summarization:job_list",
    "rales/nlg_training": "radeval_lib.jobs.summarization:job_list",
}
"""A mapping from each notebook that runs jobs to a function ``(profile) -> list[Job]``, in build order."""


RULES = "rules"
"""Source of the role ``judge`` if the rule-based judge is used instead of a language model."""

METRICS = {
    "bertscore": "radeval_lib.metrics.bertscore",
    "bleu": "radeval_lib.metrics.bleu",
    "f1_radgraph": "radeval_lib.metrics.radgraph",
    "green": "radeval_lib.metrics.green",
    "green_rules": "radeval_lib.metrics.green",
    "green_rules_errors": "radeval_lib.metrics.green",
    "meteor": "radeval_lib.metrics.meteor",
    "observations": "radeval_lib.metrics.observations",
    "radcliq": "radeval_lib.metrics.radcliq",
    "radgraph_combined": "radeval_lib.metrics.radgraph",
    "ratescore": "radeval_lib.metrics.ratescore.metric",
    "rouge_1": "radeval_lib.metrics.rouge",
    "rouge_2": "radeval_lib.metrics.rouge",
    "rouge_l": "radeval_lib.metrics.rouge",
}
"""A mapping from metric to the module that implements it."""

FROZEN_METRICS = ("observations", "green_rules", "green_rules_errors")
"""The rule-based metrics; their rules were frozen before the metrics first scored a test set."""

STORED_SCORES = "radeval_lib.study.recordings"
"""The module that makes metrics return stored scores."""

LOADERS = {
    "data": "radeval_lib.data.roles",
    "models": "radeval_lib.models.derived",
    "metrics": "radeval_lib.metrics.by_name",
}
"""A mapping from the kind of input that a notebook declares to the module that loads it."""


def dataset_of(source: str) -> str:
    """Return the data set in a role's source: ``rexval`` for ``rexval/errors`` or ``recorded/rexval``."""
    return source.removeprefix(_STORED_SET_PREFIX).partition("/")[0]


def scale_of(source: str) -> str:
    """Return the rating scale in a role's source, ``errors`` for ``rexval/errors``; may be empty."""
    return source.removeprefix(_STORED_SET_PREFIX).partition("/")[2]


def is_recorded(source: str) -> bool:
    """Return whether a role's source is a stored set, such as ``recorded/radpref``, and not a data set."""
    return source.startswith(_STORED_SET_PREFIX)


def datasets_of(source: str) -> list[str]:
    """Return the names of the data sets that a role's source combines with ``+``."""
    return [dataset_of(part) for part in source.split("+")]


def module(name: str) -> Any:
    """Import and return the module with this name."""
    return import_module(name)


def find(name: str) -> Any:
    """Import and return the object called ``module:name``.

    Raises ModuleNotFoundError if there is no such module, and AttributeError if it has no such object.
    """
    home, _, attribute = name.partition(":")
    return getattr(import_module(home), attribute)


def import_on_use(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a ``__getattr__`` for a package that imports each public name from its module on first use.

    It raises AttributeError for any other name.

    Parameters
    ----------
    package : the name of the package, for error messages.
    homes : a mapping from module to the names that are imported from it, separated by spaces.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def find_name(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home_of[name]), name)

    return find_name
