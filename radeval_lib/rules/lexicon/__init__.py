"""The lexicon that reader, judge and generator share: names, places and significance of findings."""
