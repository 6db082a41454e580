"""For tests: a competent but fallible language model, played by a script."""
