"""What the pages on summarization share: the corpora, the systems, their plan of cells, tallies and
drawings."""
