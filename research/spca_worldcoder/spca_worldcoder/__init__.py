"""WorldCoder: an agent that learns the rules of its world as a program and plans in it."""

OPTIONS = "learn.json"
"""The file that makes a folder a learning run's."""
