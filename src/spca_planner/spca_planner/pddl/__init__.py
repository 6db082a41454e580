"""PDDL as text: a reader that knows its line numbers, and checks that answer in one sentence."""
