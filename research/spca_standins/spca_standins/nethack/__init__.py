"""Fragments of programs for NetHack."""
