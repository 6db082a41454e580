"""`spca bench pddl`: how well a language model formalises described planning domains in PDDL."""
