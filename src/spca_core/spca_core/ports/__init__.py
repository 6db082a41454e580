"""The ports: small interfaces between the stages and the world.

Each has one contract test in `spca_testing.contracts`.
"""
