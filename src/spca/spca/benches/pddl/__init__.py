"""`spca bench pddl`: how well a language model turns plain descriptions of classical planning domains into PDDL."""
