"""What a metric does to committed outputs of real systems: constants, outputs given to other studies, studies
with findings. Nobody judged these outputs, and a file is not a model."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.data.restricted import reveal
from radeval_lib.stats.inputs import group_numbers
from radeval_lib.stats.resampling import share_interval

FILES = ("MLRG", "MoERad", "CvT2DistilGPT2", "AAMN")
CONSTANT = "one text for all"
"""The commonest findings section of Open-i outside the test split and its texts."""
SHUFFLED = ("MLRG", "MoERad", "CvT2DistilGPT2")
"""Files with more than one text, whose outputs are also given to other studies."""
_SEED = 0  # of which study's output another gets: the same for every card
Row = tuple[str, str, str, int, str]


def rows(root: Path) -> list[Row]:
    """Part, reference, candidate, the study's place and the file of every pair; a file followed by
    ``, shuffled`` has the outputs of other studies. Empty where the data root does not hold the files."""
    from radeval_lib.data import iu_systems, openi, readers

    held = readers.load("iu_systems", root)
    if not held:
        return []
    texts: dict[str, dict[str, str]] = {}
    for record in held:
        texts.setdefault(record.system, {})[record.id] = reveal(record.text)
    studies = list(texts[iu_systems.REFERENCE])
    outputs = {name: [texts[name][study] for study in studies] for name in FILES}
    others = openi.to_develop_on(readers.load("openi", root), set(studies))
    common = Counter(text for report in others if (text := reveal(report.findings).strip()))
    if common:
        outputs[CONSTANT] = [min(common, key=lambda text: (-common[text], text))] * len(studies)
    for name in SHUFFLED:
        outputs[shuffled(name)] = [outputs[name][place] for place in _dealt(len(studies))]
    references = [texts[iu_systems.REFERENCE][study] for study in studies]
    return [
        ("systems", reference, output, place, name)
        for name, of_studies in outputs.items()
        for place, (reference, output) in enumerate(zip(references, of_studies, strict=True))
    ]


def shuffled(name: str) -> str:
    """A file whose outputs were given to other studies."""
    return f"{name}, shuffled"


def _dealt(count: int) -> NDArray[np.intp]:
    """Whose output each study gets: never its own, round a random circle of all."""
    circle = np.random.default_rng(_SEED).permutation(count)
    given = np.empty(count, dtype=np.intp)
    given[circle] = np.roll(circle, 1)
    return given


def strata(root: Path) -> dict[str, list[bool]]:
    """Which studies people coded with a finding, and which as normal; empty without the codes."""
    from radeval_lib.data import iu_systems, readers

    codes = {one.id: one for one in readers.load("openi_labels", root)}
    studies = [one.id for one in readers.load("iu_systems", root) if one.system == iu_systems.REFERENCE]
    if not codes:
        return {}
    return {
        "finding": [bool(codes[study].codes) for study in studies],
        "normal": [codes[study].normal for study in studies],
    }


def effects(
    frame: pd.DataFrame,
    values: NDArray[np.float64],
    kinds: dict[str, list[bool]],
    *,
    sign: int,
    resamples: int,
    seed: int,
) -> dict[str, Any]:
    """Means of every file over all studies and by kind, what it has more than one text for all, and what
    it loses when its outputs are given to other studies.

    Parameters
    ----------
    frame, values : the pairs of a card and their oriented scores, none missing; ``sign`` turns them back.
    kinds : by :func:`strata`.

    Returns
    -------
    dict
        ``studies``; ``kinds``: how many studies of each; ``files``: for each its ``texts`` (different ones)
        and ``means`` in the metric's unit, ``above_constant`` and ``lost_if_shuffled`` (higher is better), by
        kind of study, each with its interval from drawing different references.
    """
    part = frame[frame["part"] == "systems"]
    wide = pd.Series(values[part.index], [part["row"], part["kind"]]).unstack()
    references = part[part["kind"] == FILES[0]].set_index("row")["reference"]
    groups = group_numbers("references", references.loc[wide.index], len(wide))
    masks = {"all": np.ones(len(wide), dtype=bool)}
    masks |= {kind: np.array(members) for kind, members in kinds.items()}
    texts = part.groupby("kind")["candidate"].nunique()

    def means(members: pd.Series, flip: int) -> dict[str, Any]:
        """Means by kind of study, with intervals; ``flip`` is -1 where scores are to be turned back."""
        by_kind = {}
        for kind, mask in masks.items():
            rng = np.random.default_rng(seed)
            ends = share_interval(
                flip * members.to_numpy()[mask], groups[mask].tolist(), resamples=resamples, rng=rng
            )
            by_kind[kind] = dict(zip(("value", "low", "high"), ends, strict=True))
        return by_kind

    files = []
    for name in (*FILES, CONSTANT):
        if name not in wide:
            continue
        row: dict[str, Any] = {"file": name, "texts": int(texts[name]), "means": means(wide[name], sign)}
        known = CONSTANT in wide and name != CONSTANT
        row["above_constant"] = means(wide[name] - wide[CONSTANT], 1) if known else None
        dealt = shuffled(name)
        row["lost_if_shuffled"] = means(wide[name] - wide[dealt], 1) if dealt in wide else None
        files.append(row)
    counts = {kind: int(mask.sum()) for kind, mask in masks.items()}
    return {"studies": len(wide), "references": int(groups.max()) + 1, "kinds": counts, "files": files}
