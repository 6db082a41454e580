"""Interface of the worlds that planning programs act in."""
