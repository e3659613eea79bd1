"""Summarizers, which write the impression from a report's findings."""
