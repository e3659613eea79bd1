"""Fact counting's pages: the annotation task, rates beside counts, and simulated counters."""
