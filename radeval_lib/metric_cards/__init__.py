"""A card for any metric: what a test can tell, agreement with people, detected edits, behaviour."""
