"""Grid worlds: MiniGrid and BabyAI as an environment of the loop, GRASP, and planning by programs (IPP)."""
