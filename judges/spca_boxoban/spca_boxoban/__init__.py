"""Boxoban (DeepMind, Apache-2.0): levels of Sokoban, played by rules that were learned elsewhere."""
