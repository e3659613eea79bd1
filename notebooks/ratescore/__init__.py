"""Analyses of the pages on RaTEScore."""

RATESCORE = "RaTEScore"
"""The metric's name in the paper's tables and in the library."""

PAPER_MODELS = {"ner_model": "Angelakeke/RaTE-NER-Deberta", "encoder": "FremyCompany/BioLORD-2023-C"}
"""The models of the released metric, by role."""
