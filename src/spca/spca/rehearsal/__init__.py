"""Rehearsal: plans are tried in a twin of what was observed, and judged without a model."""
