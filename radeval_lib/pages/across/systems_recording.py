"""Records a set of studies with the outputs of systems: see :mod:`radeval_lib.pages.across.system_sets`.

What was scored before, of the same texts by metrics that still behave so, is kept in the run's folder: a
recording that was stopped goes on.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib import atomic, checksums
from radeval_lib.errors import ParameterError
from radeval_lib.metrics.base import Metric
from radeval_lib.pages.across import coded_findings, score_variants, system_sets
from radeval_lib.pages.across.system_sets import METRICS
from radeval_lib.study import recordings
from radeval_lib.study.runs import Run

NAME = "iu_systems"
_DECIMALS = 5
_MODEL_FAMILIES = ("BERTScore", "F1-RadGraph", "RadCliQ", "RaTEScore")


def tables(
    run: Run, root: Path, columns: dict[str, Any], wordnet: str | None = None
) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """The set's table and its parts, scored by ``run``'s metrics.

    Parameters
    ----------
    columns : what is to be recorded of each metric's column, with its ``behaviour``.
    """
    texts = read(root)
    frame = system_sets.table(texts)
    for side in ("reference", "candidate"):
        frame[f"{side}_words"] = [len(text.split()) for text in texts[side]]
    expected, shuffles = [], []
    for name in METRICS:
        of = column(run, name, texts, columns[name]["behaviour"])
        frame[name] = of.values
        expected.append(of.expected)
        shuffles.append(of.shuffles)
    keys = expected[0][["study", "system"]]
    parts = {
        "expected": pd.concat([keys, *(one.drop(columns=["study", "system"]) for one in expected)], axis=1),
        "shuffles": pd.concat(shuffles, ignore_index=True),
        "variants": variants(run, texts, columns, wordnet),
        "released": system_sets.released(root),
        "codes": coded_findings.agreement(root, 2_000, np.random.default_rng(0)),
    }
    return frame, parts


def read(root: Path) -> pd.DataFrame:
    """The texts of the set.

    Raises
    ------
    ParameterError
        Where the data root does not hold it.
    """
    texts = system_sets.outputs(root)
    if texts.empty:
        raise ParameterError(f"no data root holds {NAME!r}", "record", f"See `radbook data status {NAME}`.")
    return texts


class Column(NamedTuple):
    """What a metric says of a set: scores of its rows, and both tables of :func:`system_sets.shuffles`."""

    values: NDArray[np.float64]
    expected: pd.DataFrame
    shuffles: pd.DataFrame


def column(run: Run, name: str, texts: pd.DataFrame, behaviour: str) -> Column:
    """A metric's column, computed once for texts and behaviour, so that a recording that was stopped goes
    on."""

    def compute() -> Column:
        made = metric(run, name)
        values = made.values(texts["reference"].tolist(), texts["candidate"].tolist())
        rng = np.random.default_rng([0, METRICS.index(name)])
        return Column(
            values.round(_DECIMALS), *system_sets.shuffles(texts, {name: made}, system_sets.FILES, rng)
        )

    found: Column = _kept(run, (name, behaviour), texts, compute)
    return found


def variants(
    run: Run, texts: pd.DataFrame, columns: dict[str, Any], wordnet: str | None = None
) -> pd.DataFrame:
    """Every variant's value of each file and of the constant."""
    systems = [*system_sets.FILES, system_sets.CONSTANT]
    models = {role: run.model(role) for role in ("encoder", "graph_model", "ner_model")}
    behaviour = [columns[name]["behaviour"] for name in ("bertscore", "f1_radgraph", "ratescore")]
    own = score_variants.computed(score_variants.all_variants(None, wordnet), texts, systems)
    parts = [own]
    for family in _MODEL_FAMILIES:
        wanted = [one for one in score_variants.of_models(models) if one.family == family]

        def compute(wanted: list[score_variants.Variant] = wanted) -> pd.DataFrame:
            return score_variants.computed(wanted, texts, systems)

        parts.append(_kept(run, (family, *behaviour), texts, compute))
    return pd.concat(parts, ignore_index=True)


def _kept(run: Run, key: tuple[str, ...], texts: pd.DataFrame, compute: Callable[[], Any]) -> Any:
    """What was computed before for the same key and texts, or now."""
    content = "\n".join([*key, *texts["system"], *texts["reference"], *texts["candidate"]])
    path = run.output_dir / NAME / f"{key[0]}-{checksums.of_text(content)[:16]}.pkl"
    if not path.is_file():
        found = compute()
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic.new_file(path) as new:
            new.write_bytes(pickle.dumps(found))
    return pickle.loads(path.read_bytes())


def metric(run: Run, name: str) -> Metric:
    """A metric as it is now, whatever was recorded of it."""
    made = run.metric(name)
    found: Metric = getattr(made, "_metric", made)
    return found


def description(run: Run) -> dict[str, Any]:
    """With what each metric's column is made, without date and commit."""
    made = {name: metric(run, name) for name in METRICS}
    return {
        name: {
            "settings": recordings.settings_of(one),
            "behaviour": recordings.behaviour(one),
            "signature": str(one.signature()),
        }
        for name, one in made.items()
    }
