"""Models whose heads are drawn at random and not trained, the same everywhere.

They are of use to see whether the code around models behaves as it did, and for nothing else.
"""

from __future__ import annotations

from pathlib import Path

from radeval_lib.errors import ModelError
from radeval_lib.models.graph.model import GraphModel
from radeval_lib.models.graph.network import GraphSettings
from radeval_lib.models.ner.training import scheme_of
from radeval_lib.models.packaged import PACKAGED
from radeval_lib.models.randomness import seeded

_GRAPH = GraphSettings(
    entity_types=("ANAT-DP", "OBS-DA", "OBS-DP", "OBS-U"),
    relation_types=("located_at", "modify", "suggestive_of"),
)


def drawn(role: str, folder: Path) -> str:
    """Return a model of a role: the packaged encoder, or on it a head that is drawn at random, made in
    ``folder``.

    Parameters
    ----------
    role : ``encoder``, ``ner_model`` or ``graph_model``.

    Raises
    ------
    ModelError
        For another role.
    """
    target = folder / role
    if role == "encoder":
        return PACKAGED
    if role == "ner_model":
        scheme_of("iob", PACKAGED).save(target)
    elif role == "graph_model":
        with seeded(0):
            GraphModel(PACKAGED, _GRAPH).save(target)
    else:
        raise ModelError(f"no model of the role {role!r} is drawn at random", role)
    return str(target)
