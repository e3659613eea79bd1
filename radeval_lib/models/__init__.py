"""Encoders, NER models, graph models, summarizers and judges, and code to train them.

Notebooks import the names below from here. The module of a name is imported when the name is first used.
"""

from radeval_lib.registry import import_on_use

_HOMES = {
    "radeval_lib.models.encoders": "Encoder",
    "radeval_lib.models.graph_model": "make_graph_model tally_matches split_into_units",
    "radeval_lib.rules.judge.base": "write_prompt",
    "radeval_lib.models.batching": "pick_device",
    "radeval_lib.models.masked_language": "MaskedLanguageModel",
    "radeval_lib.models.catalog": "AFTER_GRAPHS format_title",
    "radeval_lib.models.derived": "prepare_start",
    "radeval_lib.models.ner_models": "make_scheme",
    "radeval_lib.models.training": "TrainingSettings train",
}
__getattr__ = import_on_use(__name__, _HOMES)
