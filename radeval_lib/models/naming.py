"""Names of derived models, and how a page names a model."""

from __future__ import annotations

from radeval_lib.models.packaged import is_packaged, layers_of
from radeval_lib.models.pretrained import ADDRESSES, RADGRAPH
from radeval_lib.registry import RULES

UNTRAINED = "untrained:"
"""Before a model's name: its architecture and tokenizer with weights drawn at random."""

AFTER_GRAPHS = "after_graphs:"
"""Before a model's name: the model after training on the entities of a corpus of graphs (RadGraph's kind), as
Medical-NER of Zhao et al. 2024, Table 6, is DeBERTa_v3 after training on another corpus of entities."""


def title(name: str) -> str:
    """Return a model's name as a page shows it."""
    for prefix, words in ((UNTRAINED, "{}, untrained"), (AFTER_GRAPHS, "{} after RadGraph-like entities")):
        if name.startswith(prefix):
            return words.format(title(name.removeprefix(prefix)))
    if name == RULES:
        return "rules, no language model"
    if name.startswith(ADDRESSES):  # the address is nobody's business
        return name.partition("#")[2] or "a model behind an endpoint"
    if is_packaged(name):
        layers = layers_of(name)
        return f"MiniLM, {layers} layers" if layers else "MiniLM"
    return name.removeprefix(RADGRAPH)
