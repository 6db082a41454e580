"""Worlds that planning programs can act in; others are found through the entry points `spca.plan_worlds`."""
