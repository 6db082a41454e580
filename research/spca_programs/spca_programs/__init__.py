"""Programs that plan every instance of a task, and the tasks they are written for."""
