"""What NER models start from: a model as it is, without its training, or after it learned graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from radeval_lib.data.records import AnnotatedSentence
from radeval_lib.errors import ModelError
from radeval_lib.models.derived import trimmed, untrained
from radeval_lib.models.naming import AFTER_GRAPHS, UNTRAINED
from radeval_lib.models.randomness import seeded


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
    """Return folder or name of what a tagging scheme can be initialized from, made in ``folder`` if need be.

    A trimmed or untrained model that stands there already is taken; the training on graphs is done again.

    Parameters
    ----------
    name : a model's name, alone or after :data:`UNTRAINED` or :data:`AFTER_GRAPHS`.
    folder : where a model that has to be made is written.
    seed : of random weights, and of the training on graphs.
    graphs : annotated sentences for :data:`AFTER_GRAPHS`; their ``dev`` split chooses the epoch.
    texts : all that the model will read, to trim its vocabulary to their pieces; none leaves it whole.
    device : of that training.
    unfinished : where that training keeps its last checkpoint.

    Raises
    ------
    ModelError
        If the model cannot be loaded, or sentences with graphs are needed for training or dev and there are
        none.
    """
    where, read = Path(folder), list(texts)
    model = name.removeprefix(UNTRAINED).removeprefix(AFTER_GRAPHS)
    start = trimmed(model, read, where) if read else model
    if name.startswith(UNTRAINED):
        return untrained(start, where, seed)
    if not name.startswith(AFTER_GRAPHS):
        return start
    if not graphs:
        raise ModelError(f"{AFTER_GRAPHS}{start} needs sentences with graphs", "initial model")
    from radeval_lib.models.ner.iob import IobScheme
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
