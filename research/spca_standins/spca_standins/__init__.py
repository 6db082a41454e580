"""Stand-ins for what the papers of CoPiC and WorldCoder have: models, a game, and worlds to learn."""
