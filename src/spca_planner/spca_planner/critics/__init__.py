"""Deterministic critics of meaning: a draft speaks of the world as observed, and of the task as given."""
