"""What a run looks like, as markers for RViz and Foxglove: detected objects, plan and step, contacts, verdict."""
