"""Act: runs the steps of a plan, and untrusted skills and programs, in a process of their own.

The boundary is the kernel's, not Python's.
"""
