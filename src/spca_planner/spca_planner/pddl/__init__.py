"""PDDL as text: a reader that keeps line numbers, and checks that answer in one sentence."""
