"""Scripted language models behind a server on loopback that speaks the real protocol."""
