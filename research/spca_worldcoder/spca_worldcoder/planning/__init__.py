"""Plans in a learned world model."""
