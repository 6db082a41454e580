"""Bring-up: the command line, the supervisor's loop, run folders and reports."""
