"""The user's task: the only text of a level that perception and planning may see."""

from __future__ import annotations

from spca_core.model import Record


class Task(Record):
    """A task text and the group whose planning domain it shares. No conditions: those are the referee's."""

    group: str
    id: str
    title: str
    description: str

    @property
    def text(self) -> str:
        """Title and description as one text."""
        return f"{self.title.rstrip('.')}. {self.description}".strip()
