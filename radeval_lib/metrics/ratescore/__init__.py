"""RaTEScore (Zhao et al. 2024): entities, their synonyms, their types, and a weighted F1 of the matches."""

from radeval_lib.registry import import_on_use

_HOMES = {
    "radeval_lib.categories": "TYPES",
    "radeval_lib.metrics.ratescore.formula": "Direction Explanation Match NamedEntity Scorer cosines PRESETS "
    "Options Weights load options",
    "radeval_lib.metrics.ratescore.metric": "RaTEScore",
    "radeval_lib.metrics.ratescore.sentences": "split",
}
__getattr__ = import_on_use(__name__, _HOMES)
