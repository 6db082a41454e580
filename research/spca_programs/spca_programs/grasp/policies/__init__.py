"""Hand-written GRASP policies: programs such as a language model is asked for."""
