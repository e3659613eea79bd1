"""Analyses of the pages on RaTEScore."""

# The name of the metric in the paper's tables and in the library.
RATESCORE = "RaTEScore"

# A mapping from each role to the released metric's model.
PAPER_MODELS = {"ner_model": "Angelakeke/RaTE-NER-Deberta", "encoder": "FremyCompany/BioLORD-2023-C"}
