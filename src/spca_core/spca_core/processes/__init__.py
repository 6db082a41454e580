"""Child processes and the messages that pass between them and their owner.

`child` starts, ends and explains any child; its `Channel` and `wire` are the two ends of one format: a 4-byte
big-endian length, then a JSON object with an operation `op`; `service` is the bounded worker on it, for the
solver, MoveIt and the sandbox. The child's side, `wire`, needs nothing but the standard library.
"""

PATIENCE = 8.0
"""Seconds of wall time that may pass for each second of processor time that something is allowed.

What comes of a limited search should not depend on what else the machine does; wall time is the last resort,
against what waits and does not compute.
"""
