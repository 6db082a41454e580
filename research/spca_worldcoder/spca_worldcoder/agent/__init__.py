"""The agent that acts, learns and plans."""
