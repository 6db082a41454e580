"""Real NetHack, played by small skills with path finding."""
