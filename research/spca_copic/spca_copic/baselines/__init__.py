"""Ways to use a language model at test time, which CoPiC is compared with."""
