"""The page about an environment, for whoever writes skills, and for `docs/reference`."""

from __future__ import annotations

from spca_coder.language import described
from spca_core.ports.kit import Kit


def page(kit: Kit) -> str:
    """Return in Markdown what a model is told that a skill may use, and the planning domain."""
    parts = [f"# {kit.name.capitalize()}", f"{kit.about[0].upper()}{kit.about[1:]}.", "## Skills"]
    parts.append(described(kit.api).strip().replace(":\n- ", ":\n\n- "))  # a list in Markdown
    if domain := kit.domain():
        parts += ["## The planning domain", "Each action is carried out by the skill of its name."]
        parts.append(f"```lisp\n{domain.strip()}\n```")
    return "\n\n".join(parts) + "\n"
