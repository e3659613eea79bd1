"""The pages on MIMIC-RRS: the data set, F1-RadGraph, and a comparison of summarizers."""
