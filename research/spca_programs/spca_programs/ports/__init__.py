"""Interfaces of planning programs, their worlds, and what chooses among programs."""
