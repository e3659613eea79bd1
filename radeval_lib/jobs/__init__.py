"""Job lists of training runs and searches, their settings, and code that several pages share."""
