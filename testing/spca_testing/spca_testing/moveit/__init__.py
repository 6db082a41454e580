"""Planning backends for tests: MoveIt's code path on a stand-in for `moveit_py`, and faulty ones."""
