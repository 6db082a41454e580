"""Sense: RGB-D frames → a typed scene. Knows classes of objects, never where they are."""
