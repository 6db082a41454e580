"""MiniGrid and BabyAI as an environment of Sense → Plan → Code → Act."""
