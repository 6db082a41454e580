"""Messages in the form of the OpenAI API."""

from __future__ import annotations

import base64

from spca_core.ports.chat import Message


def system(text: str) -> Message:
    """Return the message that tells the model what it is and how it shall answer."""
    return {"role": "system", "content": text}


def user(text: str, *png: bytes) -> Message:
    """A question, with images (PNG files) where it has any."""
    if not png:
        return {"role": "user", "content": text}
    return {"role": "user", "content": [{"type": "text", "text": text}, *map(_image, png)]}


def _image(png: bytes) -> dict[str, object]:
    url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}
