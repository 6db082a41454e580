"""The skills of the corridor."""


def walk(ctx, from_, to):
    """Go from a cell to its neighbour."""
    if ctx.where() != from_:
        raise RuntimeError(f"the agent is not in {from_}")
    ctx.step(to)
