"""MiniGrid and BabyAI levels, partially seen; actions are the built-in skills."""
