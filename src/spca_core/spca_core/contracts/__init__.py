"""The ports' contracts as test classes: each implementation's tests subclass the one of its port."""
