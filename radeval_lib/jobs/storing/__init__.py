"""Storing of scores: what metrics say of public test sets, as numbers in the repository."""
