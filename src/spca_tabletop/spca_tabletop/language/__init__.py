"""What turns task text into its meaning: lexicon, grammar, interpreter."""
