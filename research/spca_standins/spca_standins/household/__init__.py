"""Fragments of programs for ALFWorld's rules."""
