"""robosuite (MIT): another author's arms, grippers, contacts, cameras and rules of success."""
