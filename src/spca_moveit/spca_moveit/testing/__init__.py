"""Planning backends for tests: MoveIt's own code path on a stand-in for `moveit_py`, and backends that misbehave."""
