"""Plugins: the tabletop for Gymnasium, an MCP server, LeRobot data sets, and hand–eye calibration."""
