"""Bring-up: the command line, the supervisor's loop, run folders and reports."""

__version__ = "0.1.0"
