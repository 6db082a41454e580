"""Campaigns: many levels on many tables, in parallel, resumable, with one page that proves what came of it."""
