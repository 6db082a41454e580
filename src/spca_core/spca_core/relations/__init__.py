"""The project's own relations, a file for each family: `ROWS` are its `spca_core.relation.Relation`s."""
