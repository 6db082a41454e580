"""The tabletop's own part of planning: its PDDL domain, and a grammar that understands task texts without a model."""
