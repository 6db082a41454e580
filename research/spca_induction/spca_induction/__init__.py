"""Learns rules from transitions alone, without a language model, and plans in them: an extension."""
