"""Deterministic critics of meaning: does a draft speak of the world as it is observed, and of the task as it was given?"""
