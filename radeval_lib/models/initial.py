"""What NER models start from, and models whose heads are drawn at random, the same everywhere.

The latter show whether the code around models behaves as it did; they are of use for nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from radeval_lib.data.records import AnnotatedSentence
from radeval_lib.models.batching import seeded
from radeval_lib.models.derived import trimmed, untrained
from radeval_lib.models.graph.model import GraphModel, GraphSettings
from radeval_lib.models.names import AFTER_GRAPHS, PACKAGED, UNTRAINED
from radeval_lib.models.ner.schemes import IobScheme, scheme_of


def prepare(
    name: str,
    folder: str | Path,
    *,
    seed: int,
    graphs: Sequence[AnnotatedSentence] = (),
    texts: Iterable[str] = (),
    device: str = "auto",
    unfinished: Path | None = None,
) -> str:
    """Return the folder or name of what a tagging scheme can be initialized from, made in ``folder`` if need
    be.

    A trimmed or untrained model that is there already is taken; the training on graphs is done again.

    Parameters
    ----------
    name : a model's name, alone or after :data:`UNTRAINED` or :data:`AFTER_GRAPHS`.
    folder : for a model that has to be made.
    seed : of random weights, and of the training on graphs.
    graphs : annotated sentences for :data:`AFTER_GRAPHS`; their ``dev`` split chooses the epoch.
    texts : all that the model will read, to trim its vocabulary to their pieces; none leaves it whole.
    device : of that training.
    unfinished : where that training keeps its last checkpoint.
    """
    where, read = Path(folder), list(texts)
    model = name.removeprefix(UNTRAINED).removeprefix(AFTER_GRAPHS)
    start = trimmed(model, read, where) if read else model
    if name.startswith(UNTRAINED):
        return untrained(start, where, seed)
    if not name.startswith(AFTER_GRAPHS):
        return start
    from radeval_lib.models.training import TrainingSettings, train

    with seeded(seed):
        scheme = IobScheme(start, sorted({entity.label.upper() for row in graphs for entity in row.entities}))
    dev = [row for row in graphs if row.split == "dev"]
    settings = TrainingSettings(
        learning_rate=3e-4, head_learning_rate=2e-3, batch_size=8, epochs=2, seed=seed, device=device
    )
    train_set = [row for row in graphs if row.split == "train"]
    train(scheme, train_set, dev, settings, folder=unfinished)
    scheme.save(where)
    return str(where)


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
    """
    target = folder / role
    if role == "encoder":
        return PACKAGED
    if role == "ner_model":
        scheme_of("iob", PACKAGED).save(target)
    else:
        with seeded(0):
            GraphModel(PACKAGED, _GRAPH).save(target)
    return str(target)
