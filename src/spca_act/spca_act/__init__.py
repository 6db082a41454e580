"""Act: runs the steps of a plan with skills, in a sandbox, against an environment's ctx."""
