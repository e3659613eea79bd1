"""What stands in for a paper's own data and models in a run, and the evidence that this leaves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from radeval_lib import registry
from radeval_lib.data.manifests import load_manifest, names
from radeval_lib.models import naming
from radeval_lib.models.packaged import is_packaged
from radeval_lib.registry import ABSENT, SYNTHETIC
from radeval_lib.roles import filling
from radeval_lib.study.profiles import CELL_MODEL
from radeval_lib.study.runs import Basis
from radeval_lib.study.verdicts import OURS, PAPERS_OWN, STRENGTH

# How a sentence names a role.
_NOUNS = {
    "ner_model": "NER model",
    "ner_corpus": "annotated sentences",
    "summaries": "reports",
    "anatomy_summaries": "reports of the twelve pairs",
}


def basis(filled: Mapping[str, str], data: Mapping[str, str], models: Mapping[str, str]) -> Basis:
    """What an exhibit rests on that is rebuilt from data, perhaps with models.

    Parameters
    ----------
    filled : what fills each role of data and model in this run.
    data, models : what the paper used, by role.

    Returns
    -------
    Basis
        Its evidence is the weakest of the data's. Where a model is another than the paper's the instrument is
        ours, because the result then tells of that model.
    """
    evidence = max((filling.evidence(filled[role]) for role in data), key=STRENGTH.index)
    is_ours = evidence == SYNTHETIC or any(filled[role] != paper for role, paper in models.items())
    words = stand_in(filled, {**data, **models})
    return Basis(evidence, words, (*data, *models), OURS if is_ours else PAPERS_OWN)


def stand_in(filled: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    """What stands in for the paper's own data and models (``wanted``, by role); empty where nothing does."""
    return "; ".join(
        f"{_description(role, filled[role])}, not {title(paper)}"
        for role, paper in wanted.items()
        if filled[role] != paper
    )


def title(filler: str) -> str:
    """The name of what fills a role: a data set, or a model."""
    return _data_title(filler) or naming.title(filler)


def _data_title(filler: str) -> str:
    """The names of data sets as their manifests have them; empty where a filler is no data set."""
    if filler in (SYNTHETIC, ABSENT):
        return {SYNTHETIC: "the generator", ABSENT: "nothing"}[filler]
    known = [load_manifest(name).title.partition(":")[0] for name in datasets(filler)]
    return " and ".join(dict.fromkeys(known))


def datasets(filler: str) -> Iterable[str]:
    """The data sets of a filler."""
    known = names()
    return [name for name in registry.datasets_of(filler) if name in known]


def _description(role: str, filler: str) -> str:
    noun = _NOUNS.get(role, role.replace("_", " "))
    if filler.startswith(CELL_MODEL):
        return f"{noun} trained in this build"
    found = _data_title(filler)
    words = f"{noun} from {found}" if found else f"{noun} {naming.title(filler)}"
    # The paper takes the first token's vector; the packaged encoder was trained to be averaged.
    return f"{words} with mean pooling" if role == "encoder" and is_packaged(filler) else words
