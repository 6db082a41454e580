"""A toy world, a toy proposer and a skill: how a package extends spca."""
