"""Benchmarks: one engine, the benches of whole runs, and their pages."""
