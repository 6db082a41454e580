"""For tests: a language model that is competent but fallible, played by a script."""
