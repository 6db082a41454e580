"""Let what is held lean on the edge of a plate."""


def place_on_edge(ctx, cube, plate):
    """Let the held cube go over a plate's rim, so that it leans on the plate and stands on the table."""
    _put(ctx, ctx.spots_at(f"on_edge__{plate}"), f"no free place at the edge of {plate}")
    ctx.look()
