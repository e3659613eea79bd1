"""Names, synonyms, places and significance of findings: what reader, rules judge and generator share."""
