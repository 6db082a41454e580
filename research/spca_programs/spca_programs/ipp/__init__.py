"""Iterative programmatic planning.

A language model writes one program that plans for every instance of a task.
"""
