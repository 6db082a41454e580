"""Programs written by a language model."""
