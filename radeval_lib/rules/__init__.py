"""Reads reports by rules, judges a candidate against a reference, and generates reports with gold.

``report_text`` splits a text into sections, statements and words. ``reader`` finds in them what a report
states, denies or doubts. ``judge`` compares two readings. ``generator`` writes reports with a known meaning.
Reader, judge and generator share ``lexicon``.
"""
