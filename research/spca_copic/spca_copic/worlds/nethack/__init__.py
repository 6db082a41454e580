"""NetHack: drink, open a box, rise to the third level; by small skills."""
