"""GREEN's pages: its printed tables, radiologists' counts and marks, judges, and the summary of a system."""
