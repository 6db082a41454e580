"""The user's task: the only text of a level that perception and planning may see."""

from __future__ import annotations

from typing import Literal

from spca_core.model import Record

Judge = Literal["referee", "look"]
"""Judge of whether a task is done: the referee, from contacts, or a look at the end.

The look compares what is seen with the goal as it was understood.
"""


class Task(Record):
    """A task text and the group whose planning domain it shares. No conditions: those are the referee's."""

    group: str
    id: str
    title: str
    description: str
    judge: Judge = "referee"
    conversation: tuple[str, ...] = ()
    """Conversation before the task, the oldest line first: the text may refer to it."""

    @property
    def text(self) -> str:
        """Title and description as one text; a title with which the description begins is left out."""
        title, about = self.title.strip().rstrip("."), self.description.strip()
        return about if about.lower().startswith(title.lower()) else f"{title}. {about}".strip()
