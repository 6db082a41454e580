"""The Plan stage: proposers draft PDDL, critics judge it, in a bounded loop until a plan is proven valid."""
