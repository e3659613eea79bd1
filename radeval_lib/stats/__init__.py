"""Statistics of the study: one module per topic."""
