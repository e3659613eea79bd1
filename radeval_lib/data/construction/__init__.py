"""Construction of the data sets that users must build themselves from MIMIC-III."""
