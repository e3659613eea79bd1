"""A card for any metric: agreement with people, the power of such a test, detected edits, behaviour."""
