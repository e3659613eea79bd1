"""Judges: what reads a reference and a candidate report and writes an analysis in GREEN's layout."""
