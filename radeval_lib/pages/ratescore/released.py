"""What the paper itself used: the models of the released metric, and baselines that need more than Python."""

from __future__ import annotations

RATESCORE = "RaTEScore"

PAPER_MODELS = {"ner_model": "Angelakeke/RaTE-NER-Deberta", "encoder": "FremyCompany/BioLORD-2023-C"}
"""The models of the released metric, by role."""

WITHOUT_SCORER = {
    "SPICE": "a scene-graph parser (the Java package of its authors)",
    "CheXbert": "the weights of its network",
}
"""Baselines of Appendix A.6 (Zhao et al. 2024) that this library does not score, and what each needs."""
