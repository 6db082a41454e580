"""Markers of a run for RViz and Foxglove: detected objects, plan and step, contacts, verdict."""
