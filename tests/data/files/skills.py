def tap(ctx, thing):
    """Tap it."""
    ctx.close()


def push(ctx, a):
    tap(ctx, a)
