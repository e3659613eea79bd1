"""RaLEs: its tasks, the fitting of models to them, and the reliability of its leaderboard's order."""
