"""Job lists and their settings."""
