"""Rehearsal of the tabletop: the twin of a scene, and what its contacts say."""
