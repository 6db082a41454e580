"""Benches that measure the stack: rehearsal, PDDL drafts, MiniGrid beside references."""
