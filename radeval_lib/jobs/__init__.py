"""Job lists of trainings and searches with their settings, and what pages and the storing of scores share."""
