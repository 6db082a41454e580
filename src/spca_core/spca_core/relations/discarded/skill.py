"""Drop what is held off the table."""


def discard(ctx, cube):
    """Drop the held cube on the ground next to the table."""
    _put(ctx, ctx.spots_at("discarded"), "no way to reach beyond the table")
