"""Learns rules from transitions alone, without a language model."""
