"""The models of the released RaTEScore, and a warning where a run has others."""

from __future__ import annotations

from radeval_lib.models.packaged import is_packaged
from radeval_lib.study.runs import Run

RATESCORE = "RaTEScore"
"""The metric's name, as the paper's tables and the library have it."""

PAPER_MODELS = {"ner_model": "Angelakeke/RaTE-NER-Deberta", "encoder": "FremyCompany/BioLORD-2023-C"}
"""The models of the released metric, by role."""


def other_models(run: Run) -> str:
    """Return a sentence that warns of models other than the paper's; empty where a run has the paper's."""
    if all(run.profile.models[role] == paper for role, paper in PAPER_MODELS.items()):
        return ""
    pooled = ", and with the mean of that encoder's vectors instead of the first"
    message = "RaTEScore runs here with an NER model and an encoder other than the paper's"
    return f"{message}{pooled if is_packaged(run.profile.models['encoder']) else ''}."
