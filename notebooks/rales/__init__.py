"""RaLEs: its understanding tasks, how models are fitted to them, and what a leaderboard's order is worth."""
