"""Plan: proposers draft PDDL, critics judge it, and a bounded loop goes on until a plan is proven valid."""
