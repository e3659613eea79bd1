"""Job lists of trainings and searches, their settings, and code that several pages share."""
