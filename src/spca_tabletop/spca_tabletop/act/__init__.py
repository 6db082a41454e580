"""Acting on the tabletop: what skills may ask of the robot, and the skills that come with it."""
