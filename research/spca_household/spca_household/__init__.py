"""A household to tidy up: ALFWorld's rules, with rooms of our own making."""
