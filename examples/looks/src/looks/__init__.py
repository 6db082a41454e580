"""A bench: how far from the truth a detector sees the things on tables that are drawn by seed."""
