"""Hand-written programs for the MiniGrid tasks: programs such as a language model is asked for."""
