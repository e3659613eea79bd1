"""The entity types of RaTE-NER (Zhao et al. 2024, Section 2.2)."""

from __future__ import annotations

RATE_TYPES = ("Anatomy", "Abnormality", "Disease", "Non-Abnormality", "Non-Disease")
"""As annotations have them."""

TYPES = tuple(name.upper() for name in RATE_TYPES)
"""In upper case, as the released model has them."""
