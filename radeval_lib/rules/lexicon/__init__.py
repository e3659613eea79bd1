"""The lexicon that the reader, judge and generator share: names, places and significance of findings."""
