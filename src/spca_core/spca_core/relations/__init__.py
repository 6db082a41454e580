"""The project's own relations, a file for each family: `ROWS` are its `spca_core.relation.Relation`s."""

EDGE = "(?:outer )?(?:edge|rim|border|lip|brim)"
"""Pattern of words for the edge of something, for rows that are about one."""
