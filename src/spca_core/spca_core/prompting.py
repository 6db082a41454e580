"""What is said to a model and read in its answer: prompts from templates, messages, fenced blocks."""

from __future__ import annotations

import base64
import json
import re
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from spca_core.ports.chat import Message


@cache
def prompts(package: str) -> Environment:
    """Return the templates in a package's folder `prompts`, which may mark data as `quoted`."""
    made = Environment(
        loader=PackageLoader(package, "prompts"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # data as JSON, in which no text can close the block that marks it as data
    made.filters["quoted"] = lambda value: json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
    return made


def system(text: str) -> Message:
    """Return the message that tells the model what it is and how it shall answer."""
    return {"role": "system", "content": text}


def user(text: str, *png: bytes) -> Message:
    """Return the message that asks the model something, with images (PNG files) where there are any."""
    if not png:
        return {"role": "user", "content": text}
    return {"role": "user", "content": [{"type": "text", "text": text}, *map(_image, png)]}


def _image(png: bytes) -> dict[str, object]:
    url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


_FENCE = re.compile(r"[ \t]*(`{3,8}|~{3,8})[ \t]*([\w+-]*)")
PYTHON = ("python", "py", "python3")


def fenced(text: str, languages: tuple[str, ...] = ()) -> list[str]:
    r"""Return the blocks in one of these languages or in none; all blocks when no languages are given.

    >>> fenced("Here it is:\n```python\ndef solve(): return []\n```\nDone.", PYTHON)
    ['def solve(): return []\n']
    """
    lines = text.replace("\r\n", "\n").split("\n")
    found, unclosed, at = [], set[str](), 0
    while at < len(lines):
        opened, at = _FENCE.match(lines[at]), at + 1
        if opened and opened[1] not in unclosed:  # each is looked for to the end once: an answer may be long
            end = next((k for k in range(at, len(lines)) if lines[k].rstrip(" \t").endswith(opened[1])), 0)
            if not end:
                unclosed.add(opened[1])
            elif not languages or opened[2].lower() in ("", *languages):
                last = lines[end].rstrip(" \t").removesuffix(opened[1]).rstrip(" \t")
                found.append("\n".join([*lines[at:end], last]))
            at = max(at, end + 1)
    return found
