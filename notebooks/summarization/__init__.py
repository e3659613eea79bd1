"""What the pages on summarization share: the corpora, the systems, their job list, tallies and figures."""
