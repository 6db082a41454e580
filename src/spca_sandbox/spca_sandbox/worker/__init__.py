"""The code that runs inside the sandboxed process.

Standard library only; never imported by the host's code.
"""
