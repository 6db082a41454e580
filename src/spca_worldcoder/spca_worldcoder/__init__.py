"""WorldCoder: an agent that learns the rules of its world as a program and plans in it."""
