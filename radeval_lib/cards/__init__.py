"""A card for any metric: what a test can tell, agreement with people, what it sees, how it behaves."""
