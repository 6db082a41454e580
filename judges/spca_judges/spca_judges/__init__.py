"""Judges: test sets and simulators that other people wrote, each in its own interpreter where need be."""
