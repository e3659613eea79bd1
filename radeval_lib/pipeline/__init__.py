"""From jupytext sources to a rendered book: execution, staging and rendering, driven by the Snakefile."""
