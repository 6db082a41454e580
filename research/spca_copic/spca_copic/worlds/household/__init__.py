"""A household: ALFWorld's rules, rooms drawn by seed, and habits that nobody tells."""
