"""Reads reports by rules, judges a candidate against a reference, and generates annotated reports.

``report_text`` splits a text into sections, statements and words. ``reader`` finds the findings that a report
states, denies or doubts. ``judge`` compares the readings of two reports. ``generator`` writes reports whose
meaning is known. The reader, judge and generator share the ``lexicon``.
"""
