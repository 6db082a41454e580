"""A household to tidy up: ALFWorld's engine and rules, with rooms of our own making."""
