"""Fact counting's pages: rates beside counts, and simulated counters."""
