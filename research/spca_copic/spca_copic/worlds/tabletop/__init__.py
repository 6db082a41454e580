"""The table with the arm itself: physics, perception, sandboxed skills and the referee, in one process."""
