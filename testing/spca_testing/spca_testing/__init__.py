"""Shared parts of several packages' tests: contracts of the ports, scripted models, doubles."""
