"""Rules as PDDL, so that a classical planner can search in them."""
