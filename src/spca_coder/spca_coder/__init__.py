"""The skill library as source text: what it offers, what a plan lacks, and how drafts of code get into it."""
