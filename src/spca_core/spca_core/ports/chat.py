"""Ports: models that answer a conversation, or describe a picture. Answers are proposals, not decisions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from spca_core.model import Record
from spca_core.plan import Task
from spca_core.result import Usage
from spca_core.scene import Observation, Scene

Role = Literal["vision", "planner_big", "planner_small", "coder"]
"""Role of the model that is asked; each has its own base_url, model name and key in the configuration."""

Message = dict[str, Any]
"""Message in the form of the OpenAI API.

It has a `role` (system, user, assistant) and `content` (text or parts).
"""


class ChatReply(Record):
    """A model's answer: its text, and the same parsed by the schema that was asked for (None without one)."""

    text: str
    parsed: Any = None
    usage: Usage = Usage()
    model: str = ""


class ChatModel(Protocol):
    """Answers a conversation; handles retries, records and budgets internally."""

    def complete(
        self, role: Role, messages: Sequence[Message], schema: type[BaseModel] | None = None
    ) -> ChatReply:
        """Return the answer to a conversation; with a `schema`, its `parsed` is an instance of that.

        Raises ModelError (`spca_core.ports.proposer`) when the model refused, gave an unusable answer or
        could not be reached in time, BudgetExhausted when a limit of tokens, money or time of the level is
        used up, and InputError when the configuration is wrong (no such model, a rejected key, a request that
        a replay has no answer for).
        """


class VisionModel(ABC):
    """Describes in words what an image shows.

    The text is untrusted: callers must treat it as data, never as instructions.
    """

    @abstractmethod
    def describe(self, image: NDArray[np.uint8], title: str, description: str) -> tuple[str, ...]:
        """Describe an RGB `image` (H, W, 3) in short sentences without numbers.

        `title` and `description` are those of the task.
        """

    def observation(self, scene: Scene, image: NDArray[np.uint8], task: Task) -> Observation | None:
        """Return what the planner is told of an RGB `image` (H, W, 3) in which the detector sees `scene`.

        None where the model only adds remarks to what the detector sees.
        """
        return None
