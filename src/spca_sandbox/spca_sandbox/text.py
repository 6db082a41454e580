"""Text from untrusted code, made harmless for terminals, logs and pages."""

from __future__ import annotations


def clean(text: object, limit: int) -> str:
    r"""At most `limit` printable characters of `text`; everything else is escaped.

    >>> clean("red\x1b[31m", 20)
    'red\\x1b[31m'
    """
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(text)[:limit])
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"
