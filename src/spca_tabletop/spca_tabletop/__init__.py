"""The tabletop, complete: skills, task language, planning domain, presets, environments."""
