"""ALFWorld's rules: fragments of programs for CoPiC, and rooms whose rules are to be learned."""
