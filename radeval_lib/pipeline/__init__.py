"""Execution of notebooks, and staging and rendering of the book, driven by the Snakefile."""
