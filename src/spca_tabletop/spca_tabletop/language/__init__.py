"""Translation of task text into its meaning: lexicon, grammar, interpreter."""
