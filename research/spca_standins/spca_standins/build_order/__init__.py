"""Build orders of a real-time strategy game: minerals, gas, supply, build times and a tree of technology."""
