"""The pages on MIMIC-RRS: its data set, F1-RadGraph, and the comparison of summarizers."""
