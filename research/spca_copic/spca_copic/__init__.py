"""CoPiC: planning programs that propose, and a selector that learns which proposal to follow."""
