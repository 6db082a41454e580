"""Language models on the same levels and tables."""
