"""Deterministic critics: a draft must match the observed world and the given task."""
