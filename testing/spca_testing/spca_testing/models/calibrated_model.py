"""A scripted model with fault rates.

Each kind of fault occurs at its own rate, drawn by seed and trial.

It stands in for a language model where there is no network: two of them with different rates are two models
of different quality. `FaultRates.serving` runs it behind a server on loopback, which speaks the real
protocol.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path
from tempfile import TemporaryDirectory

import cv2
import numpy as np
from pydantic import Field

from spca_core.model import Record
from spca_core.plan import Draft
from spca_llm.config import Price
from spca_testing.models.behaviours import Behaviour, Say, say_json
from spca_testing.models.fallible_model import (
    BIG,
    CODER,
    EYES,
    MODELS,
    SMALL,
    FallibleModel,
    configuration,
    drafted,
    written,
)
from spca_testing.models.server import ModelServer, Seen

Share = float


class FaultRates(Record):
    """Shares (0-1) of the requests in which a fault occurs; of `lost`, of the trials."""

    seed: int = 0
    lost: Share = Field(0.0, ge=0, le=1)
    """The trials in which no draft of a plan is ever usable."""
    nonsense: Share = Field(0.0, ge=0, le=1)
    """Prose in place of a draft of a plan."""
    syntax: Share = Field(0.0, ge=0, le=1)
    """A parenthesis is missing in the problem."""
    ghost: Share = Field(0.0, ge=0, le=1)
    """An object that is not there."""
    unsolvable: Share = Field(0.0, ge=0, le=1)
    """A fact of the start is missing, without which there is no plan."""
    code_syntax: Share = Field(0.0, ge=0, le=1)
    """Source that is not Python."""
    code_forbidden: Share = Field(0.0, ge=0, le=1)
    """Source that imports what it may not."""
    code_wrong: Share = Field(0.0, ge=0, le=1)
    """A skill that stops five centimetres above where it should be, and fails in the world."""

    @contextmanager
    def serving(self, trial: str, price: Price | None = None) -> Iterator[Path]:
        """Serve such a model for as long as the context lasts; yield its configuration file."""
        with (
            ModelServer(CalibratedModel(self, trial), models=MODELS) as server,
            TemporaryDirectory() as place,
        ):
            folder = Path(place)
            content = json.loads(configuration(server.base_url))
            if price is not None:
                (folder / "prices.yaml").write_text(
                    json.dumps({m: price.model_dump() for m in (BIG, SMALL, CODER)})
                )
                content["prices"] = "prices.yaml"
            (folder / "llm.yaml").write_text(json.dumps(content))
            yield folder / "llm.yaml"


PLAN_FAULTS = ("nonsense", "syntax", "ghost", "unsolvable")
_SMALLEST_SPOT, _LARGEST_CUBE = 60, 2500  # pixels
CODE_FAULTS = ("code_syntax", "code_forbidden", "code_wrong")


class CalibratedModel:
    """A script for a `ModelServer`: `FallibleModel`, whose answers are good, with faults by their rates."""

    def __init__(self, rates: FaultRates, trial: str) -> None:
        self._rates, self._trial = rates, trial
        self._lost = random.Random(f"{rates.seed}/{trial}/lost").random() < rates.lost
        self._good = FallibleModel(planner=repeat(self._plan_fault), coder=repeat(self._code_fault))
        self._asked = 0

    def __call__(self, seen: Seen) -> Behaviour:
        """The answer to one request."""
        self._asked += 1
        return say_json({"sentences": seen_in(seen)}) if seen.body["model"] == EYES else self._good(seen)

    def _draw(self, kinds: tuple[str, ...]) -> str:
        """The kind of fault of this request, if it has one."""
        chance = random.Random(f"{self._rates.seed}/{self._trial}/{self._asked}").random()
        for kind in kinds:
            chance -= getattr(self._rates, kind)
            if chance < 0:
                return kind
        return ""

    def _plan_fault(self, draft: Draft) -> Behaviour:
        fault = "nonsense" if self._lost else self._draw(PLAN_FAULTS)
        if fault == "nonsense":
            return Say("I would rather talk about something else.", usage=(1000, 20))
        problem = {
            "": draft.problem,
            "syntax": draft.problem.rstrip().removesuffix(")"),
            "ghost": draft.problem.replace("(:objects ", "(:objects cube_golden - cube "),
            "unsolvable": draft.problem.replace("(hand_empty)", ""),
        }[fault]
        return drafted(draft.model_copy(update={"problem": problem}))

    def _code_fault(self, source: str) -> Behaviour:
        fault = self._draw(CODE_FAULTS)
        if fault == "code_syntax":
            source = source.replace("):\n", ")\n", 1)
        elif fault == "code_forbidden":
            source = f"import os\n\n\n{source}"
        elif fault == "code_wrong":
            source = source.replace(
                "pose(tool.x, tool.y, tool.z, tool.yaw)", "pose(tool.x, tool.y, tool.z + 0.05, tool.yaw)"
            )
        return written(source)


def seen_in(seen: Seen) -> list[str]:
    """Return what lies on the table in a request's picture: spots of three colours, large ones plates."""
    url = next(
        part["image_url"]["url"]
        for message in seen.body["messages"]
        if not isinstance(message["content"], str)
        for part in message["content"]
        if part["type"] == "image_url"
    )
    png = np.frombuffer(base64.b64decode(url.partition(",")[2]), np.uint8)
    image = np.asarray(cv2.imdecode(png, cv2.IMREAD_COLOR), int)
    things = []
    for channel, colour in enumerate(("blue", "green", "red")):
        others = np.delete(image, channel, axis=2).max(axis=2)
        coloured = (image[..., channel] > 1.8 * others + 20).astype(np.uint8)
        spots = cv2.connectedComponentsWithStats(coloured)[2]
        for area in sorted(spots[1:, cv2.CC_STAT_AREA]):
            if area >= _SMALLEST_SPOT:
                kind = "plate" if area > _LARGEST_CUBE else "cube"
                things.append(f"{colour} {kind}")
    listed = ", ".join(f"a {thing}" for thing in things)
    return [f"There is {listed}.", *(f"The {t} is on the table." for t in things if t.endswith("cube"))]
