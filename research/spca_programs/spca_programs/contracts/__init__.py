"""The contract test of worlds; every implementation runs it."""
