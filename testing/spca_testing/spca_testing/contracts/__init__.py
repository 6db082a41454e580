"""The ports' contracts as test classes, subclassed by the tests of every implementation."""
