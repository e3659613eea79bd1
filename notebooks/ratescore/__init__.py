"""Analyses of the pages on RaTEScore."""

RATESCORE = "RaTEScore"
"""The metric's name, as the paper's tables and the library have it."""

PAPER_MODELS = {"ner_model": "Angelakeke/RaTE-NER-Deberta", "encoder": "FremyCompany/BioLORD-2023-C"}
"""The models of the released metric, by role."""
