"""Entities and relations found in text: a joint model, its training, its counting, and extraction."""
