"""Spoiled input, planted leaks, hostile names; ``python -m tests.robustness`` does it all."""
