"""MiniGrid levels as tasks for programs that plan."""
