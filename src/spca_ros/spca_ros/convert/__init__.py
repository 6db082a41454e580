"""Records from and to messages.

`records` covers all that mirror each other by field name, the others the rest.
"""
