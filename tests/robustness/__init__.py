"""Planted leaks, edits with old times, and notebooks without end."""
