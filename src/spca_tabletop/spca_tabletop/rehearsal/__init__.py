"""How the tabletop is rehearsed: the twin of a scene, and what its contacts say."""
