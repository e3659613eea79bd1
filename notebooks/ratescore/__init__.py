"""Analyses of the pages on RaTEScore."""

# The metric's name in the paper's tables and in the library.
RATESCORE = "RaTEScore"

# The models of the released metric, by role.
PAPER_MODELS = {"ner_model": "Angelakeke/RaTE-NER-Deberta", "encoder": "FremyCompany/BioLORD-2023-C"}
