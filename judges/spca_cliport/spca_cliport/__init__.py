"""CLIPort (Apache-2.0): another author's pick-and-place tasks, one sentence a step, with its own score."""
