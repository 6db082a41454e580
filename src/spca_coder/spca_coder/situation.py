"""The task as a coder sees it: text from outside, shortened and made harmless."""

from __future__ import annotations

from spca_core.plan import CodeRequest

_MARKS = str.maketrans({"`": "'", "<": "(", ">": ")"})  # they could end the place of a text in a prompt
_LONGEST_LINE = 300
_SENTENCES = 20
_MAIN = 3
"""The first sentences of a scene whose facts say the rest: what is there, and what rests on what."""
_STEPS = 40


def situation(request: CodeRequest) -> str:
    """Task, scene and plan in plain lines, bounded in length. Nothing in it is an instruction."""
    steps = request.plan.steps
    lines = [f"Task: {one_line(request.task.text)}", "Scene:"]
    seen = request.observation
    said = seen.sentences[: _MAIN if seen.restated else _SENTENCES]
    lines += [f"- {one_line(s)}" for s in dict.fromkeys((*said, *seen.remarks[:_SENTENCES]))]
    lines.append("Plan:")
    lines += [f"{i + 1}. {step}" for i, step in enumerate(steps[:_STEPS])]
    if len(steps) > _STEPS:
        lines.append(f"and {len(steps) - _STEPS} more steps")
    return "\n".join(lines)


def one_line(text: str, limit: int = _LONGEST_LINE) -> str:
    r"""The text as one printable line of at most `limit` characters.

    >>> one_line("a\n  b`" + chr(27))
    "a b'"
    """
    words = " ".join("".join(c if c.isprintable() or c.isspace() else "" for c in text).split())
    words = words.translate(_MARKS)
    return words if len(words) <= limit else words[: limit - 1] + "…"
