"""The GRASP benchmark: collect energy on an 11×11 grid and bring it home within twenty actions."""
