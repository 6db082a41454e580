"""Child processes and the messages that pass between them and their owner.

`child` starts, ends and explains any child; `channel` and `wire` are the two ends of one format: a 4-byte
big-endian length, then a JSON object with an operation `op`; `service` is the bounded worker on it, for the
solver, MoveIt and the sandbox. The child's side, `wire`, needs nothing but the standard library.
"""
