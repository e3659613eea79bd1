"""Models by role: encoders, entity taggers of both schemes, and their training."""
